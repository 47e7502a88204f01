/** Tests that a feed that has failed is synced again by its schedule, without a request. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { FeedService, fill, ok, siteOf } from '../support/feeds/feed-service.js';
import { FollowedFeed } from '../support/feeds/followed-feed.js';
import type { MadeSite } from '../support/feeds/made-site.js';

const MINUTE_MS = 60_000;
let feeds: FeedService;
let made: MadeSite;
beforeAll(async () => {
  made = await siteOf('a', 'b');
  feeds = await FeedService.start({ clock: 'jumping' });
});
afterAll(async () => {
  await feeds.close();
  await made.close();
});

it('A failed feed is retried on its usual schedule, and recovers when its source does', async () => {
  const settings = { start_urls: [made.url('/')] };
  const options = { provider: 'website', settings, base: made.url('') };
  const feed = await FollowedFeed.connect(feeds, 'scheduled', options);
  const before = (await feed.now()).records;
  /** It is due a day later; the scheduler looks once a minute, and whenever an interval is set. */
  const due = async (last: string | null) => {
    feeds.service.jumpADay();
    return eventually(
      async () => {
        ok(await feeds.client.put('/feed/default/scheduled/interval', { interval_minutes: 30 }));
        return feeds.feed('scheduled');
      },
      // The time of the next sync is written by itself, after the outcome of the run.
      ({ status, last_checked: at, next_sync: next }) =>
        status !== 'Syncing' && at !== last && (next ?? '') > (at ?? ''),
    );
  };
  const good = await feeds.settled('scheduled');
  for (const path of made.pages.keys()) made.pages.set(path, (_asked, response) => response.writeHead(500).end());
  let last = good;
  for (let round = 0; round < 2; round += 1) {
    const failed = await due(last.last_checked);
    expect(failed).toMatchObject({ status: 'Failed', last_synced: good.last_synced, record_count: 3 });
    expect(failed.error?.at).toBe(failed.last_checked);
    const waitMs = Date.parse(failed.next_sync ?? '') - Date.parse(failed.last_checked ?? '');
    expect(waitMs).toBeGreaterThan(29 * MINUTE_MS);
    expect(waitMs).toBeLessThan(60 * MINUTE_MS);
    last = failed;
  }
  expect((await feed.now()).records).toEqual(before);
  fill(made, ['a', 'c']);
  expect(await due(last.last_checked)).toMatchObject({ status: 'Synced', error: null });
  expect((await feed.now()).names).toEqual(['/', '/a', '/c']);
});
