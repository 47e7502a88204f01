/**
 * Limits how often something is computed that takes the main thread time and that anybody may request. Main thread
 * only.
 */
import { setTimeout } from 'node:timers/promises';

/** Pause between two readings, as a multiple of the duration of the previous one. */
const PAUSE_TIMES = 9;
const PAUSE_MS_MAX = 1000;

/**
 * Callers that ask while a reading is in progress, or during the pause after it, share the next one. So reading takes
 * at most about a tenth of the time, however many ask, and each caller gets a value that is no older than its request.
 */
export class PacedReading<Value> {
  #waiting: Promise<Value> | undefined;
  #running: Promise<Value> | undefined;
  #restsUntilMs = 0;

  /** If `read` rejects, all callers that share the reading get that error. */
  constructor(private readonly read: () => Promise<Value>) {}

  get(): Promise<Value> {
    this.#waiting ??= this.#next();
    return this.#waiting;
  }

  async #next(): Promise<Value> {
    await Promise.allSettled([this.#running]);
    const restMs = this.#restsUntilMs - performance.now();
    if (restMs > 0) await setTimeout(restMs);
    // Later callers must not share this reading, which may lack what they want.
    this.#waiting = undefined;
    this.#running = this.#timed();
    return this.#running;
  }

  async #timed(): Promise<Value> {
    const beganMs = performance.now();
    try {
      return await this.read();
    } finally {
      const endedMs = performance.now();
      this.#restsUntilMs = endedMs + Math.min(PAUSE_MS_MAX, PAUSE_TIMES * (endedMs - beganMs));
    }
  }
}
