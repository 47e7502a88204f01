import { describe, expect, it } from 'vitest';
import { SimulatedTimers } from '../../../test/support/simulated-timers.js';
import type { SyncRunResult } from '../file/sync-run.js';
import {
  afterFailure,
  afterSuccess,
  isEmptinessBelieved,
  isFreshRunDue,
  NEW_FEED,
  statusOf,
  type FeedState,
} from './feed-state.js';
import { LONG_RUN_MS, SyncScheduler } from './sync-scheduler.js';

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
const MINUTE_MS = 60_000;
const RESULT: SyncRunResult = {
  added: 1,
  changed: 2,
  removed: 3,
  unchanged: 4,
  record_count: 7,
  skipped: [],
  skipped_count: 0,
  requests: 8,
  bytes: 9,
  took_ms: 10,
  wasReplaced: true,
  wasComplete: true,
  retryAfterMs: undefined,
};

describe('the state of a feed', () => {
  const synced = afterSuccess(NEW_FEED, RESULT, { at: '2026-11-22T00:00:00.000Z', wasFresh: true });
  const failed = afterFailure(synced, 'It is down.', { at: '2026-11-22T00:30:00.000Z', apartMsMax: 0 });

  it('is waiting before the first run', () => {
    expect(statusOf(NEW_FEED, false)).toBe('Waiting for first sync');
  });

  it.each([NEW_FEED, synced, failed])('is syncing during a run, whatever it was before', (state) => {
    expect(statusOf(state, true)).toBe('Syncing');
  });

  it('is synced after a successful run', () => {
    expect(statusOf(synced, false)).toBe('Synced');
    expect(synced).toMatchObject({
      last_checked: '2026-11-22T00:00:00.000Z',
      last_synced: '2026-11-22T00:00:00.000Z',
      record_count: 7,
      last_run: { added: 1, requests: 8 },
    });
  });

  it('is failed after a failed run, with the reason and time, and keeps the results of the last successful one', () => {
    expect(statusOf(failed, false)).toBe('Failed');
    expect(failed).toEqual({
      ...synced,
      last_checked: '2026-11-22T00:30:00.000Z',
      error: { message: 'It is down.', at: '2026-11-22T00:30:00.000Z' },
    });
    expect(statusOf(afterFailure(NEW_FEED, 'x', { at: 'y', apartMsMax: 0 }), false)).toBe('Failed');
  });

  it('stays failed while the source cannot be reached, and has no error after the next successful run', () => {
    const again = afterFailure(failed, 'Still down.', { at: '2026-11-22T01:00:00.000Z', apartMsMax: 0 });
    expect([statusOf(again, false), again.error?.message]).toEqual(['Failed', 'Still down.']);
    const good = afterSuccess(again, RESULT, { at: '2026-11-22T01:30:00.000Z', wasFresh: false });
    expect([statusOf(good, false), good.error]).toEqual(['Synced', null]);
  });

  describe('isEmptinessBelieved for a source that lists nothing', () => {
    const HOUR_MS = 60 * MINUTE_MS;
    const BEGIN_MS = Date.parse('2026-11-22T00:00:00.000Z');
    const apartMsMax = HOUR_MS;
    const attempted = (state: FeedState, hours: number, isEmptied: boolean) =>
      afterFailure(state, 'x', { at: new Date(BEGIN_MS + hours * HOUR_MS).toISOString(), isEmptied, apartMsMax });
    const isBelieved = (state: FeedState, hours: number) =>
      isEmptinessBelieved(state, BEGIN_MS + hours * HOUR_MS, apartMsMax);
    /** Returns the state after a run each hour from the first to the last. */
    const emptiedFor = (hours: number, from: FeedState = synced) => {
      let state = from;
      for (let hour = 1; hour <= 1 + hours; hour += 1) state = attempted(state, hour, hour !== 2);
      return state;
    };

    it('is true once that was seen for a day, whatever else failed meanwhile', () => {
      expect([isBelieved(emptiedFor(23), 24.9), isBelieved(emptiedFor(23), 25)]).toEqual([false, true]);
      expect(isBelieved(failed, 1000)).toBe(false);
      const good = afterSuccess(emptiedFor(23), RESULT, { at: '2026-11-23T00:00:00.000Z', wasFresh: false });
      expect(isBelieved(good, 1000)).toBe(false);
    });

    it('is not true earlier if the clock is set from 1970 to today', () => {
      const in1970 = attempted(synced, -BEGIN_MS / HOUR_MS, true);
      expect(isBelieved(in1970, 1)).toBe(false);
      expect([isBelieved(emptiedFor(22, in1970), 23.9), isBelieved(emptiedFor(22, in1970), 24)]).toEqual([false, true]);
    });

    it('is true as early if the clock was ten years ahead', () => {
      const ahead = attempted(synced, 87_600, true);
      expect([isBelieved(emptiedFor(23, ahead), 24.9), isBelieved(emptiedFor(23, ahead), 25)]).toEqual([false, true]);
    });

    it('starts to count if an earlier release only stored since when', () => {
      const { emptied_ms: _, ...earlier } = attempted(synced, 0, true);
      expect([isBelieved(earlier, 1), isBelieved(emptiedFor(23, earlier), 25)]).toEqual([false, true]);
    });
  });

  it('reads everything again every 24th run', () => {
    let state = synced;
    let runs = 1;
    for (; !isFreshRunDue(state); runs += 1) state = afterSuccess(state, RESULT, { at: 'x', wasFresh: false });
    expect(runs).toBe(24);
  });
});

