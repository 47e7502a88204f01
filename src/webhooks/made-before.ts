/**
 * Decides whether a subscription was created before an event, and gets it. Both times come from the clock, which may
 * have been set back between them. A subscription from the future was created by another clock: its time says nothing,
 * even once the clock has reached it, and it gets every event. A few events too many are better than none.
 */
export class MadeBefore {
  /** Ids of subscriptions that were seen in the future. */
  private readonly ahead = new Set<string>();

  /** `nowMs`: when the event is moved. */
  isTold(
    { id, created_utc }: { readonly id: string; readonly created_utc: string },
    atMs: number,
    nowMs: number,
  ): boolean {
    const madeMs = Date.parse(created_utc);
    if (madeMs <= atMs) return true;
    if (madeMs > nowMs) this.ahead.add(id);
    return this.ahead.has(id);
  }

  forget(id: string): void {
    this.ahead.delete(id);
  }
}
