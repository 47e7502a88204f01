/**
 * Time limit for something that may never happen. Only counts time in which the machine ran this process: after
 * standing still for minutes, the clock would say that all of it has passed.
 */

/** A longer time between two checks was the machine's, or the check's own. */
const STEP_MS_MAX = 1000;

export class Patience {
  private leftMs: number;
  private lookedMs = performance.now();

  constructor(patienceMs: number) {
    this.leftMs = patienceMs;
  }

  /** Call after each unsuccessful check. */
  isOver(): boolean {
    const nowMs = performance.now();
    this.leftMs -= Math.min(nowMs - this.lookedMs, STEP_MS_MAX);
    this.lookedMs = nowMs;
    return this.leftMs <= 0;
  }
}

/**
 * Calls `tell` when the limit is reached, like a timer whose clock stops with the machine. Returns a function that
 * cancels it.
 */
export function whenOver(patienceMs: number, tell: () => void): () => void {
  const patience = new Patience(patienceMs);
  const timer = setInterval(() => {
    if (!patience.isOver()) return;
    clearInterval(timer);
    tell();
  }, STEP_MS_MAX);
  return () => clearInterval(timer);
}
