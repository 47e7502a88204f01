/**
 * The work of the analytics worker: appends events, rolls them up, answers reports, deletes what belongs to deleted
 * lists and groups.
 *
 * Tasks that write run one after the other, in order; a report does not wait for them, since it reads one committed
 * state. Belongs to one thread, the only one that opens `data/analytics/events`.
 */
import { setImmediate } from 'node:timers/promises';
import { asStorageError, isStorageError } from '../platform/index.js';
import { AnalyticsStore, type TargetRow } from './analytics-store.js';
import { countBlocks, joinEarlierSearches } from './block-counting.js';
import { learnedFile, removeLearned, writeLearned } from './learned-file.js';
import { LEARNED_DAYS, learnFrom } from './learning.js';
import { DAY_MS, HOURS_PER_DAY } from './report-range.js';
import { ReportBuilder, type ReportFigures } from './report.js';
import { closeDays, readReport } from './store-reading.js';
import { isListIdentity, listIdOf } from './targets.js';
import type {
  AnalyticsResult,
  AnalyticsTask,
  AppendOutcome,
  AppendTask,
  ForgetTask,
  ReportTask,
  RollUpOutcome,
} from './tasks.js';

/** Time after which a roll-up task lets other tasks run. */
const TURN_MS = 50;
/** Bytes of events that are rolled up in one step. */
const STEP_BYTES_MAX = 8 * 2 ** 20;
const SECOND_PURGE_MS = 15 * 60_000;
/** Minimum interval of writing what was learned of a list. */
const LEARN_MS_MIN = 10_000;

