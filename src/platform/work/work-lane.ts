/**
 * The work of one lane: which items are attempted now, which wait, and when the next is due.
 *
 * Invariants:
 * - An item held by the lane stays in the schedule on disk until its outcome is on disk.
 * - Items of one subject are attempted one after the other, in order, as long as the first of them is being attempted
 *   or waits a short while to be retried; also across a restart, which retries it before the others. An item with a
 *   longer wait is only on disk and lets the others pass.
 * - Memory holds at most `HELD_MAX` items, without their content.
 * - A receiver that fails repeatedly gets one attempt at a time with pauses in between, so that a dead one costs little
 *   and its work does not use up its attempts; its first success ends that.
 * - The clock may be set back: an item that would wait for longer than any wait is meant to be is due.
 *
 * One thread only.
 */
import { setMaxListeners } from 'node:events';
import type { RetrySchedule } from './retry-schedule.js';
import { SubjectLines } from './subject-lines.js';
import type { Timers } from './timers.js';
import type {
  AttemptedWork,
  LaneWorker,
  ScheduledWork,
  Settlement,
  Work,
  WorkOutcome,
  WorkTypes,
} from './work-kind.js';
import type { WorkQueue } from './work-queue.js';
import type { SlotPlace, WorkSlots } from './work-slots.js';

const HELD_MAX = 1000;
/**
 * Items read from the schedule at once, or the batch size if that is larger; small, since there may be ten thousand
 * lanes.
 */
const READ_AT_ONCE = 32;
/** Consecutive failures after which a receiver counts as down. */
const FAILURES_UNTIL_DOWN = 5;
const PAUSE_MS_FIRST = 100;
const PAUSE_MS_MAX = 5000;
/** Limit of a `Retry-After`. */
export const ASKED_WAIT_MS_MAX = 86_400_000;
/** The longest wait that a timer accepts; waking too early does no harm. */
const TIMER_MS_MAX = 2 ** 31 - 1;

export interface LaneOptions<T extends WorkTypes> {
  readonly lane: string;
  readonly queue: Pick<WorkQueue<T>, 'due' | 'dueBehind' | 'nextDueMs' | 'item'>;
  readonly worker: LaneWorker<T>;
  readonly timers: Timers;
  readonly slots: WorkSlots;
  readonly schedule: RetrySchedule;
  /** Longest wait of any item of the lane; at least the longest of `schedule`. */
  readonly waitMsMax: number;
  /** Writes the outcome to disk some time soon, then calls `onSettled`. */
  readonly settle: (settlement: Settlement<T>, onSettled: () => void) => void;
  /** Awaited before the next attempt replaces a finished one. */
  readonly afterAttempt: () => Promise<void> | undefined;
}

/** An item in memory, without its content. */
interface Held {
  scheduled: ScheduledWork;
}

interface Taken<T extends WorkTypes> {
  readonly held: Held;
  readonly work: Work<T['item']>;
}

export class WorkLane<T extends WorkTypes> {
  /** All items in memory, by number, until their outcomes are on disk. */
  private readonly held = new Map<number, Held>();
  private readonly lines = new SubjectLines<Held>();
  private cursor: ScheduledWork | undefined;
  /** Same as `cursor`, for items that are due because they would wait for too long. */
  private tooLateCursor: ScheduledWork | undefined;
  /** Time up to which all due items were read, if this wake found no more. */
  private readToMs: number | undefined;
  private underWay = 0;
  private failuresInRow = 0;
  private pausedUntilMs = 0;
  /** Length of the pause when it began. */
  private pauseMs = 0;
  private timer: { readonly dueMs: number; readonly cancel: () => void } | undefined;
  private readonly retries = new Set<() => void>();
  private readonly abort = new AbortController();
  private stopped = false;
  /** Where the slots expect this lane. */
  private place: SlotPlace;
  private onIdle: (() => void) | undefined;

  constructor(private readonly options: LaneOptions<T>) {
    // Each attempt in progress adds a listener; their number is bounded by the slots.
    setMaxListeners(0, this.abort.signal);
    this.place = placeOf(options.worker);
    options.slots.expect(this.place);
  }

  /** Resets the health of the receiver, since its configuration has changed. */
  forgive(): void {
    this.pausedUntilMs = this.failuresInRow = 0;
  }

  /** Attempts what is due and possible. To be called whenever that may have changed. */
  readonly wake = (): void => {
    const { timers, slots, worker } = this.options;
    this.readToMs = undefined;
    this.pausedUntilMs = Math.min(this.pausedUntilMs, timers.nowMs() + this.pauseMs);
    const place = this.currentPlace();
    while (!this.stopped) {
      if (timers.nowMs() < this.pausedUntilMs || (this.isDown && this.underWay > 0)) break;
      if (!this.hasReady(worker.batchMax)) break;
      if (!slots.take(place, this.wake)) break;
      void this.attempt(this.lines.take(worker.batchMax), place);
    }
    this.awaitNext();
  };