function scheduler(
  options: { readonly parallelMax?: number; readonly random?: () => number; readonly retryAfterMs?: number } = {},
) {
  const timers = new SimulatedTimers();
  const startMs = timers.nowMs();
  const began: [id: string, atMs: number][] = [];
  const ends = new Map<string, () => void>();
  const scheduled = new Map<string, number>();
  const made = new SyncScheduler({
    timers,
    parallelMax: options.parallelMax ?? 2,
    random: options.random ?? (() => 0.5),
    onScheduled: (id, nextMs) => scheduled.set(id, nextMs - startMs),
    run: async (id) => {
      began.push([id, timers.nowMs() - startMs]);
      await new Promise<void>((resolve) => ends.set(id, resolve));
      return { retryAfterMs: options.retryAfterMs };
    },
  });
  const end = async (id: string) => {
    ends.get(id)?.();
    ends.delete(id);
    await settled();
  };
  return { timers, began, ends, scheduled, made, end };
}

describe('SyncScheduler', () => {
  const feed = (id: string, account = 'a', nextMs?: number) => ({ id, account, intervalMs: 30 * MINUTE_MS, nextMs });

  it('runs a new feed at once, and then at its interval plus a random delay', async () => {
    const { timers, began, scheduled, made, end } = scheduler();
    made.set(feed('f'));
    expect(began).toEqual([['f', 0]]);
    expect(made.isRunning('f')).toBe(true);
    await end('f');
    expect([made.isRunning('f'), scheduled.get('f')]).toEqual([false, 31.5 * MINUTE_MS]);
    await timers.pass(31 * MINUTE_MS, settled);
    expect(began).toHaveLength(1);
    await timers.pass(MINUTE_MS, settled);
    expect(began).toEqual([
      ['f', 0],
      ['f', 31.5 * MINUTE_MS],
    ]);
  });

  it('runs a feed only once at a time', async () => {
    const { timers, began, made, end } = scheduler();
    made.set(feed('f'));
    expect(made.now('f')).toBe(false);
    await timers.pass(120 * MINUTE_MS, settled);
    expect(began).toHaveLength(1);
    await end('f');
    expect(made.now('f')).toBe(true);
    expect(began).toHaveLength(2);
    expect(made.now('unknown')).toBe(false);
  });

  it('runs a feed again, once, after the run during which something changed', async () => {
    const { began, scheduled, made, end } = scheduler({ retryAfterMs: 60 * MINUTE_MS });
    made.set(feed('f'));
    made.nowOrAgain('f');
    made.nowOrAgain('f');
    made.set({ ...feed('f'), intervalMs: 20 * MINUTE_MS });
    expect(began).toHaveLength(1);
    await end('f');
    // The wait that the source asked for was about what has changed.
    expect([began.length, scheduled.get('f')]).toEqual([2, 0]);
    await end('f');
    expect([began.length, scheduled.get('f')]).toEqual([2, 60 * MINUTE_MS]);
    made.nowOrAgain('f');
    made.nowOrAgain('unknown');
    expect(began.map(([id]) => id)).toEqual(['f', 'f', 'f']);
    await end('f');
    expect(began).toHaveLength(3);
  });

  it('runs a hundred due feeds a few at a time, alternating between accounts', async () => {
    const { began, ends, made, end } = scheduler({ parallelMax: 4 });
    for (let number = 0; number < 90; number += 1) made.set(feed(`large-${number}`, 'large'));
    for (let number = 0; number < 10; number += 1) made.set(feed(`small-${number}`, 'small'));
    let together = 0;
    while (ends.size > 0) {
      together = Math.max(together, ends.size);
      const [first = ''] = ends.keys();
      await end(first);
    }
    expect([began.length, together]).toEqual([100, 4]);
    const ids = began.map(([id]) => id);
    expect(new Set(ids).size).toBe(100);
    expect(ids.slice(0, 30).filter((id) => id.startsWith('small')).length).toBe(10);
  });

  it('reserves a run for other accounts, however long those of one account take', async () => {
    const { began, made } = scheduler({ parallelMax: 2 });
    for (const id of ['a1', 'a2']) made.set(feed(id, 'a'));
    // There are no other accounts yet.
    expect(began.map(([id]) => id)).toEqual(['a1', 'a2']);
    const later = scheduler({ parallelMax: 3 });
    later.made.set(feed('b1', 'b'));
    await later.end('b1');
    for (const id of ['a1', 'a2', 'a3', 'a4']) later.made.set(feed(id, 'a'));
    expect(later.began.map(([id]) => id)).toEqual(['b1', 'a1', 'a2']);
    expect(later.made.now('b1')).toBe(true);
    expect(later.made.isRunning('b1')).toBe(true);
    await later.end('a1');
    expect(later.began.map(([id]) => id)).toEqual(['b1', 'a1', 'a2', 'b1', 'a3']);
  });

  it('gives an account without a run an extra place beside long runs, up to twice as many runs', async () => {
    const { timers, began, made, end } = scheduler({ parallelMax: 2 });
    made.setAll([feed('a1', 'a'), feed('b1', 'b')]);
    made.setAll(['a2', 'b2', 'c1', 'c2', 'd1', 'e1'].map((id) => feed(id, id.slice(0, 1))));
    await timers.pass(LONG_RUN_MS - 60_000, settled);
    expect(began.map(([id]) => id)).toEqual(['a1', 'b1']);
    await timers.pass(120_000, settled);
    expect(began.map(([id]) => id)).toEqual(['a1', 'b1', 'c1', 'd1']);
    // Every run is long now: two runs beyond the limit of two are the most.
    await timers.pass(10 * LONG_RUN_MS, settled);
    expect(began).toHaveLength(4);
    await end('d1');
    expect(began.map(([id]) => id).slice(4)).toEqual(['e1']);
  });

  it('goes through ten thousand feeds once if they are added together', async () => {
    const { timers, began, ends, made, end } = scheduler({ parallelMax: 4 });
    const feeds = Array.from({ length: 10_000 }, (_, number) => feed(`f${number}`, `a${number % 10}`));
    let looks = 0;
    const after = timers.after.bind(timers);
    timers.after = (ms, action) => {
      looks += 1;
      return after(ms, action);
    };
    made.setAll(feeds);
    expect([looks, began.length, ends.size]).toEqual([1, 4, 4]);
    for (let turn = 0; turn < 100; turn += 1) await end([...ends.keys()][0] ?? '');
    expect([began.length, looks]).toEqual([104, 101]);
  });

  it('follows a changed interval, and the stored time of the next run after a restart', async () => {
    const { timers, began, made, end } = scheduler();
    made.set(feed('kept', 'a', timers.nowMs() + 10 * MINUTE_MS));
    made.set(feed('late', 'a', timers.nowMs() - 10 * MINUTE_MS));
    expect(began).toEqual([['late', 0]]);
    await end('late');
    made.set({ ...feed('late'), intervalMs: 5 * MINUTE_MS });
    await timers.pass(6 * MINUTE_MS, settled);
    expect(began.map(([id]) => id)).toEqual(['late', 'late']);
    await timers.pass(5 * MINUTE_MS, settled);
    expect(began.map(([id]) => id)).toEqual(['late', 'late', 'kept']);
  });

  it('counts a longer interval from the last check, instead of the shorter interval', async () => {
    const { timers, began, made, end } = scheduler();
    made.set({ ...feed('often'), intervalMs: 5 * MINUTE_MS });
    await end('often');
    const checkedMs = timers.nowMs();
    await timers.pass(MINUTE_MS, settled);
    made.set({ ...feed('often'), intervalMs: 60 * MINUTE_MS, checkedMs });
    expect(made.nextMs('often')).toBe(checkedMs + 60 * MINUTE_MS);
    await timers.pass(58 * MINUTE_MS, settled);
    expect(began).toHaveLength(1);
    await timers.pass(2 * MINUTE_MS, settled);
    expect(began).toHaveLength(2);
  });

  it('waits as long as a source asks, but at most a day', async () => {
    for (const [asked, waited] of [
      [2 * 3_600_000, 2 * 3_600_000],
      [30 * 86_400_000, 86_400_000],
      [1000, 31.5 * MINUTE_MS],
    ]) {
      const { scheduled, made, end } = scheduler({ retryAfterMs: asked ?? 0 });
      made.set(feed('f'));
      await end('f');
      expect(scheduled.get('f')).toBe(waited);
    }
  });

  it('copes with a clock that jumps', async () => {
    const { timers, began, made, end } = scheduler();
    made.set(feed('f'));
    await end('f');
    const nowMs = timers.nowMs.bind(timers);
    // The clock goes three days back, which the feed does not wait for.
    timers.nowMs = () => nowMs() - 3 * 86_400_000;
    await timers.pass(35 * MINUTE_MS, settled);
    expect(began).toHaveLength(2);
    await end('f');
    // The clock goes a week ahead: the feed runs once, not for each interval that passed.
    timers.nowMs = () => nowMs() + 7 * 86_400_000;
    await timers.pass(2 * MINUTE_MS, settled);
    expect(began).toHaveLength(3);
  });

  it('reports a corrected time for a feed that a clock years ahead had postponed, so that it is stored', () => {
    const { timers, scheduled, made } = scheduler();
    made.set(feed('f', 'a', timers.nowMs() + 365 * 86_400_000));
    expect(scheduled.get('f')).toBe(86_400_000);
    made.set(feed('kept', 'a', timers.nowMs() + 86_400_000));
    expect(scheduled.has('kept')).toBe(false);
  });

  it('starts nothing after a stop, which waits for the current run, and skips removed feeds', async () => {
    const { timers, began, made, end } = scheduler({ parallelMax: 1 });
    made.set(feed('f'));
    made.set(feed('g'));
    made.set(feed('h'));
    made.remove('g');
    let isStopped = false;
    const stopped = made.stop().then(() => (isStopped = true));
    await settled();
    expect(isStopped).toBe(false);
    await end('f');
    await stopped;
    await timers.pass(120 * MINUTE_MS, settled);
    expect(began).toEqual([['f', 0]]);
  });
});
