/**
 * Tests feeds that move to another media store while the service is killed: feed and list stay together, and the file
 * is in one store.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CollectionStore } from '../../src/catalog/index.js';
import type { SourceRow } from '../../src/feeds/types.js';
import { openEnvironment } from '../../src/platform/index.js';
import { FeedService, fill, ok, siteOf } from '../support/feeds/feed-service.js';
import type { MadeSite } from '../support/feeds/made-site.js';
import { SeededRandom } from '../support/random.js';

const KILLS = Number(process.env['GANNET_FEED_MOVE_KILLS'] ?? 4);
const SEED = Number(process.env['GANNET_KILL_SEED'] ?? 1);
/** The time from the request to the end of everything that follows it, on an idle machine. */
const KILL_AFTER_MS_MAX = 60;

const random = new SeededRandom(SEED);
const folder = mkdtempSync(join(tmpdir(), 'gannet-feeds-move-'));
let feeds: FeedService;
let site: MadeSite;
beforeAll(async () => {
  site = await siteOf('a', 'b');
  feeds = await FeedService.start({ env: { GANNET_MEDIA_FOLDERS: folder, GANNET_LOG_LEVEL: 'warn' } });
  mkdirSync(join(folder, 'archive'));
  const store = { name: 'archive', kind: 'folder', folder: join(folder, 'archive') };
  ok(await feeds.control.post('/media-store/default', store));
  await feeds.connect('news', site);
  await feeds.list('news-list');
  ok(await feeds.client.post('/list/default/news-list/feed', { feed: 'news' }));
  await feeds.settled('news');
});
afterAll(async () => {
  await feeds.service.stop('SIGKILL');
  await feeds.close();
  await site.close();
  rmSync(folder, { recursive: true, force: true });
});

const storeOf = async (what: 'feed' | 'list') =>
  what === 'feed' ? (await feeds.feed('news')).media_store : (await feeds.source('news-list')).media_store;

/** Checks that the list has what the site has after the next sync, each page once. */
async function follows(...names: readonly string[]): Promise<void> {
  fill(site, names);
  expect(await feeds.sync('news')).toMatchObject({ status: 'Synced' });
  await feeds.holds(
    'news-list',
    ['/', ...names.map((name) => `/${name}`)].map((path) => site.url(path)),
  );
}

it('The list is switched to the moved file, if an earlier version was killed before it did that', async () => {
  ok(await feeds.control.post('/feed/default/news/move', { media_store: 'archive' }));
  await feeds.settled('news');
  await feeds.service.stop();
  const environment = openEnvironment(join(feeds.service.dataDir, 'system'), { kind: 'system' });
  const collections = CollectionStore.of(environment);
  const rows = collections.collection<SourceRow>('list-sources');
  await collections.change((change) => {
    for (const row of rows.values()) change.put(rows, row.list_id, { ...row, media_store: 'default' });
  });
  await environment.close();
  await feeds.service.start();
  await feeds.settled('news');
  await follows('a', 'c');
  expect([await storeOf('feed'), await storeOf('list')]).toEqual(['archive', 'archive']);
});

it(
  `Feed, list and file are in the same store after each of ${KILLS} kills during a move`,
  async () => {
    for (let round = 1; round <= KILLS; round += 1) {
      await feeds.settled('news');
      const [from, to] = (await storeOf('feed')) === 'default' ? ['default', 'archive'] : ['archive', 'default'];
      const asked = feeds.control.post('/feed/default/news/move', { media_store: to }).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, random.below(KILL_AFTER_MS_MAX)));
      await feeds.service.stop('SIGKILL');
      await asked;
      await feeds.service.start();
      expect(await storeOf('list')).toBe(await storeOf('feed'));
      await feeds.settled('news');
      // Whichever store it is: the other one is cleaned up without another request to move.
      const other = (await storeOf('feed')) === from ? to : from;
      await expect.poll(async () => (await feeds.file('news', other)).status).toBe(404);
      // A repeated move completes, wherever it was interrupted before.
      ok(await feeds.control.post('/feed/default/news/move', { media_store: to }));
      await feeds.settled('news');
      expect([await storeOf('feed'), await storeOf('list')]).toEqual([to, to]);
      await follows('a', `r${round}`);
      expect([(await feeds.file('news', from)).status, (await feeds.file('news', to)).status]).toEqual([404, 200]);
    }
  },
  240_000 + KILLS * 60_000,
);