  /** Time until which nothing is attempted: 0 if something is in progress or about to be, Infinity if nothing waits. */
  get restsUntilMs(): number {
    const { lane, queue, timers, waitMsMax } = this.options;
    if (this.underWay > 0 || this.retries.size > 0) return 0;
    const nowMs = timers.nowMs();
    const first = { behind: undefined, count: 1 } as const;
    const isWaiting =
      this.held.size > 0 ||
      queue.due(lane, { ...first, nowMs }).length > 0 ||
      queue.dueBehind(lane, nowMs + waitMsMax, first).length > 0;
    if (isWaiting) return nowMs < this.pausedUntilMs ? this.pausedUntilMs : 0;
    return queue.nextDueMs(lane, nowMs) ?? Infinity;
  }

  /**
   * Ends attempts; resolves when none is in progress. Those still running after `graceMs` are aborted, and their
   * outcomes ignored.
   */
  async stop(graceMs: number): Promise<void> {
    const isFirst = !this.stopped;
    this.stopped = true;
    if (isFirst) this.options.slots.forget(this.place);
    this.timer?.cancel();
    for (const cancel of this.retries) cancel();
    if (this.underWay === 0) return;
    const timer = setTimeout(() => {
      this.abort.abort(new Error('stopped'));
    }, graceMs);
    await new Promise<void>((resolve) => {
      this.onIdle = resolve;
    });
    clearTimeout(timer);
  }

  private currentPlace(): SlotPlace {
    const { slots, worker } = this.options;
    if (!this.stopped && worker.receiver !== this.place.receiver) {
      const before = this.place;
      this.place = placeOf(worker);
      slots.expect(this.place);
      slots.forget(before);
    }
    return this.place;
  }

  private get isDown(): boolean {
    return this.failuresInRow >= FAILURES_UNTIL_DOWN;
  }

  /** Reads on until there is a batch or nothing more; returns true if an item is ready. */
  private hasReady(batchMax: number): boolean {
    while (this.lines.readyCount < batchMax && this.held.size < HELD_MAX) if (!this.readMore()) break;
    return this.lines.readyCount > 0;
  }

  /** Reads due items; returns false if there are no more. */
  private readMore(): boolean {
    const { lane, queue, timers, waitMsMax, worker } = this.options;
    const count = Math.max(READ_AT_ONCE, worker.batchMax);
    // With nothing in memory, reads the schedule from its beginning, where clocks that went back may have put items.
    if (this.held.size === 0) this.cursor = this.tooLateCursor = undefined;
    const nowMs = timers.nowMs();
    let due = queue.due(lane, { behind: this.cursor, nowMs, count });
    this.cursor = due.at(-1) ?? this.cursor;
    if (due.length === 0) {
      this.readToMs = nowMs;
      due = queue.dueBehind(lane, nowMs + waitMsMax, { behind: this.tooLateCursor, count });
      this.tooLateCursor = due.at(-1) ?? this.tooLateCursor;
    }
    for (const scheduled of due) {
      if (this.held.has(scheduled.number)) continue;
      const held = { scheduled };
      this.held.set(scheduled.number, held);
      this.lines.add(scheduled.subject, held);
    }
    return due.length > 0;
  }

  private async attempt(batch: readonly Held[], place: SlotPlace): Promise<void> {
    const { slots, timers, worker } = this.options;
    this.underWay += 1;
    const atMs = timers.nowMs();
    const taken = batch.flatMap((held) => this.taken(held));
    if (taken.length > 0) {
      const outcomes = await worker.perform(
        taken.map(({ work }) => work),
        this.abort.signal,
      );
      if (!this.abort.signal.aborted) this.conclude(taken, outcomes, atMs);
      await this.options.afterAttempt();
    }
    this.underWay -= 1;
    slots.release(place);
    if (this.underWay === 0) this.onIdle?.();
    this.wake();
  }

  private taken(held: Held): Taken<T>[] {
    const { lane, queue } = this.options;
    const { number, subject, dueMs } = held.scheduled;
    const item = queue.item(lane, number);
    if (item !== undefined) return [{ held, work: { lane, number, item, dueMs } }];
    // It was superseded meanwhile, or removed with its lane.
    this.held.delete(number);
    this.lines.letOthersPass(subject);
    return [];
  }

  private conclude(taken: readonly Taken<T>[], outcomes: readonly WorkOutcome<T['result']>[], atMs: number): void {
    this.noteHealth(outcomes);
    for (const [position, { held, work }] of taken.entries()) {
      const outcome = outcomes[position] as WorkOutcome<T['result']>;
      const attempt = held.scheduled.attempts + 1;
      this.concludeOne(held, { work, result: outcome.result, attempt, atMs }, outcome);
    }
  }

