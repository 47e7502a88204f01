/**
 * What waits, by whose it is: who waits are served in turns, one each, so that a thousand of one keep somebody else's waiting for one of them. What
 * one has comes in its order. Main thread only.
 */
export class FairQueue<Entry> {
  /** In the order of their turns; none is empty. */
  private readonly lanes = new Map<string, Entry[]>();
  /** Who was served last. First it is only where it was alone. */
  private latest: string | undefined;
  private count = 0;

  /** `ownerOf`: has to stay the same while the entry waits. */
  constructor(private readonly ownerOf: (entry: Entry) => string) {}

  get length(): number {
    return this.count;
  }

  push(entry: Entry): void {
    this.count += 1;
    this.laneOf(entry).push(entry);
  }

  /** Before the first of the same owner of which `isBehind` is true. */
  insert(entry: Entry, isBehind: (other: Entry) => boolean): void {
    const lane = this.laneOf(entry);
    this.count += 1;
    const at = lane.findIndex(isBehind);
    lane.splice(at === -1 ? lane.length : at, 0, entry);
  }

  /** As many as there are, `max` at most. */
  take(max: number): Entry[] {
    const taken: Entry[] = [];
    // One for all of them, which goes on with those that are put behind: it steps over what was deleted before it, of which there may be thousands.
    for (const [owner, lane] of this.lanes) {
      if (taken.length >= max) break;
      if (taken.length === 0 && owner === this.latest && this.lanes.size > 1) {
        // It was alone when it was served last.
        this.latest = undefined;
        this.putBehind(owner);
        continue;
      }
      // Who is alone has no turns to wait for.
      const isAlone = this.lanes.size === 1;
      const entries = lane.splice(0, isAlone ? max - taken.length : 1);
      taken.push(...entries);
      this.count -= entries.length;
      this.latest = owner;
      if (lane.length === 0) this.lanes.delete(owner);
      else if (!isAlone) this.putBehind(owner);
    }
    return taken;
  }

  /** These are the next, in this order: they were taken, and have not had their turn. */
  putFirst(owners: Iterable<string>): void {
    const others = new Map(this.lanes);
    this.lanes.clear();
    for (const owner of owners) {
      const lane = others.get(owner);
      if (lane === undefined) continue;
      this.lanes.set(owner, lane);
      others.delete(owner);
    }
    for (const [owner, lane] of others) this.lanes.set(owner, lane);
    this.latest = undefined;
  }

  /** Whose how many are. */
  *counts(): Generator<readonly [owner: string, count: number]> {
    for (const [owner, { length }] of this.lanes) yield [owner, length];
  }

  /** The one that came last of this owner. */
  lastOf(owner: string): Entry | undefined {
    return this.lanes.get(owner)?.at(-1);
  }

  remove(entry: Entry): void {
    const owner = this.ownerOf(entry);
    const lane = this.lanes.get(owner);
    const at = lane?.indexOf(entry) ?? -1;
    if (lane === undefined || at === -1) return;
    lane.splice(at, 1);
    this.count -= 1;
    if (lane.length === 0) this.lanes.delete(owner);
  }

  private putBehind(owner: string): void {
    const lane = this.lanes.get(owner);
    if (lane === undefined) return;
    this.lanes.delete(owner);
    this.lanes.set(owner, lane);
  }

  private laneOf(entry: Entry): Entry[] {
    const owner = this.ownerOf(entry);
    let lane = this.lanes.get(owner);
    if (lane === undefined) this.lanes.set(owner, (lane = []));
    return lane;
  }

  *[Symbol.iterator](): Generator<Entry> {
    for (const lane of this.lanes.values()) yield* lane;
  }
}
