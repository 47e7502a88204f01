/**
 * What waits, by whose it is: who waits are served in turns, one each, so that a thousand of one keep somebody else's waiting for one of them. What
 * one has comes in its order. Main thread only.
 */
export class FairQueue<Entry> {
  /** In the order of their turns; none is empty. */
  private readonly lanes = new Map<string, Entry[]>();
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
    while (taken.length < max) {
      const first = this.lanes.entries().next();
      if (first.done === true) break;
      const [owner, lane] = first.value;
      // Who is alone has no turns to wait for.
      const isAlone = this.lanes.size === 1;
      const entries = lane.splice(0, isAlone ? max - taken.length : 1);
      taken.push(...entries);
      this.count -= entries.length;
      if (lane.length === 0) {
        this.lanes.delete(owner);
      } else if (!isAlone) {
        this.lanes.delete(owner);
        this.lanes.set(owner, lane);
      }
    }
    return taken;
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
