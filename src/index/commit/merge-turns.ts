/**
 * Limits the number of lists that request a merge, to as many as keep the merging thread busy. Lists that wait for a
 * turn have nothing in progress and can be closed meanwhile. Main thread only.
 */
const MERGES_ASKED_MAX = 4;

class Turns {
  private asked = 0;
  private readonly waiting = new Set<() => void>();

  constructor(private readonly askedMax: number) {}

  /** Returns false if too many turns are taken; `again` is called when one of them has ended. */
  take(again: () => void): boolean {
    this.waiting.delete(again);
    if (this.asked >= this.askedMax) {
      this.waiting.add(again);
      return false;
    }
    this.asked += 1;
    return true;
  }

  /** Gives back a turn after its merge. */
  ended(): void {
    this.asked -= 1;
    for (const next of this.waiting) {
      // A list that has nothing left to merge does not take its turn, so the next one is called, too.
      if (this.asked >= this.askedMax) return;
      this.waiting.delete(next);
      next();
    }
  }

  /** Removes a list from the waiting ones because it no longer wants to merge. */
  leave(again: () => void): void {
    this.waiting.delete(again);
  }
}

export class MergeTurns extends Turns {
  /**
   * Turns of merges that build graphs of vectors while nothing is written: one at a time, because each takes minutes of
   * processor time and much memory.
   */
  readonly ofQuiet = new Turns(1);

  constructor() {
    super(MERGES_ASKED_MAX);
  }
}
