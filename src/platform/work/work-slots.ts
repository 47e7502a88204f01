/**
 * How many attempts may be under way: at one receiver, and at all together. Whoever finds no slot is called when one of its
 * receiver, or the last one of all, comes free; in turn, so that none is forgotten. One thread only.
 */
export class WorkSlots {
  private readonly taken = new Map<string, number>();
  private readonly waiting = new Map<string, Set<() => void>>();
  private total = 0;

  constructor(
    private readonly perReceiverMax: number,
    private readonly totalMax: number,
  ) {}

  /** True with a slot, which `release` gives back; false where there is none, and `onFree`, where it is given, is called once there may be. */
  take(receiver: string, onFree: (() => void) | undefined): boolean {
    const taken = this.taken.get(receiver) ?? 0;
    if (taken >= this.perReceiverMax || this.total >= this.totalMax) {
      if (onFree === undefined) return false;
      const waiting = this.waiting.get(receiver) ?? new Set();
      this.waiting.set(receiver, waiting.add(onFree));
      return false;
    }
    this.taken.set(receiver, taken + 1);
    this.total += 1;
    return true;
  }

  release(receiver: string): void {
    const wasFull = this.total >= this.totalMax;
    const left = (this.taken.get(receiver) ?? 1) - 1;
    if (left > 0) this.taken.set(receiver, left);
    else this.taken.delete(receiver);
    this.total -= 1;
    // Where all slots were taken, others wait for this one too; in turn, so that none is forgotten.
    const receivers = wasFull ? [...this.waiting.keys()] : [receiver];
    for (const each of receivers) {
      const callbacks = this.waiting.get(each);
      if (callbacks === undefined) continue;
      this.waiting.delete(each);
      for (const callback of callbacks) callback();
    }
  }
}
