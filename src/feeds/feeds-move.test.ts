/**
 * Feeds whose move to another media store is interrupted, or whose store is out of reach: the file is in the feed's
 * store, and in no other.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it, vi, type MockInstance } from 'vitest';
import { makeAccounts } from '../../test/support/made-accounts.js';
import { SimulatedTimers } from '../../test/support/simulated-timers.js';
import { STORE_UNAVAILABLE, type MediaStores } from '../media/index.js';
import {
  openEnvironment,
  ProgressBoard,
  SecretBox,
  ServiceError,
  systemClock,
  type LmdbEnvironment,
} from '../platform/index.js';
import { createMetrics } from '../platform/metrics.js';
import { createFeedMetrics } from './feed-metrics.js';
import { FeedStore } from './feed-store.js';
import { Feeds, type FeedsOptions } from './feeds.js';
import type { ListImporter } from './list-importer.js';
import { ListSources } from './list-sources.js';
import { SyncScheduler } from './runs/sync-scheduler.js';
import { SourceStore } from './source-store.js';
import type { FeedRow } from './types.js';

const FILE = 'feeds/news.sync';
let folder: string;
let environment: LmdbEnvironment;
/** `<store> <path>` of each file. */
let files: Set<string>;
let scheduled: MockInstance<SyncScheduler['setAll']>;
/** Media stores that were deleted. */
let gone: Set<string>;
/** Media stores that do not answer. */
let silent: Set<string>;
/** Called between writing the file into the other store and the answer to that. */
let whenPut: () => Promise<void>;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-feeds-move-'));
  environment = openEnvironment(join(folder, 'system'), { kind: 'system' });
  await makeAccounts(environment, 'default');
  files = new Set([`default ${FILE}`]);
  gone = new Set();
  silent = new Set();
  scheduled = vi.spyOn(SyncScheduler.prototype, 'setAll').mockImplementation(() => undefined);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await environment.close();
  rmSync(folder, { recursive: true, force: true });
});

function mediaStore(name: string) {
  const file = { etag: 'as-it-is' };
  const pieces = () => [Buffer.from('{"format":1}\n')];
  return {
    stat: (path: string) => Promise.resolve(files.has(`${name} ${path}`) ? file : undefined),
    open: () => Promise.resolve({ file, pieces, close: () => Promise.resolve() }),
    put: async ({ path, body }: { readonly path: string; readonly body: AsyncIterable<Uint8Array> }) => {
      for await (const piece of body) expect(piece.length).toBeGreaterThan(0);
      files.add(`${name} ${path}`);
      await whenPut();
      return { file };
    },
    list: () => Promise.reject(outOfReach()),
    remove: (path: string) =>
      silent.has(name) ? Promise.reject(outOfReach()) : Promise.resolve(files.delete(`${name} ${path}`)),
  };
}

const outOfReach = () => new ServiceError(STORE_UNAVAILABLE, 'The media store does not answer.');

/** Opens the feeds as a start does, from what is stored. */
function opened(): { readonly store: FeedStore; readonly feeds: Feeds } {
  const row = (_account: string, name: string) => {
    if (gone.has(name)) throw new Error(`there is no media store ${name}`);
  };
  const media = { row, open: (_account: string, name: string) => mediaStore(name) } as unknown as MediaStores;
  const common = { media, clock: systemClock, log: pino({ level: 'silent' }), timers: new SimulatedTimers() };
  const secrets = new SecretBox({ path: join(folder, 'secret-keys'), given: [] });
  const plans = { admitFeed: () => undefined };
  const store = new FeedStore(environment, secrets, { clock: systemClock, feedsMax: 9, plans });
  // Nothing is imported and no source is read.
  const [importer, host] = [{} as ListImporter, {} as FeedsOptions['host']];
  const rows = new SourceStore(environment, systemClock);
  const sources = new ListSources({ ...common, store: rows, importer, checkSeconds: 60 });
  const [metrics, progress] = [createFeedMetrics(createMetrics()), new ProgressBoard()];
  const feedsDir = join(folder, 'feeds');
  return {
    store,
    feeds: new Feeds({
      ...common,
      store,
      sources,
      host,
      feedsDir,
      parallelMax: 1,
      runMsMax: 60_000,
      progress,
      metrics,
    }),
  };
}

