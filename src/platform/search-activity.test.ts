/** What can wait gives way to searches, and never for long. */
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { GiveWay, SearchActivity } from './search-activity.js';

const FOR_EVER_MS = 3_600_000;

/** Says which of them have gone on, in order. */
function waiting(giveWay: GiveWay, names: readonly string[]) {
  const went: string[] = [];
  const all = Promise.all(names.map((name) => giveWay.wait().then(() => went.push(name))));
  return { went, all };
}

describe('work that can wait', () => {
  it('goes on at once where no search is at work', async () => {
    await new GiveWay(new SearchActivity().shared, FOR_EVER_MS).wait();
  });

  it('waits until the last search is done', async () => {
    const activity = new SearchActivity();
    const giveWay = new GiveWay(activity.shared, FOR_EVER_MS);
    activity.begin();
    activity.begin();
    const { went, all } = waiting(giveWay, ['page']);
    activity.end();
    await setImmediate();
    expect(went).toEqual([]);
    activity.end();
    await all;
  });

  it('goes on piece by piece, however busy searches are', async () => {
    const activity = new SearchActivity();
    activity.begin();
    const { went, all } = waiting(new GiveWay(activity.shared, 5), ['first', 'second', 'third']);
    await all;
    expect(went).toEqual(['first', 'second', 'third']);
  });
});
