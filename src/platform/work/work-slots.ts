/**
 * How many attempts may be under way: at one receiver, and at all together. Whoever finds no slot is called when there may be one, in turn, so
 * that none is forgotten; and no more of them than there are slots: of ten thousand who wait, a slot that comes free calls one. One thread only.
 */
type OnFree = () => void;

export class WorkSlots {
  private readonly taken = new Map<string, number>();
  /** Those whose receiver has no slot, by the receiver. */
  private readonly waiting = new Map<string, Set<OnFree>>();
  /**
   * Those who wait for any slot at all, with the receiver for which they came into line. Whoever is in line stays so: its receiver may be
   * another one by now, but the next of that one comes into line behind it.
   */
  private readonly inLine = new Map<OnFree, string>();
  private total = 0;

  constructor(
    private readonly perReceiverMax: number,
    private readonly totalMax: number,
  ) {}

  /** True with a slot, which `release` gives back; false where there is none, and `onFree`, where it is given, is called once there may be. */
  take(receiver: string, onFree: OnFree | undefined): boolean {
    const isReceiverFree = this.hasRoom(receiver);
    if (isReceiverFree && this.total < this.totalMax) {
      this.taken.set(receiver, (this.taken.get(receiver) ?? 0) + 1);
      this.total += 1;
      return true;
    }
    if (onFree === undefined) return false;
    if (!isReceiverFree) this.waiting.set(receiver, (this.waiting.get(receiver) ?? new Set()).add(onFree));
    else if (!this.inLine.has(onFree)) this.inLine.set(onFree, receiver);
    return false;
  }

  release(receiver: string): void {
    const left = (this.taken.get(receiver) ?? 1) - 1;
    if (left > 0) this.taken.set(receiver, left);
    else this.taken.delete(receiver);
    this.total -= 1;
    this.lineUpNext(receiver);
    while (this.total < this.totalMax) {
      const [next] = this.inLine;
      if (next === undefined) return;
      const [onFree, its] = next;
      this.inLine.delete(onFree);
      onFree();
      // It may have had nothing to do any more.
      this.lineUpNext(its);
    }
  }

  /** Whoever has waited longest for a slot of the receiver now waits for any, where the receiver has one. */
  private lineUpNext(receiver: string): void {
    const waiting = this.hasRoom(receiver) ? this.waiting.get(receiver) : undefined;
    for (const first of waiting ?? []) {
      waiting?.delete(first);
      if (waiting?.size === 0) this.waiting.delete(receiver);
      // One who is in line for another receiver is called as it is, but brings nobody of this one behind it.
      if (!this.inLine.has(first)) this.inLine.set(first, receiver);
      if (this.inLine.get(first) === receiver) return;
    }
  }

  private hasRoom(receiver: string): boolean {
    return (this.taken.get(receiver) ?? 0) < this.perReceiverMax;
  }
}
