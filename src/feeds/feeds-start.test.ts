/** A service that is stopped while its feeds start: nothing of that continues after the stop. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { SimulatedTimers } from '../../test/support/simulated-timers.js';
import type { MediaStores } from '../media/index.js';
import { openEnvironment, ProgressBoard, SecretBox, systemClock, type LmdbEnvironment } from '../platform/index.js';
import { createMetrics } from '../platform/metrics.js';
import { createFeedMetrics } from './feed-metrics.js';
import { FeedStore } from './feed-store.js';
import { Feeds, type FeedsOptions } from './feeds.js';
import type { ListImporter } from './list-importer.js';
import { ListSources } from './list-sources.js';
import { SyncScheduler } from './runs/sync-scheduler.js';
import { SourceStore } from './source-store.js';
import type { FeedRow } from './types.js';
import { makeAccounts } from '../../test/support/made-accounts.js';

const FEEDS = 20;
let folder: string;
let environment: LmdbEnvironment;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-feeds-start-'));
  environment = openEnvironment(join(folder, 'system'), { kind: 'system' });
  await makeAccounts(environment, 'default');
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function feedsOf(store: FeedStore, media: MediaStores): Feeds {
  const common = { media, clock: systemClock, log: pino({ level: 'silent' }), timers: new SimulatedTimers() };
  const metrics = createFeedMetrics(createMetrics());
  // Nothing is imported and no source is read: no list has a source, and no feed gets to its run.
  const [importer, host] = [{} as ListImporter, {} as FeedsOptions['host']];
  const sources = new ListSources({
    ...common,
    store: new SourceStore(environment, systemClock),
    importer,
    checkSeconds: 60,
  });
  const feedsDir = join(folder, 'feeds');
  return new Feeds({
    ...common,
    store,
    sources,
    host,
    feedsDir,
    parallelMax: 1,
    runMsMax: 60_000,
    progress: new ProgressBoard(),
    metrics,
  });
}

/** Creates feeds with old files that must still be deleted. */
async function leavingFeeds(count: number): Promise<FeedStore> {
  const options = { clock: systemClock, feedsMax: FEEDS, plans: { admitFeed: () => undefined } };
  const store = new FeedStore(environment, new SecretBox({ path: join(folder, 'secret-keys'), given: [] }), options);
  for (let index = 0; index < count; index += 1) {
    const row = await store.create({
      account: 'default',
      name: `feed-${index}`,
      provider: { name: 'media-store', settings: { store: 'default', prefix: '' } } as never,
      media_store: 'default',
      interval_minutes: 60,
      secret: undefined,
    });
    await store.change(row.id, () => ({ leaving: 'before' }));
  }
  return store;
}

it('Stopping waits for the file that is being deleted, and leaves the others for the next start', async () => {
  const store = await leavingFeeds(FEEDS);
  let removed = 0;
  let answer = (): void => undefined;
  let isAsked = (): void => undefined;
  const asked = new Promise<void>((resolve) => (isAsked = resolve));
  const remove = () => {
    removed += 1;
    isAsked();
    return new Promise<never>((resolve) => {
      answer = () => {
        resolve(undefined as never);
      };
    });
  };
  const feeds = feedsOf(store, { open: () => ({ remove }) } as unknown as MediaStores);
  const started = feeds.start();
  await asked;
  let isStopped = false;
  const stopped = feeds.stop().then(() => (isStopped = true));
  // While the file is being deleted, its outcome is still to be stored.
  await new Promise((resolve) => setImmediate(resolve));
  expect(isStopped).toBe(false);
  answer();
  await stopped;
  await environment.close();
  await started;
  expect(removed).toBe(1);
});

it('The start continues with the other feeds if one is deleted meanwhile, and never schedules that one', async () => {
  const store = await leavingFeeds(4);
  const [first, second, third, fourth] = [...store.all()] as [FeedRow, FeedRow, FeedRow, FeedRow];
  // While the file of the first feed is deleted, another feed is; while that of the last one is, one that was ready is.
  const remove = async (path: string) => {
    if (path.includes('feed-0')) await store.delete(second);
    if (path.includes('feed-2')) await store.delete(third);
    if (path.includes('feed-3')) await store.delete(first);
  };
  const scheduled = vi.spyOn(SyncScheduler.prototype, 'setAll').mockImplementation(() => undefined);
  const feeds = feedsOf(store, { open: () => ({ remove }) } as unknown as MediaStores);
  await feeds.start();
  expect(scheduled.mock.calls.map(([set]) => set.map(({ id }) => id))).toEqual([[fourth.id]]);
  scheduled.mockRestore();
  await feeds.stop();
});
