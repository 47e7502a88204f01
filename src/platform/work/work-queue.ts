/**
 * Work that a change leaves behind, on disk until it is done. Databases of one kind of work in an LMDB environment,
 * which may be its own (webhooks) or that of the records that the work is about.
 *
 *   items       [lane, number] → the item; from `put` until it is done
 *   schedule    [lane, due ms, number] → [failed attempts so far, subject]; exactly those items that will be attempted
 *   set aside   [lane, number] → the failure; exactly those that will not, until they are replayed
 *   meta        'next-number' → number of the next item
 *
 * `put`, `settle` and `withdraw` are called inside a transaction of the environment: that of the change, or of the
 * result. `replay` and `forget` run their own transactions and resolve when all is on disk. Reads see the last commit.
 */
import type { Database } from 'lmdb';
import type { LmdbEnvironment } from '../lmdb-environment.js';
import { NewestWork } from './newest-work.js';
import { WorkCounts, type WorkFigures } from './work-counts.js';
import type { NewWork, ScheduledWork, Settlement, WorkKind, WorkTypes } from './work-kind.js';
import type { WorkPlace, WorkState } from './work-state.js';

type ItemKey = [lane: string, number: number];
type ScheduleKey = [lane: string, dueMs: number, number: number];

/** Above every number and time, for ends of ranges. */
const END = Number.MAX_SAFE_INTEGER;
/** Maximum number of items that one transaction removes or replays. */
const CHUNK = 2000;
const NEXT_NUMBER = 'next-number';

export interface DueRange {
  /** Undefined: from the beginning. */
  readonly behind: Pick<ScheduledWork, 'dueMs' | 'number'> | undefined;
  readonly nowMs: number;
  readonly count: number;
}

export interface SetAsideWork<Failure> {
  readonly number: number;
  readonly failure: Failure;
}

export class WorkQueue<T extends WorkTypes> {
  private readonly items: Database<unknown, ItemKey>;
  private readonly schedule: Database<[attempts: number, subject: string], ScheduleKey>;
  private readonly setAside: Database<T['failure'], ItemKey>;
  private readonly meta: Database<number, string>;
  private readonly newest: NewestWork | undefined;
  private readonly counts: WorkCounts | undefined;

  constructor(
    private readonly environment: LmdbEnvironment,
    private readonly kind: WorkKind<T>,
  ) {
    const { databases, keeping } = kind;
    this.items = environment.database(databases.items);
    this.schedule = environment.database(databases.schedule);
    this.setAside = environment.database(databases.setAside);
    this.meta = environment.database(databases.meta);
    if (keeping.kind === 'every') return;
    this.newest = new NewestWork(environment.database(keeping.databases.subjects));
    this.counts = new WorkCounts(environment.database(keeping.databases.counts));
  }

  // ---- inside a transaction

  put(work: readonly NewWork<T['item']>[], dueMs: number): void {
    // Read each time, since the writing thread may change.
    let number = this.meta.get(NEXT_NUMBER) ?? 1;
    for (const { lane, item } of work) {
      const subject = this.kind.subjectOf(item);
      this.withdraw(lane, subject);
      void this.items.putSync([lane, number], this.kind.encode(item));
      void this.schedule.putSync([lane, dueMs, number], [0, subject]);
      this.changed({ lane, number, subject }, undefined, { kind: 'waiting', dueMs });
      number += 1;
    }
    void this.meta.putSync(NEXT_NUMBER, number);
  }

  /** Removes the item of a subject, whether it waits or is set aside. Only for kinds that keep the newest. */
  withdraw(lane: string, subject: string): void {
    const found = this.newest?.find(lane, subject);
    if (found === undefined) return;
    const { number, dueMs } = found;
    const before = this.stateOf([lane, number], dueMs);
    if (dueMs === null) this.setAside.removeSync([lane, number]);
    else this.schedule.removeSync([lane, dueMs, number]);
    this.items.removeSync([lane, number]);
    this.changed({ lane, number, subject }, before, undefined);
  }

