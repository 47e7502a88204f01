/**
 * A limited number of places that owners share. With several owners, none may take another place once it has as many as
 * would remain free after reserving one for each owner without any. So however long the current work takes, newcomers
 * find some places. One thread only.
 */

/** Largest share of the places reserved for owners that have none, since there may be thousands of them. */
const KEPT_SHARE = 1 / 4;

export class SharedRoom {
  /** Number of expected users by owner. */
  private readonly expected = new Map<string, number>();
  private readonly taken = new Map<string, number>();
  private total = 0;

  constructor(private readonly max: number) {}

  /** Work of this owner may come from now on, until `forget`. */
  expect(owner: string): void {
    this.expected.set(owner, (this.expected.get(owner) ?? 0) + 1);
  }

  forget(owner: string): void {
    lower(this.expected, owner);
  }

  get isFull(): boolean {
    return this.total >= this.max;
  }

  /** True if no place is taken and nobody is expected. */
  get isUnused(): boolean {
    return this.total === 0 && this.expected.size === 0;
  }

  takenBy(owner: string): number {
    return this.taken.get(owner) ?? 0;
  }

  hasRoomFor(owner: string): boolean {
    if (this.isFull) return false;
    const own = this.takenBy(owner);
    if (own === 0 || this.expected.size < 2) return true;
    const withNothing = Math.max(0, this.expected.size - this.taken.size);
    const kept = Math.min(withNothing, Math.floor(this.max * KEPT_SHARE));
    return own < this.max - this.total - kept;
  }

  /** Takes a place; only if there is room for the owner. */
  take(owner: string): void {
    this.taken.set(owner, this.takenBy(owner) + 1);
    this.total += 1;
  }

  release(owner: string): void {
    lower(this.taken, owner);
    this.total -= 1;
  }
}

function lower(counts: Map<string, number>, owner: string): void {
  const left = (counts.get(owner) ?? 1) - 1;
  if (left > 0) counts.set(owner, left);
  else counts.delete(owner);
}
