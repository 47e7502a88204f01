/**
 * How long is waited for what never comes true. Only what the machine gave this process counts: one that stood still for minutes gave
 * what is waited for no time either, and its clock says that all of it has passed.
 */

/** More than that between two looks was the machine's, or the look's own. */
const STEP_MS_MAX = 1000;

export class Patience {
  private leftMs: number;
  private lookedMs = performance.now();

  constructor(patienceMs: number) {
    this.leftMs = patienceMs;
  }

  /** To be asked after each look that found nothing. */
  isOver(): boolean {
    const nowMs = performance.now();
    this.leftMs -= Math.min(nowMs - this.lookedMs, STEP_MS_MAX);
    this.lookedMs = nowMs;
    return this.leftMs <= 0;
  }
}

/** Tells once the patience is over, as a timer would whose clock stands still with the machine. Returns what calls it off. */
export function whenOver(patienceMs: number, tell: () => void): () => void {
  const patience = new Patience(patienceMs);
  const timer = setInterval(() => {
    if (!patience.isOver()) return;
    clearInterval(timer);
    tell();
  }, STEP_MS_MAX);
  return () => clearInterval(timer);
}
