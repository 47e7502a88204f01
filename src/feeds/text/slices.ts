/**
 * Input from unknown sources could occupy the thread of all feeds for as long as its author likes. It is therefore read
 * in slices, between which the other feeds have their turn. Each reading has its own object of this class.
 */
import { setImmediate } from 'node:timers/promises';

/** Only answers of other sources wait meanwhile, not searches. */
const SLICE_MS = 25;

export class Slices {
  private endsMs = performance.now() + SLICE_MS;

  constructor(private readonly signal?: AbortSignal) {}

  /** True if `next` is to be awaited. Checked after each piece of limited size. */
  get areOver(): boolean {
    return performance.now() >= this.endsMs;
  }

  /** Lets other work go on. Rejects with the reason of the signal. */
  async next(): Promise<void> {
    await setImmediate();
    this.signal?.throwIfAborted();
    this.endsMs = performance.now() + SLICE_MS;
  }

  /** Lets other work go on if the slice is over. */
  async pause(): Promise<void> {
    if (this.areOver) await this.next();
  }
}