export class AnalyticsTaskHandler {
  private readonly store: AnalyticsStore;
  /** Bytes of events not rolled up, by identity; those from before the start count as 0. */
  private readonly backlog = new Map<string, number>();
  /** Identities whose hours of earlier days are to be merged into days. */
  private readonly toClose = new Set<string>();
  private closingDay = 0;
  /** Lists whose searches changed, and when their files were last written, by a monotonic clock. */
  private readonly toLearn = new Set<string>();
  private readonly learnedMs = new Map<string, number>();
  private turn: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly folder: string,
    private readonly steadyMs: () => number = () => performance.now(),
  ) {
    this.store = new AnalyticsStore(folder);
    for (const [identity, { number }] of this.store.targetRows()) {
      if (this.store.hasBacklog(number)) this.backlog.set(identity, 0);
    }
  }

  async run<Task extends AnalyticsTask>(task: Task): Promise<AnalyticsResult<Task>> {
    return (await this.dispatch(task)) as AnalyticsResult<Task>;
  }

  async close(): Promise<void> {
    await this.turn;
    await this.store.close();
  }

  private dispatch(task: AnalyticsTask): Promise<AnalyticsResult<AnalyticsTask>> {
    switch (task.kind) {
      case 'append':
        return this.inTurn(() => this.append(task));
      case 'roll-up':
        return this.inTurn(() => this.rollUp(task.nowMs));
      case 'report':
        return Promise.resolve(this.report(task));
      case 'forget':
        return this.forget(task);
    }
  }

  private inTurn<Result>(action: () => Promise<Result>): Promise<Result> {
    const result = this.turn.then(action);
    this.turn = result.catch(() => undefined);
    return result;
  }

  private async append({ batch, nowMs }: AppendTask): Promise<AppendOutcome> {
    for (const [identity, bytes] of await this.store.append(batch, nowMs)) {
      this.backlog.set(identity, (this.backlog.get(identity) ?? 0) + bytes);
    }
    let backlogBytes = 0;
    for (const bytes of this.backlog.values()) backlogBytes += bytes;
    return { backlogBytes };
  }

  private async rollUp(nowMs: number): Promise<RollUpOutcome> {
    const endMs = performance.now() + TURN_MS;
    const isOver = () => performance.now() >= endMs;
    const today = Math.floor(nowMs / DAY_MS);
    if (today !== this.closingDay) {
      this.closingDay = today;
      for (const identity of this.store.targetRows().keys()) this.toClose.add(identity);
    }
    await this.purgeAgain(nowMs);
    let eventsRolledUp = 0;
    for (const identity of this.backlog.keys()) {
      if (isOver()) return { hasMore: true, eventsRolledUp };
      try {
        eventsRolledUp += await this.rollUpTarget(identity, today);
      } catch (error) {
        // Others must not wait for a target that cannot be rolled up: new events or a start retry it. A full disk is
        // full for all of them, and the next attempt may find space.
        if (isForLackOfRoom(error)) this.backlog.set(identity, this.backlog.get(identity) ?? 0);
        else this.backlog.delete(identity);
        throw error;
      }
    }
    for (const identity of this.toClose) {
      if (isOver()) return { hasMore: true, eventsRolledUp };
      await this.closeDays(identity, today);
    }
    for (const identity of this.toLearn) {
      if (isOver()) return { hasMore: true, eventsRolledUp };
      this.learn(identity, nowMs);
    }
    return { hasMore: this.backlog.size > 0, eventsRolledUp };
  }

  /** Rolls up one step; the last step removes the target from the backlog. Resolves with the number of events. */
  private async rollUpTarget(identity: string, today: number): Promise<number> {
    const row = this.liveTarget(identity);
    const blocks = row === undefined ? [] : this.store.blocksToRollUp(row.number);
    const isList = isListIdentity(identity);
    const { counter, upTo, isCut } = countBlocks(blocks, isList, (bytes) => bytes >= STEP_BYTES_MAX);
    if (!isCut) this.backlog.delete(identity);
    if (row === undefined || upTo === undefined) return 0;
    joinEarlierSearches(this.store, row.number, counter);
    await this.store.addHours(row.number, counter.hours, upTo);
    if (Array.from(counter.hours.keys()).some((hour) => hour < today * HOURS_PER_DAY)) this.toClose.add(identity);
    if (isList) this.toLearn.add(identity);
    return counter.events;
  }

  private async closeDays(identity: string, today: number): Promise<void> {
    const row = this.liveTarget(identity);
    try {
      if (row !== undefined) await closeDays(this.store, row.number, today);
    } catch (error) {
      if (!isForLackOfRoom(error)) this.toClose.delete(identity);
      throw error;
    }
    this.toClose.delete(identity);
  }

  private learn(identity: string, nowMs: number): void {
    const listId = listIdOf(identity);
    const row = this.liveTarget(identity);
    if (listId === undefined || row === undefined) {
      this.toLearn.delete(identity);
      return;
    }
    const steadyMs = this.steadyMs();
    if (steadyMs - (this.learnedMs.get(identity) ?? -Infinity) < LEARN_MS_MIN) return;
    this.learnedMs.set(identity, steadyMs);
    const toDay = Math.floor(nowMs / DAY_MS);
    const fromDay = toDay - LEARNED_DAYS;
    const rollUps = [
      ...this.store.dayRollUps(row.number, fromDay, toDay),
      ...this.store.hourRollUps(row.number, fromDay * HOURS_PER_DAY, (toDay + 1) * HOURS_PER_DAY),
    ].map(([, rollUp]) => rollUp);
    try {
      writeLearned(learnedFile(this.folder, listId), learnFrom(rollUps));
    } catch (error) {
      if (!isForLackOfRoom(error)) this.toLearn.delete(identity);
      throw error;
    }
    this.toLearn.delete(identity);
  }

  private report({ identity, fromDay, toDay, termsMax, rawReadMsMax }: ReportTask): ReportFigures {
    const range = { fromDay, toDay };
    const row = this.liveTarget(identity);
    if (row === undefined) return new ReportBuilder(range).finish(false);
    return readReport(this.store, {
      number: row.number,
      isList: isListIdentity(identity),
      range,
      termsMax,
      rawReadMsMax,
    });
  }

  /** Returns undefined for a target that is being deleted. */
  private liveTarget(identity: string): TargetRow | undefined {
    return this.store.isMarkedForPurge(identity) ? undefined : this.store.target(identity);
  }

  private async forget({ identity, nowMs }: ForgetTask): Promise<undefined> {
    await this.inTurn(() => this.store.markForPurge(identity, nowMs + SECOND_PURGE_MS));
    await this.purge(identity);
    return undefined;
  }

  /**
   * Not in turn with other tasks: nothing is appended for the target any more, and deleting years of events takes a
   * while.
   */
  private async purge(identity: string): Promise<void> {
    this.backlog.delete(identity);
    this.toClose.delete(identity);
    this.toLearn.delete(identity);
    this.learnedMs.delete(identity);
    const listId = listIdOf(identity);
    if (listId !== undefined) removeLearned(learnedFile(this.folder, listId));
    await this.store.purge(identity, () => setImmediate());
  }

  private async purgeAgain(nowMs: number): Promise<void> {
    for (const [identity, { dueMs }] of this.store.purgeRows()) {
      // A time further away than it can be was set by a clock that was ahead.
      if (dueMs > nowMs && dueMs - nowMs <= SECOND_PURGE_MS) continue;
      await this.purge(identity);
      await this.store.forgetPurge(identity);
    }
  }
}

/** True if the next attempt may find space. Any other failure would repeat for ever, and block the other targets. */
function isForLackOfRoom(error: unknown): boolean {
  return isStorageError(asStorageError(error));
}
