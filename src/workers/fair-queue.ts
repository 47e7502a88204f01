/**
 * A queue that serves its owners in turns, one entry each, so that a thousand entries of one owner delay those of
 * another by one. Entries of one owner keep their order. Main thread only.
 */
export class FairQueue<Entry> {
  /** Entries by owner, in the order of turns; no lane is empty. */
  private readonly lanes = new Map<string, Entry[]>();
  /** The owner served last. It is only first in `lanes` if it was alone then. */
  private latest: string | undefined;
  private count = 0;

  /** `ownerOf` must return the same owner while an entry waits. */
  constructor(private readonly ownerOf: (entry: Entry) => string) {}

  get length(): number {
    return this.count;
  }

  push(entry: Entry): void {
    this.count += 1;
    this.laneOf(entry).push(entry);
  }

  /** Inserts the entry before the owner's first one for which `isBehind` is true. */
  insert(entry: Entry, isBehind: (other: Entry) => boolean): void {
    const lane = this.laneOf(entry);
    this.count += 1;
    const at = lane.findIndex(isBehind);
    lane.splice(at === -1 ? lane.length : at, 0, entry);
  }

  /** Removes and returns up to `max` entries. */
  take(max: number): Entry[] {
    const [first] = this.lanes;
    if (first !== undefined && this.lanes.size === 1 && first[1].length <= max) {
      // Mostly there is one owner, all of whose entries fit: its lane is taken without copying it.
      const [owner, lane] = first;
      this.lanes.delete(owner);
      this.count = 0;
      this.latest = owner;
      return lane;
    }
    // This owner has just been served, at a time when no other owner waited.
    if (first !== undefined && first[0] === this.latest) this.putBehind(first[0]);
    const taken: Entry[] = [];
    // One iterator for all, which continues with lanes that are put behind: a new one would step over thousands of
    // deleted ones.
    for (const [owner, lane] of this.lanes) {
      if (taken.length >= max) break;
      taken.push(...lane.splice(0, 1));
      this.count -= 1;
      this.latest = owner;
      if (lane.length === 0) this.lanes.delete(owner);
      else this.putBehind(owner);
    }
    return taken;
  }

  /** Makes these owners the next, in this order: they were taken, but did not have their turn. */
  putFirst(owners: Iterable<string>): void {
    const others = new Map(this.lanes);
    this.lanes.clear();
    for (const owner of owners) {
      const lane = others.get(owner);
      if (lane !== undefined) this.lanes.set(owner, lane);
    }
    // Those that are there stay where they are.
    for (const [owner, lane] of others) this.lanes.set(owner, lane);
    this.latest = undefined;
  }

  /** Yields the number of entries per owner. */
  *counts(): Generator<readonly [owner: string, count: number]> {
    for (const [owner, { length }] of this.lanes) yield [owner, length];
  }

  /** Returns the last entry of this owner. */
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
