/** A clock that jumps from one timer to the next. */
import type { Timers } from '../../src/platform/work/index.js';

interface Timer {
  readonly atMs: number;
  readonly action: () => void;
}

/** Time passes only on command. */
export class SimulatedTimers implements Timers {
  #nowMs = Date.UTC(2026, 10, 21);
  #timers = new Set<Timer>();

  nowMs(): number {
    return this.#nowMs;
  }

  /** Number of timers that have not fired. */
  get waiting(): number {
    return this.#timers.size;
  }

  after(ms: number, action: () => void): () => void {
    const timer = { atMs: this.#nowMs + ms, action };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Jumps from timer to timer until so much time has passed. Before each jump, `settled` lets pending work finish. */
  async pass(ms: number, settled: () => Promise<void>): Promise<void> {
    const endMs = this.#nowMs + ms;
    for (;;) {
      await settled();
      const [next] = [...this.#timers].sort((a, b) => a.atMs - b.atMs);
      if (next === undefined || next.atMs > endMs) break;
      this.#timers.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.action();
    }
    this.#nowMs = endMs;
  }
}
