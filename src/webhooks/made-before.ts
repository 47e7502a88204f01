/**
 * Whether a subscription was made before an event, and is told of it: both times are the clock's, and the clock may have been set back
 * between them. A subscription that lies ahead of the clock was made by another one: its time says nothing, also when the clock has come
 * up to it, and it is told of everything. Told of a little too much is better than never told.
 */
export class MadeBefore {
  /** Those that were seen ahead of the clock, by their ids. */
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
