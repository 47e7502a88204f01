/**
 * Answers that are read more slowly than they were built. Each may take its time as long as there is room for other
 * answers. If there is none, the connections that have held an answer longest are ended. Main thread only.
 */
import type { ByteBudget } from '../platform/index.js';

/** No reader is ended before this time. */
const UNHURRIED_MS = 30_000;

export interface SlowReader {
  readonly sinceMs: number;
  /** Ends the connection. */
  readonly end: () => void;
}

export class SlowReaders {
  /** Connections in the order in which their answers began. */
  private readonly readers = new Set<SlowReader>();

  constructor(
    answers: ByteBudget,
    private readonly now: () => number = () => performance.now(),
  ) {
    answers.onShort = () => {
      this.endOldest();
    };
  }

  /** Adds a reader; `end` may be called until `sent` settles. */
  add(sent: Promise<void>, end: () => void): void {
    const reader: SlowReader = { sinceMs: this.now(), end };
    this.readers.add(reader);
    void sent.then(() => this.readers.delete(reader));
  }

  private endOldest(): void {
    const hurriedMs = this.now() - UNHURRIED_MS;
    for (const reader of this.readers) {
      if (reader.sinceMs > hurriedMs) return;
      this.readers.delete(reader);
      reader.end();
    }
  }
}
