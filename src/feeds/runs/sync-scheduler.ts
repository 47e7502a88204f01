/**
 * When each feed is read: every so often, a little later by chance, a bounded number at a time, and turn by turn between accounts.
 *
 * Invariants: a feed has one run at a time; one that is due runs as soon as there is room, and those of an account that has fewest
 * running come first, among them the one that waited longest; where several accounts have feeds, none has all the runs, and one that lasts long leaves its
 * place to an account that has none. The clock may jump: what would wait for more than its interval is
 * due within it. One thread only; never rejects.
 */
import type { Timers } from '../../platform/work/index.js';

/** Of the interval, at most; what was set up together is not read together for ever. */
const JITTER_SHARE = 0.1;
const JITTER_MS_MAX = 300_000;
/** A source that asks to be left alone for longer is asked again all the same. */
const RETRY_AFTER_MS_MAX = 86_400_000;
/** A clock that is set back by more is told to who keeps the times: else a service that is started once a day puts off anew, each time, what is yet to come by far. */
const SET_BACK_MS = 60_000;
/** A jump of the clock is seen so soon, and that a run has become a long one. */
const CHECK_MS = 30_000;
/** A run that lasts so long leaves its place to an account that has none, until twice as many are under way. */
export const LONG_RUN_MS = 600_000;

export interface ScheduledFeed {
  readonly id: string;
  readonly account: string;
  readonly intervalMs: number;
  /** Undefined: at once. */
  readonly nextMs: number | undefined;
  /** Of the last attempt, from which a longer interval counts; undefined: there was none, or it is not known. */
  readonly checkedMs?: number | undefined;
}

export interface SchedulerOptions {
  readonly timers: Timers;
  readonly parallelMax: number;
  /** Never rejects. Resolves with the wait that the source asks for, if any. */
  readonly run: (id: string) => Promise<{ readonly retryAfterMs?: number | undefined }>;
  /** The feed is due then. */
  readonly onScheduled: (id: string, nextMs: number) => void;
  readonly random?: () => number;
}

interface Entry {
  account: string;
  intervalMs: number;
  nextMs: number;
  /** Nobody meant it to wait for longer: a clock that was set back is seen by that. */
  waitMsMax: number;
  /** Since when it waits for room, or runs. */
  dueMs: number;
  isRunning: boolean;
}

export class SyncScheduler {
  private readonly feeds = new Map<string, Entry>();
  private cancelTimer: (() => void) | undefined;
  private running = 0;
  private isStopped = false;
  private idle: (() => void)[] = [];

  constructor(private readonly options: SchedulerOptions) {}

  /**
   * Adds a feed, or takes over its interval: what waits for its time waits no longer than a new one, and what has been read is not read again
   * before a longer one has passed since. What is due already, or waits for a first time, stays so.
   */
  set(feed: ScheduledFeed): void {
    this.setAll([feed]);
  }

  /** The same for many, which looks through all feeds once. */
  setAll(feeds: readonly ScheduledFeed[]): void {
    for (const feed of feeds) this.keep(feed);
    this.wake();
  }

  remove(id: string): void {
    this.feeds.delete(id);
  }

  isRunning(id: string): boolean {
    return this.feeds.get(id)?.isRunning ?? false;
  }

  /** When it is due; undefined: it is running, which is followed by a new time, or there is no such feed. */
  nextMs(id: string): number | undefined {
    const entry = this.feeds.get(id);
    return entry?.isRunning === false ? entry.nextMs : undefined;
  }

  /** False: it is running, or there is no such feed. It runs as soon as there is room. */
  now(id: string): boolean {
    const entry = this.feeds.get(id);
    if (entry === undefined || entry.isRunning) return false;
    entry.nextMs = this.options.timers.nowMs();
    this.wake();
    return true;
  }