  /**
   * Applies outcomes and returns those applied: what was superseded or removed meanwhile stays so, and its outcome is
   * dropped.
   */
  settle(settlements: readonly Settlement<T>[]): Settlement<T>[] {
    return settlements.filter((settlement) => this.settleOne(settlement));
  }

  /** True if `settle` would apply the outcome. Only valid for the only writer. */
  holds({ scheduled: { lane, dueMs, number } }: Settlement<T>): boolean {
    return this.schedule.get([lane, dueMs, number]) !== undefined;
  }

  private settleOne({ scheduled, next }: Settlement<T>): boolean {
    const { lane, dueMs, number, subject } = scheduled;
    if (!this.schedule.removeSync([lane, dueMs, number])) return false;
    const place = { lane, number, subject };
    const before = { kind: 'waiting', dueMs } as const;
    if (next.kind === 'done') {
      this.items.removeSync([lane, number]);
      this.changed(place, before, undefined);
    } else if (next.kind === 'set-aside') {
      void this.setAside.putSync([lane, number], next.failure);
      this.changed(place, before, this.stateOf([lane, number], null));
    } else {
      void this.schedule.putSync([lane, next.dueMs, number], [next.attempts, subject]);
      this.changed(place, before, { kind: 'waiting', dueMs: next.dueMs });
    }
    return true;
  }

  private changed(place: WorkPlace, before: WorkState | undefined, after: WorkState | undefined): void {
    this.newest?.changed(place, after);
    this.counts?.changed(place.lane, before, after);
  }

  private stateOf(key: ItemKey, dueMs: number | null): WorkState {
    if (dueMs !== null) return { kind: 'waiting', dueMs };
    const { keeping } = this.kind;
    const failure = this.setAside.get(key);
    return { kind: 'set-aside', reason: keeping.kind === 'newest' ? keeping.reasonOf(failure) : '' };
  }

  // ---- reading

  /** Returns at most `count` entries that are due by `nowMs`, after `behind` in the lane's schedule. */
  due(lane: string, { behind, nowMs, count }: DueRange): ScheduledWork[] {
    // What was just settled must not be read again.
    this.environment.root.resetReadTxn();
    const start: ScheduleKey = [lane, behind?.dueMs ?? 0, behind === undefined ? 0 : behind.number + 1];
    const range = this.schedule.getRange({ start, end: [lane, nowMs + 1, 0], limit: count });
    return Array.from(range, ({ key: [, dueMs, number], value: [attempts, subject] }) => {
      return { lane, dueMs, number, attempts, subject };
    });
  }

  /** Returns at most `count` entries that wait for a time after `afterMs`, from `behind` on. */
  dueBehind(lane: string, afterMs: number, { behind, count }: Pick<DueRange, 'behind' | 'count'>): ScheduledWork[] {
    const from = behind ?? { dueMs: afterMs, number: END };
    return this.due(lane, { behind: from, nowMs: END - 1, count });
  }

  /** Returns the due time of the first item due after `afterMs`; undefined if there is none. */
  nextDueMs(lane: string, afterMs: number): number | undefined {
    const range = { start: [lane, afterMs + 1, 0] as ScheduleKey, end: [lane, END, END] as ScheduleKey, limit: 1 };
    for (const [, dueMs] of this.schedule.getKeys(range)) return dueMs;
    return undefined;
  }

  /** Returns the item; undefined if it was done, removed or superseded. */
  item(lane: string, number: number): T['item'] | undefined {
    const stored = this.items.get([lane, number]);
    return stored === undefined ? undefined : this.kind.decode(stored);
  }

  /** Returns the items set aside with numbers after `afterNumber`, in order. */
  setAsidePage(lane: string, afterNumber: number, size: number): SetAsideWork<T['failure']>[] {
    const range = this.setAside.getRange({ start: [lane, afterNumber + 1], end: [lane, END], limit: size });
    return Array.from(range, ({ key, value }) => ({ number: key[1], failure: value }));
  }

