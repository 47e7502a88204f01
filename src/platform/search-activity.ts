/**
 * Whether searches are at work, told to threads whose work can wait: they give way for moments, so that a search does not share its
 * processor with them (docs/decisions/0197).
 */
import { setTimeout as wait } from 'node:timers/promises';

/** How long a piece of work is put off at most: however busy searches are, 40 pieces a second go on. */
export const GIVE_WAY_MS_MAX = 25;
const LOOK_AGAIN_MS = 1;

/** Written by the thread that hands searches out, read by others. */
export class SearchActivity {
  /** One 32-bit integer: batches of searches that threads have in hand. */
  readonly shared = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  private readonly batches = new Int32Array(this.shared);

  begin(): void {
    Atomics.add(this.batches, 0, 1);
  }

  end(): void {
    Atomics.sub(this.batches, 0, 1);
  }
}

/** Of a thread whose work can wait. */
export class GiveWay {
  private readonly batches: Int32Array;
  private last: Promise<void> = Promise.resolve();

  /** `shared`: that of the `SearchActivity`. */
  constructor(
    shared: SharedArrayBuffer,
    private readonly msMax = GIVE_WAY_MS_MAX,
  ) {
    this.batches = new Int32Array(shared);
  }

  /** Resolves when no search is at work, `msMax` after its turn came at the latest. Those who wait take turns. */
  wait(): Promise<void> {
    this.last = this.last.then(() => this.untilFree());
    return this.last;
  }

  private async untilFree(): Promise<void> {
    const lastMs = performance.now() + this.msMax;
    while (Atomics.load(this.batches, 0) > 0 && performance.now() < lastMs) await wait(LOOK_AGAIN_MS);
  }
}