  /** Nothing begins any more; resolves when nothing runs. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.cancelTimer?.();
    if (this.running > 0) await new Promise<void>((resolve) => this.idle.push(resolve));
  }

  private keep({ id, account, intervalMs, nextMs, checkedMs }: ScheduledFeed): void {
    const nowMs = this.options.timers.nowMs();
    const entry = this.feeds.get(id);
    // A new interval begins when it is set; what was kept over a stop may be as late as a source has asked for.
    const isChanged = entry !== undefined && entry.intervalMs !== intervalMs;
    const waitMsMax = isChanged
      ? longestWaitMs(intervalMs)
      : (entry?.waitMsMax ?? Math.max(longestWaitMs(intervalMs), RETRY_AFTER_MS_MAX));
    const isLonger = isChanged && intervalMs > entry.intervalMs && entry.nextMs > nowMs;
    const soonestMs = isLonger && checkedMs !== undefined ? checkedMs + intervalMs : -Infinity;
    const wanted = Math.max(entry?.nextMs ?? nextMs ?? nowMs, soonestMs);
    const next = Math.min(wanted, nowMs + waitMsMax);
    if (!isChanged) this.tellSetBack(id, wanted, next);
    this.feeds.set(id, {
      account,
      intervalMs,
      nextMs: next,
      waitMsMax,
      dueMs: entry?.isRunning === true ? entry.dueMs : Math.min(next, nowMs),
      isRunning: entry?.isRunning ?? false,
    });
  }

  private wake(): void {
    if (this.isStopped) return;
    this.cancelTimer?.();
    const nowMs = this.options.timers.nowMs();
    let waitMs = CHECK_MS;
    for (const [id, entry] of this.feeds) {
      const wanted = entry.nextMs;
      entry.nextMs = Math.min(wanted, nowMs + entry.waitMsMax);
      this.tellSetBack(id, wanted, entry.nextMs);
      if (!entry.isRunning && entry.nextMs > nowMs) {
        entry.dueMs = entry.nextMs;
        waitMs = Math.min(waitMs, entry.nextMs - nowMs);
      }
    }
    for (let due = this.nextDue(nowMs); due !== undefined; due = this.nextDue(nowMs)) this.begin(...due);
    this.cancelTimer = this.options.timers.after(waitMs, () => {
      this.wake();
    });
  }

  private tellSetBack(id: string, wantedMs: number, nextMs: number): void {
    if (wantedMs - nextMs > SET_BACK_MS) this.options.onScheduled(id, nextMs);
  }

  private nextDue(nowMs: number): [id: string, entry: Entry] | undefined {
    const busy = this.busyAccounts();
    const ofOneMax = this.ofOneMax(busy.size === 1, nowMs);
    if (ofOneMax === 0) return undefined;
    let best: [string, Entry] | undefined;
    for (const [id, entry] of this.feeds) {
      if (entry.isRunning || entry.nextMs > nowMs || (busy.get(entry.account) ?? 0) >= ofOneMax) continue;
      const difference = best === undefined ? -1 : (busy.get(entry.account) ?? 0) - (busy.get(best[1].account) ?? 0);
      if (best === undefined || difference < 0 || (difference === 0 && entry.dueMs < best[1].dueMs)) best = [id, entry];
    }
    return best;
  }

  /** Of each account that has feeds, how many run. */
  private busyAccounts(): Map<string, number> {
    const busy = new Map<string, number>();
    for (const { account, isRunning } of this.feeds.values())
      busy.set(account, (busy.get(account) ?? 0) + Number(isRunning));
    return busy;
  }

  /** How many runs an account may have. Sources may all be as slow as the time of a run allows, and a run is not taken back. */
  private ofOneMax(isOneAccount: boolean, nowMs: number): number {
    const { parallelMax } = this.options;
    if (this.running < parallelMax) return isOneAccount ? parallelMax : Math.max(1, parallelMax - 1);
    return this.running < parallelMax + Math.min(parallelMax, this.longRuns(nowMs)) ? 1 : 0;
  }

  private longRuns(nowMs: number): number {
    let count = 0;
    for (const { isRunning, dueMs } of this.feeds.values()) count += Number(isRunning && nowMs - dueMs >= LONG_RUN_MS);
    return count;
  }

  private begin(id: string, entry: Entry): void {
    entry.isRunning = true;
    entry.dueMs = this.options.timers.nowMs();
    this.running += 1;
    void this.options.run(id).then(({ retryAfterMs }) => {
      this.running -= 1;
      this.ended(id, retryAfterMs ?? 0);
      if (this.running === 0) for (const resolve of this.idle.splice(0)) resolve();
      this.wake();
    });
  }

  private ended(id: string, retryAfterMs: number): void {
    // Its interval may have changed meanwhile, or it may be gone.
    const entry = this.feeds.get(id);
    if (entry === undefined) return;
    const { timers, random = Math.random, onScheduled } = this.options;
    const jitterMs = random() * (longestWaitMs(entry.intervalMs) - entry.intervalMs);
    entry.isRunning = false;
    entry.waitMsMax = Math.max(entry.intervalMs + jitterMs, Math.min(retryAfterMs, RETRY_AFTER_MS_MAX));
    entry.nextMs = timers.nowMs() + entry.waitMsMax;
    onScheduled(id, entry.nextMs);
  }
}

/** Between two attempts of a feed that is read so often, unless its source asks for more. */
export function longestWaitMs(intervalMs: number): number {
  return intervalMs + Math.min(intervalMs * JITTER_SHARE, JITTER_MS_MAX);
}
