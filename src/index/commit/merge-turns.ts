/**
 * Who may ask for a merge: as many as keep the thread that merges busy. The lists that wait for their turn have nothing under way and can
 * be closed meanwhile. Main thread only.
 */
const MERGES_ASKED_MAX = 4;

class Turns {
  private asked = 0;
  private readonly waiting = new Set<() => void>();

  constructor(private readonly askedMax: number) {}

  /** False where others are before: `again` is called when one of them has ended. */
  take(again: () => void): boolean {
    this.waiting.delete(again);
    if (this.asked >= this.askedMax) {
      this.waiting.add(again);
      return false;
    }
    this.asked += 1;
    return true;
  }

  /** After the merge for which a turn was taken. */
  ended(): void {
    this.asked -= 1;
    for (const next of this.waiting) {
      // One that has nothing to merge any more takes no turn.
      if (this.asked >= this.askedMax) return;
      this.waiting.delete(next);
      next();
    }
  }

  /** It does not want to merge any more. */
  leave(again: () => void): void {
    this.waiting.delete(again);
  }
}

export class MergeTurns extends Turns {
  /** Of those that merge graphs of vectors because nothing is written: one at a time, since each takes minutes of a processor, and much memory. */
  readonly ofQuiet = new Turns(1);

  constructor() {
    super(MERGES_ASKED_MAX);
  }
}