  setAsideCount(lane: string): number {
    return this.setAside.getKeysCount({ start: [lane, 0], end: [lane, END] });
  }

  /** Returns exact counts. Only for kinds that keep the newest. */
  figures(lane: string): WorkFigures {
    if (this.counts === undefined) throw new Error('work of this kind is not counted');
    this.environment.root.resetReadTxn();
    return this.counts.of(lane);
  }

  /** Number of items of all lanes that wait, are in progress or set aside. */
  get size(): number {
    return (this.items.getStats() as { readonly entryCount: number }).entryCount;
  }

  /** True if the lane has an item. */
  has(lane: string): boolean {
    return [...this.items.getKeys({ start: [lane, 0], end: [lane, END], limit: 1 })].length > 0;
  }

  // ---- transactions of its own

  /** Makes matching items that were set aside due again, with no attempts counted. Resolves with their number. */
  async replay(lane: string, matches: (failure: T['failure']) => boolean, nowMs: number): Promise<number> {
    let replayed = 0;
    for (let after: number | undefined = 0; after !== undefined;) {
      const behind: number = after;
      const some = await this.environment.transaction(() => this.replaySome(lane, { behind, matches, nowMs }));
      replayed += some.replayed;
      after = some.after;
    }
    return replayed;
  }

  /**
   * As `replay` inside a transaction, for a bounded number of items after `behind`. `after` is undefined if there are
   * no more.
   */
  replaySome(
    lane: string,
    { behind, matches, nowMs }: { behind: number; matches: (failure: T['failure']) => boolean; nowMs: number },
  ): { readonly replayed: number; readonly after: number | undefined } {
    const page = this.setAsidePage(lane, behind, CHUNK);
    const chosen = page.filter(({ failure }) => matches(failure));
    const replayed = chosen.filter(({ number }) => this.replayOne(lane, number, nowMs)).length;
    return { replayed, after: page.at(-1)?.number };
  }

  private replayOne(lane: string, number: number, dueMs: number): boolean {
    const before = this.stateOf([lane, number], null);
    if (!this.setAside.removeSync([lane, number])) return false;
    const stored = this.items.get([lane, number]);
    if (stored === undefined) {
      // In an inconsistent queue. A lane would find it in the schedule for ever, with nothing to attempt.
      this.counts?.changed(lane, before, undefined);
      return false;
    }
    const subject = this.kind.subjectOf(this.kind.decode(stored));
    void this.schedule.putSync([lane, dueMs, number], [0, subject]);
    this.changed({ lane, number, subject }, before, { kind: 'waiting', dueMs });
    return true;
  }

  /** Removes everything of a lane that is gone. */
  async forget(lane: string): Promise<void> {
    if (this.newest !== undefined) {
      await this.inChunks(() => this.forgetSome(lane));
      return;
    }
    // In this order, since a replay meanwhile may move items from the ones set aside to the schedule.
    for (const database of [this.setAside, this.schedule, this.items] as Database<unknown, ItemKey>[]) {
      await this.inChunks(() => removeSome(database, lane));
    }
  }

  /**
   * Removes some of a lane's items inside a transaction; to be called until it returns 0. Only for kinds that keep the
   * newest.
   */
  forgetSome(lane: string): number {
    const items = Array.from(this.items.getRange({ start: [lane, 0], end: [lane, END], limit: CHUNK }));
    for (const { key, value } of items) {
      this.withdraw(lane, this.kind.subjectOf(this.kind.decode(value)));
      // Removed regardless of the other databases, so that this terminates.
      this.items.removeSync(key);
    }
    return items.length;
  }

  /** Repeats `some`, which removes a part inside a transaction and returns how many it found, until that is 0. */
  private async inChunks(some: () => number): Promise<void> {
    while ((await this.environment.transaction(some)) > 0);
  }
}

function removeSome(database: Database<unknown, ItemKey>, lane: string): number {
  const keys = Array.from(database.getKeys({ start: [lane, 0], end: [lane, END], limit: CHUNK }));
  for (const key of keys) database.removeSync(key);
  return keys.length;
}
