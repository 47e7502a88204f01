/** Deferrable work gives way to searches, but never for long. */
import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { GiveWay, Rests, SearchActivity } from './search-activity.js';

const FOR_EVER_MS = 3_600_000;

/** Records which of them have continued, in order. */
function waiting(giveWay: GiveWay, names: readonly string[]) {
  const went: string[] = [];
  const all = Promise.all(names.map((name) => giveWay.wait().then(() => went.push(name))));
  return { went, all };
}

describe('deferrable work', () => {
  it('continues at once and returns false if no search has run', async () => {
    const { shared } = new SearchActivity();
    expect(await new GiveWay(shared, { msMax: FOR_EVER_MS, quietMs: FOR_EVER_MS }).wait()).toBe(false);
  });

  it('waits until the last search has ended', async () => {
    const activity = new SearchActivity();
    const giveWay = new GiveWay(activity.shared, { msMax: FOR_EVER_MS });
    activity.begin();
    activity.begin();
    const { went, all } = waiting(giveWay, ['page']);
    activity.end();
    await setImmediate();
    expect(went).toEqual([]);
    activity.end();
    await all;
  });

  it.each([
    ['a pause', {}, 10],
    ['as long a one as is asked for', { quietMs: 25 }, 25],
  ])('waits for %s after a search that has come and gone', async (_, options, ms) => {
    const activity = new SearchActivity();
    const giveWay = new GiveWay(activity.shared, { msMax: FOR_EVER_MS, ...options });
    activity.begin();
    activity.end();
    const startedMs = performance.now();
    expect(await giveWay.wait()).toBe(true);
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(ms);
  });

  it('reports for some time that there was a search, whether or not it had to wait', async () => {
    const activity = new SearchActivity();
    const always = new GiveWay(activity.shared, { msMax: FOR_EVER_MS, quietMs: 0, recentMs: FOR_EVER_MS });
    const shortly = new GiveWay(activity.shared, { msMax: FOR_EVER_MS, quietMs: 0, recentMs: 0 });
    activity.begin();
    activity.end();
    for (let piece = 0; piece < 3; piece += 1)
      expect([await always.wait(), await shortly.wait()]).toEqual([true, false]);
  });

  it('continues piece by piece, however busy searches are', async () => {
    const activity = new SearchActivity();
    activity.begin();
    const { went, all } = waiting(new GiveWay(activity.shared, { msMax: 5 }), ['first', 'second', 'third']);
    await all;
    expect(went).toEqual(['first', 'second', 'third']);
  });

  it('waits once for several small pieces', async () => {
    const activity = new SearchActivity();
    activity.begin();
    const giveWay = new GiveWay(activity.shared, { msMax: FOR_EVER_MS });
    for (let part = 0; part < 3; part += 1) expect(await giveWay.wait(0.25)).toBe(false);
    let went = false;
    const fourth = giveWay.wait(0.25).finally(() => {
      went = true;
    });
    await setImmediate();
    expect(went).toBe(false);
    activity.end();
    expect(await fourth).toBe(true);
  });
});

describe('work that rests between its steps', () => {
  it('continues at once if no search is running', () => {
    const rest = new Rests(new SearchActivity().shared, FOR_EVER_MS).ofOnePiece();
    rest();
    rest();
  });

  it('sleeps until the last search has ended', async () => {
    const activity = new SearchActivity();
    activity.begin();
    // This thread is the one that sleeps, so another one ends the search.
    const program = "Atomics.sub(new Int32Array(require('node:worker_threads').workerData), 0, 1)";
    const ending = new Worker(program, { eval: true, workerData: activity.shared });
    new Rests(activity.shared, FOR_EVER_MS).ofOnePiece()();
    expect(Atomics.load(new Int32Array(activity.shared), 0)).toBe(0);
    await once(ending, 'exit');
  });

  it('sleeps for its limit per piece and no longer, however many steps it has and however busy searches are', () => {
    const activity = new SearchActivity();
    activity.begin();
    const rests = new Rests(activity.shared, 20);
    for (const rest of [rests.ofOnePiece(), rests.ofOnePiece()]) {
      const begunMs = performance.now();
      rest();
      const tookMs = performance.now() - begunMs;
      expect(tookMs).toBeGreaterThanOrEqual(20);
    }
    const rest = new Rests(activity.shared, 1).ofOnePiece();
    for (let step = 0; step < 1_000_000; step += 1) rest();
  });
});
