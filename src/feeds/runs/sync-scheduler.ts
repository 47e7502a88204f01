/**
 * Decides when each feed is read: at regular intervals with a small random delay, a limited number at the same time,
 * and by turns between accounts.
 *
 * Invariants: a feed has at most one run at a time. A feed that is due is run as soon as there is room. Feeds of the
 * account with the fewest runs come first, and among these the one that has waited longest. If several accounts have
 * feeds, none of them has all the runs, and a long run gives up its place to an account that has none. The clock may
 * jump: a feed that would wait for longer than its interval is due within the interval. Used on one thread only; never
 * rejects.
 */
import type { Timers } from '../../platform/work/index.js';

/**
 * Maximum random delay as a share of the interval. It keeps feeds that were set up together from being read together
 * for ever.
 */
const JITTER_SHARE = 0.1;
const JITTER_MS_MAX = 300_000;
/** A source that asks for a longer wait is read again after this time all the same. */
const RETRY_AFTER_MS_MAX = 86_400_000;
/**
 * If the clock is set back by more than this, whoever stores the times is told. Otherwise a service that is started
 * once a day would, at each start, put off again a feed whose time is far in the future.
 */
const SET_BACK_MS = 60_000;
/** How soon a jump of the clock is noticed, and that a run has become a long one. */
const CHECK_MS = 30_000;
/**
 * A run that lasts longer than this gives up its place to an account that has none, until twice as many runs are under
 * way.
 */
export const LONG_RUN_MS = 600_000;

export interface ScheduledFeed {
  readonly id: string;
  readonly account: string;
  readonly intervalMs: number;
  /** When the feed is due. Undefined: at once. */
  readonly nextMs: number | undefined;
  /**
   * When the last attempt was made. A longer interval counts from then. Undefined if there was none or it is not known.
   */
  readonly checkedMs?: number | undefined;
}

export interface SchedulerOptions {
  readonly timers: Timers;
  readonly parallelMax: number;
  /** Runs the feed. Never rejects. Resolves with the wait that the source asks for, if any. */
  readonly run: (id: string) => Promise<{ readonly retryAfterMs?: number | undefined }>;
  /** Told when the feed is due next. */
  readonly onScheduled: (id: string, nextMs: number) => void;
  readonly random?: () => number;
}

interface Entry {
  account: string;
  intervalMs: number;
  nextMs: number;
  /** Maximum time that the feed was ever meant to wait. A longer wait shows that the clock was set back. */
  waitMsMax: number;
  /** When it became due, while it waits for room, or when its run began. */
  dueMs: number;
  isRunning: boolean;
  /** True if the feed is to be read again at once when its run has ended. */
  isAgain: boolean;
}

export class SyncScheduler {
  private readonly feeds = new Map<string, Entry>();
  private cancelTimer: (() => void) | undefined;
  private running = 0;
  private isStopped = false;
  private idle: (() => void)[] = [];

  constructor(private readonly options: SchedulerOptions) {}

  /**
   * Adds a feed, or sets its new interval. A feed that waits for its time waits no longer than a new feed would, and is
   * not read again before a longer interval has passed since the last attempt. A feed that is already due, or waits for
   * its first run, stays so.
   */
  set(feed: ScheduledFeed): void {
    this.setAll([feed]);
  }

  /** Does the same for many feeds, and looks through all feeds only once. */
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

  /**
   * Returns when the feed is due. Undefined if it is running, after which it gets a new time, or if there is no such
   * feed.
   */
  nextMs(id: string): number | undefined {
    const entry = this.feeds.get(id);
    return entry?.isRunning === false ? entry.nextMs : undefined;
  }

  /** Makes the feed run as soon as there is room. Returns false if it is running or there is no such feed. */
  now(id: string): boolean {
    const entry = this.feeds.get(id);
    if (entry === undefined || entry.isRunning) return false;
    entry.nextMs = this.options.timers.nowMs();
    this.wake();
    return true;
  }

  /**
   * Makes the feed run as soon as there is room, and after the run that is under way: what has changed since that began
   * is not in it. Does nothing if there is no such feed.
   */
  nowOrAgain(id: string): void {
    if (this.now(id)) return;
    const entry = this.feeds.get(id);
    if (entry !== undefined) entry.isAgain = true;
  }

  /** Lets no more runs begin. Resolves when nothing is running. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.cancelTimer?.();
    if (this.running > 0) await new Promise<void>((resolve) => this.idle.push(resolve));
  }

  private keep({ id, account, intervalMs, nextMs, checkedMs }: ScheduledFeed): void {
    const nowMs = this.options.timers.nowMs();
    const entry = this.feeds.get(id);
    // A new interval begins when it is set. A time that was stored before a restart may be as late as a source may ask
    // for.
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
      isAgain: entry?.isAgain ?? false,
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

  /** Returns how many runs each account with feeds has. */
  private busyAccounts(): Map<string, number> {
    const busy = new Map<string, number>();
    for (const { account, isRunning } of this.feeds.values())
      busy.set(account, (busy.get(account) ?? 0) + Number(isRunning));
    return busy;
  }

  /**
   * Returns how many runs an account may have. All sources of an account may be as slow as the time limit of a run
   * allows, and a run is not interrupted for another.
   */
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
    entry.isAgain = false;
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
    // Meanwhile its interval may have changed, or the feed may have been removed.
    const entry = this.feeds.get(id);
    if (entry === undefined) return;
    const { timers, random = Math.random, onScheduled } = this.options;
    const jitterMs = random() * (longestWaitMs(entry.intervalMs) - entry.intervalMs);
    entry.isRunning = false;
    entry.waitMsMax = Math.max(entry.intervalMs + jitterMs, Math.min(retryAfterMs, RETRY_AFTER_MS_MAX));
    entry.nextMs = timers.nowMs() + (entry.isAgain ? 0 : entry.waitMsMax);
    onScheduled(id, entry.nextMs);
  }
}

/** Returns the maximum time between two attempts of a feed with this interval, unless its source asks for more. */
export function longestWaitMs(intervalMs: number): number {
  return intervalMs + Math.min(intervalMs * JITTER_SHARE, JITTER_MS_MAX);
}
