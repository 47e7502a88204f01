/**
 * Reading what strangers sent takes the thread of all feeds as long as they like to make it: it is done in slices, and between two the other feeds
 * have their turn. One belongs to one reading.
 */
import { setImmediate } from 'node:timers/promises';

/** What waits meanwhile is answers of other sources, not somebody's search. */
const SLICE_MS = 25;

export class Slices {
  private endsMs = performance.now() + SLICE_MS;

  constructor(private readonly signal?: AbortSignal) {}

  /** Asked wherever a piece of bounded size is done: true where `next` is to be awaited. */
  get areOver(): boolean {
    return performance.now() >= this.endsMs;
  }

  /** Lets the others go on. Rejects with the reason of the signal. */
  async next(): Promise<void> {
    await setImmediate();
    this.signal?.throwIfAborted();
    this.endsMs = performance.now() + SLICE_MS;
  }

  /** The others have their turn if it is theirs. */
  async pause(): Promise<void> {
    if (this.areOver) await this.next();
  }
}
