/** Tests a hundred feeds that are due in the same second. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { FeedService, ok, type ShownFeed } from '../support/feeds/feed-service.js';
import { MadeSite } from '../support/feeds/made-site.js';

const FEEDS = 100;
const PARALLEL = 4;
let feeds: FeedService;
let site: MadeSite;
beforeAll(async () => {
  site = await MadeSite.start();
  const env = { GANNET_FEEDS_PARALLEL: String(PARALLEL), GANNET_LOG_LEVEL: 'warn' };
  feeds = await FeedService.start({ clock: 'jumping', env });
});
afterAll(async () => {
  await feeds.close();
  await site.close();
});

const names = Array.from({ length: FEEDS }, (_, number) => `feed${number}`);

async function allFeeds(): Promise<readonly ShownFeed[]> {
  return (ok(await feeds.client.get('/feed/default', { size: 1000 })) as { readonly feeds: readonly ShownFeed[] })
    .feeds;
}

const checkedBy = (count: number, before: ReadonlyMap<string, string | null> = new Map()) =>
  eventually(
    allFeeds,
    (all) =>
      all.filter(({ name, status, last_checked: at }) => status === 'Synced' && at !== null && at !== before.get(name))
        .length === count,
  );

/** Answers once PARALLEL requests are open together: on a busy machine the last of them may come late. */
function onceTogether(answer: () => void): void {
  if (site.server.underWayMax >= PARALLEL) answer();
  else setTimeout(() => onceTogether(answer), 5);
}

it('A hundred feeds that are due together are all synced, only a limited number at a time', async () => {
  let round = 1;
  for (const name of names)
    site.pages.set(`/${name}`, (_asked, response) => {
      const answer = () =>
        response.end(`<rss><channel><item><title>${name} in ${round}</title><guid>1</guid></item></channel></rss>`);
      // They are connected one after the other, and connecting reads each.
      if (round === 1) answer();
      else onceTogether(answer);
    });
  for (const name of names)
    ok(
      await feeds.control.post('/feed/default/connect', {
        name,
        provider: 'rss',
        settings: { url: site.url(`/${name}`) },
      }),
    );
  const first = await checkedBy(FEEDS);
  site.server.underWayMax = 0;
  site.asked();
  round = 2;
  const before = new Map(first.map(({ name, last_checked: at }) => [name, at]));
  // All are due a day later, without a request: the scheduler looks once a minute, and whenever an interval is set.
  feeds.service.jumpADay();
  await eventually(
    async () => {
      ok(await feeds.client.put(`/feed/default/${names[0]}/interval`, { interval_minutes: 30 }));
      return site.server.asked.length;
    },
    (count) => count > 0,
  );
  const second = await checkedBy(FEEDS, before);
  expect(second.every(({ last_run: run }) => run?.changed === 1)).toBe(true);
  expect(site.server.underWayMax).toBe(PARALLEL);
  // Each was read exactly once.
  expect(site.asked().sort()).toEqual(names.map((name) => `/${name}`).sort());
});

it('A hundred feeds of one account share their turns with a feed of another account', async () => {
  ok(await feeds.control.post('/account', { name: 'small' }));
  for (const path of [...names.map((name) => `/${name}`), '/small'])
    site.pages.set(path, (_asked, response) =>
      response.end('<rss><channel><item><guid>1</guid><title>Again</title></item></channel></rss>'),
    );
  const settings = { url: site.url('/small') };
  ok(await feeds.control.post('/feed/small/connect', { name: 'small', provider: 'rss', settings }));
  const shown = async () => ok(await feeds.control.get('/feed/small/small')) as ShownFeed;
  const first = await eventually(shown, ({ status }) => status === 'Synced');
  const before = new Map((await allFeeds()).map(({ name, last_checked: at }) => [name, at]));
  site.asked();
  feeds.service.jumpADay();
  await eventually(
    async () => {
      ok(await feeds.client.put(`/feed/default/${names[0]}/interval`, { interval_minutes: 30 }));
      return site.server.asked.length;
    },
    (count) => count > 0,
  );
  await eventually(shown, ({ status, last_checked: at }) => status === 'Synced' && at !== first.last_checked);
  await checkedBy(FEEDS, before);
  const asked = site.asked();
  // A hundred others are due with it; it is among the first that there is room for, or the next ones.
  expect(asked.filter((path) => path === '/small')).toHaveLength(1);
  expect(asked.indexOf('/small')).toBeLessThan(2 * PARALLEL);
  expect(asked).toHaveLength(FEEDS + 1);
});
