/** Something that takes the main thread time to make, and that anybody may ask for as often as they like. Main thread only. */
import { setTimeout } from 'node:timers/promises';

/** Between two there is a pause of so many times what the one before took. */
const PAUSE_TIMES = 9;
const PAUSE_MS_MAX = 1000;

/**
 * Who asks while one is being made, or while it rests, shares the next one with all others who do: it takes a tenth of the time however many ask, and each
 * is told what was so when they asked, or later.
 */
export class PacedReading<Value> {
  #waiting: Promise<Value> | undefined;
  #running: Promise<Value> | undefined;
  #restsUntilMs = 0;

  /** `read` may reject: then all who share it are told so. */
  constructor(private readonly read: () => Promise<Value>) {}

  get(): Promise<Value> {
    this.#waiting ??= this.#next();
    return this.#waiting;
  }

  async #next(): Promise<Value> {
    await Promise.allSettled([this.#running]);
    const restMs = this.#restsUntilMs - performance.now();
    if (restMs > 0) await setTimeout(restMs);
    // Who asks from now on may want what is not in it any more.
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