  private concludeOne(held: Held, attempted: AttemptedWork<T>, outcome: WorkOutcome<T['result']>): void {
    const { timers, schedule, worker } = this.options;
    const { verdict, notBeforeMs = 0 } = outcome;
    const attempts = attempted.attempt - (verdict === 'unavailable' ? 1 : 0);
    if (verdict === 'done') {
      this.finish(held, { scheduled: held.scheduled, note: worker.note(attempted, 'done'), next: { kind: 'done' } });
      return;
    }
    const nowMs = timers.nowMs();
    const next = verdict === 'refused' ? undefined : schedule.after(Math.max(attempts, 1));
    if (next === undefined) {
      const failure = worker.failure(attempted, nowMs);
      const note = worker.note(attempted, 'set-aside');
      this.finish(held, { scheduled: held.scheduled, note, next: { kind: 'set-aside', failure } });
      return;
    }
    const dueMs = Math.max(nowMs + next.waitMs, Math.min(notBeforeMs, nowMs + ASKED_WAIT_MS_MAX));
    const waitsSoon = next.isSoon && dueMs <= nowMs + next.waitMs;
    const settlement = {
      scheduled: held.scheduled,
      note: worker.note(attempted, 'retried'),
      // A short wait is only in memory: on disk the item keeps its place before others of its subject, which a start
      // goes by.
      next: { kind: 'retried', dueMs: waitsSoon ? held.scheduled.dueMs : dueMs, attempts },
    } as const;
    if (!waitsSoon) {
      this.finish(held, settlement);
      this.setTimer(dueMs);
      return;
    }
    this.options.settle(settlement, () => undefined);
    held.scheduled = { ...held.scheduled, attempts };
    this.tryAgainIn(next.waitMs, held);
  }

  private tryAgainIn(waitMs: number, held: Held): void {
    // It is due in the schedule on disk; a timer would only keep the thread alive.
    if (this.stopped) return;
    const cancel = this.options.timers.after(waitMs, () => {
      this.retries.delete(cancel);
      this.lines.again(held);
      this.wake();
    });
    this.retries.add(cancel);
  }

  /** Releases an item that is not retried soon. */
  private finish(held: Held, settlement: Settlement<T>): void {
    const { number, subject } = held.scheduled;
    this.lines.letOthersPass(subject);
    this.options.settle(settlement, () => {
      this.held.delete(number);
      this.wake();
    });
  }

  private noteHealth(outcomes: readonly WorkOutcome<T['result']>[]): void {
    const nowMs = this.options.timers.nowMs();
    // A receiver that refuses an item is reachable.
    const isWell = outcomes.some(({ verdict }) => verdict === 'done' || verdict === 'refused');
    this.failuresInRow = isWell ? 0 : this.failuresInRow + 1;
    const beyond = this.failuresInRow - FAILURES_UNTIL_DOWN;
    const pauseUntilMs = beyond < 0 ? 0 : nowMs + Math.min(PAUSE_MS_MAX, PAUSE_MS_FIRST * 2 ** beyond);
    const askedMs = Math.max(...outcomes.map(({ notBeforeMs = 0 }) => notBeforeMs));
    this.pausedUntilMs = Math.max(pauseUntilMs, Math.min(askedMs, nowMs + ASKED_WAIT_MS_MAX));
    this.pauseMs = Math.max(0, this.pausedUntilMs - nowMs);
  }

  /** Sets the timer for the next due item on disk, or the end of a pause. */
  private awaitNext(): void {
    if (this.stopped) return;
    const { lane, queue, timers } = this.options;
    const nowMs = timers.nowMs();
    if (nowMs < this.pausedUntilMs) {
      this.setTimer(this.pausedUntilMs);
    } else if (this.timer === undefined || this.isTimerLate) {
      // Also finds what became due since the last read; nobody else would wake the lane for it.
      const dueMs = queue.nextDueMs(lane, this.readToMs ?? nowMs);
      if (dueMs !== undefined) this.setTimer(dueMs);
    }
  }

  /**
   * True if the timer should have fired already: the clock was set ahead, and the timer runs by the old one. The next
   * wake reads what it was set for.
   */
  private get isTimerLate(): boolean {
    return this.timer !== undefined && this.timer.dueMs < this.options.timers.nowMs();
  }

  /** Sets the one timer to the earliest time requested; when it fires, `wake` sets it again. */
  private setTimer(dueMs: number): void {
    if (this.stopped || (this.timer !== undefined && !this.isTimerLate && this.timer.dueMs <= dueMs)) return;
    this.timer?.cancel();
    const { timers } = this.options;
    const waitMs = Math.min(Math.max(dueMs - timers.nowMs(), 1), TIMER_MS_MAX);
    const cancel = timers.after(waitMs, () => {
      this.timer = undefined;
      this.wake();
    });
    this.timer = { dueMs, cancel };
  }
}

function placeOf({ owner, receiver }: Pick<LaneWorker<WorkTypes>, 'owner' | 'receiver'>): SlotPlace {
  return { owner: owner ?? '', receiver };
}
