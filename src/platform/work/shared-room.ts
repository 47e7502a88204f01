/**
 * Room for so many at a time, which owners share: where there are several, none takes more once it has as much as is left free beside one for each
 * owner that has nothing. So however long those under way take, some is left for who comes next. One thread only.
 */

/** Of the room, kept for owners that have nothing at most: there may be thousands of them. */
const KEPT_SHARE = 1 / 4;

export class SharedRoom {
  /** Of each owner that may come, how many of its own may. */
  private readonly expected = new Map<string, number>();
  private readonly taken = new Map<string, number>();
  private total = 0;

  constructor(private readonly max: number) {}

  /** Something of this owner may come from now on, until `forget`. */
  expect(owner: string): void {
    this.expected.set(owner, (this.expected.get(owner) ?? 0) + 1);
  }

  forget(owner: string): void {
    lower(this.expected, owner);
  }

  get isFull(): boolean {
    return this.total >= this.max;
  }

  /** Nobody has anything of it, and nobody is expected. */
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

  /** Only where there is room for the owner. */
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