const RSS = { name: 'rss', settings: { url: 'http://127.0.0.1/' } } as FeedRow['provider'];

function news(store: FeedStore, provider = RSS): Promise<FeedRow> {
  const given = { account: 'default', name: 'news', provider, media_store: 'default', interval_minutes: 60 };
  return store.create({ ...given, secret: undefined });
}

it('The next start deletes the file in a store to which the feed was not moved after all', async () => {
  const { store, feeds } = opened();
  const row = await news(store);
  await new Promise<void>((resolve) => {
    // The answer never comes, because the service has ended.
    whenPut = () => new Promise(() => resolve());
    void feeds.move(row, 'archive');
  });
  expect(files).toEqual(new Set([`default ${FILE}`, `archive ${FILE}`]));
  const next = opened();
  await next.feeds.start();
  expect(next.store.get(row.id)).toMatchObject({ media_store: 'default', leaving: null });
  expect(files).toEqual(new Set([`default ${FILE}`]));
  await next.feeds.stop();
});

it('Deleting a feed during its move deletes its file in the new store', async () => {
  const { store, feeds } = opened();
  const row = await news(store);
  let deleted: Promise<void> | undefined;
  whenPut = () => {
    deleted = feeds.delete(row);
    return Promise.resolve();
  };
  await feeds.move(row, 'archive');
  await deleted;
  expect(store.get(row.id)).toBeUndefined();
  expect(files).toEqual(new Set());
});

it('The file in the new store is deleted at once if the account is deleted during the move', async () => {
  const { store, feeds } = opened();
  const row = await news(store);
  whenPut = () => store.delete(row);
  await expect(feeds.move(row, 'archive')).rejects.toThrow('has no feed');
  expect(files).toEqual(new Set([`default ${FILE}`]));
});

it('A feed is not moved to a store that was deleted during the move', async () => {
  const { store, feeds } = opened();
  const row = await news(store);
  whenPut = () => Promise.resolve(void gone.add('archive'));
  await expect(feeds.move(row, 'archive')).rejects.toThrow('there is no media store archive');
  expect(store.get(row.id)).toMatchObject({ media_store: 'default', leaving: null });
  expect(files).toEqual(new Set([`default ${FILE}`]));
});

it('A feed that is being deleted starts no run when its interval is changed', async () => {
  const { store, feeds } = opened();
  const row = await news(store);
  await feeds.start();
  expect(scheduled.mock.calls).toHaveLength(1);
  const deleted = feeds.delete(row);
  await feeds.setInterval(row, 120);
  await deleted;
  expect(scheduled.mock.calls.slice(1).flat(2)).toEqual([]);
  await feeds.stop();
});

it('The file is deleted at once from a store that did not confirm it', async () => {
  const { store, feeds } = opened();
  const row = await news(store);
  whenPut = () => Promise.reject(new Error('no answer came'));
  await expect(feeds.move(row, 'archive')).rejects.toThrow('no answer came');
  expect(store.get(row.id)).toMatchObject({ media_store: 'default', leaving: null });
  expect(files).toEqual(new Set([`default ${FILE}`]));
});

it('A feed of a mailbox is deleted although its store, which keeps its files, is out of reach', async () => {
  const { store, feeds } = opened();
  const row = await news(store, { name: 'email', settings: {} } as FeedRow['provider']);
  silent.add('default');
  await feeds.delete(row);
  expect(store.get(row.id)).toBeUndefined();
  expect(files).toEqual(new Set([`default ${FILE}`]));
});
