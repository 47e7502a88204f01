/** Thousands of feeds, some of them with long settings. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { makeAccounts } from '../../test/support/made-accounts.js';
import { CollectionStore } from '../catalog/index.js';
import { openEnvironment, SecretBox, systemClock, type LmdbEnvironment } from '../platform/index.js';
import { systemTimers } from '../platform/work/index.js';
import { ListSources, type ListSourcesOptions } from './list-sources.js';
import { SourceStore } from './source-store.js';
import { FeedStore } from './feed-store.js';
import { Feeds, type FeedsOptions } from './feeds.js';
import { NEW_FEED } from './runs/feed-state.js';
import type { FeedRow } from './types.js';

let folder: string;
let environment: LmdbEnvironment;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-feeds-'));
  environment = openEnvironment(join(folder, 'system'), { kind: 'system' });
});
afterEach(async () => {
  await environment.close();
  rmSync(folder, { recursive: true });
});

const rowOf = (account: string, number: number, prefix: string): FeedRow => ({
  id: `${account}-${number}`,
  account,
  name: `feed-${String(number).padStart(4, '0')}`,
  provider: { name: 'media-store', settings: { store: 'default', prefix, include: [] } },
  media_store: 'default',
  leaving: null,
  interval_minutes: 30,
  secret: null,
  state: NEW_FEED,
  next_sync: null,
  created_utc: systemClock.nowIso(),
});

async function storeOf(rows: readonly FeedRow[]): Promise<FeedStore> {
  const store = CollectionStore.of(environment);
  const collection = store.collection<FeedRow>('feeds');
  await store.change((change) => {
    for (const row of rows) change.put(collection, `${row.account}/${row.name}`, row);
  });
  const secrets = new SecretBox({ path: join(folder, 'secret-keys'), given: [] });
  const plans = { admitFeed: () => undefined };
  return new FeedStore(environment, secrets, { clock: systemClock, feedsMax: 2000, plans });
}

it('Pages of feeds end before they become too long', async () => {
  const store = await storeOf(Array.from({ length: 40 }, (_, number) => rowOf('default', number, 'x'.repeat(400_000))));
  const feeds = new Feeds({ store, timers: systemTimers, parallelMax: 1 } as unknown as FeedsOptions);
  const first = feeds.page('default', { size: 1000 });
  expect([first.entries.length, first.next]).toEqual([19, 'feed-0018']);
  const told = [...first.entries];
  for (let { next } = first; next !== undefined;) {
    const page = feeds.page('default', { size: 1000, after: next });
    told.push(...page.entries);
    next = page.next;
  }
  expect(told.map(({ name }) => name)).toEqual(Array.from(store.of('default'), ({ name }) => name));
});

it('Feeds are counted and found by account without reading those of other accounts', async () => {
  let looks = 0;
  const others = Array.from({ length: 500 }, (_, number) => {
    const row = rowOf('other', number, '');
    return Object.defineProperty({ ...row }, 'account', {
      enumerable: true,
      get: () => {
        looks += 1;
        return 'other';
      },
    });
  });
  const store = await storeOf([...others, rowOf('default', 1, '')]);
  const feeds = new Feeds({ store, timers: systemTimers, parallelMax: 1 } as unknown as FeedsOptions);
  looks = 0;
  expect([store.count('default'), store.count('other')]).toEqual([1, 500]);
  expect(feeds.usersOf('default', 'default')).toEqual(["the feed 'feed-0001'"]);
  expect(feeds.page('default', { size: 10 }).entries).toHaveLength(1);
  expect(looks).toBe(0);
});

it('Feeds of a deleted account are deleted in steps of five hundred, with one that is created meanwhile', async () => {
  const rows = ['default', 'other'].flatMap((account) =>
    Array.from({ length: 1200 }, (_, number) => rowOf(account, number, '')),
  );
  const store = await storeOf(rows);
  await makeAccounts(environment, 'default', 'other');
  const sourceStore = new SourceStore(environment, systemClock);
  for (const [list_id, account] of [
    ['first', 'default'],
    ['second', 'default'],
    ['third', 'other'],
  ] as const) {
    const file = { media_store: 'default', path: 'a.csv', keep_in_sync: true };
    await sourceStore.create({ list_id, account, list: list_id, feed: null, ...file });
  }
  const importer = { forget: () => Promise.resolve() };
  const sources = new ListSources({ store: sourceStore, importer } as unknown as ListSourcesOptions);
  const options = { store, sources, feedsDir: join(folder, 'feeds'), timers: systemTimers, parallelMax: 1 };
  const feeds = new Feeds(options as unknown as FeedsOptions);
  const steps = vi.spyOn(environment, 'transaction');
  // A feed whose source was being tested when the account was deleted.
  const { provider, media_store, interval_minutes } = rowOf('default', 0, '');
  const late = store.create({
    account: 'default',
    name: 'late',
    provider,
    media_store,
    interval_minutes,
    secret: undefined,
  });
  await Promise.all([late, feeds.forgetAccount('default')]);
  // One step is for that feed, three for the others, and one for the sources.
  expect(steps.mock.calls.length).toBeLessThanOrEqual(6);
  expect(sourceStore.all().map(({ list_id }) => list_id)).toEqual(['third']);
  expect([store.count('default'), store.count('other')]).toEqual([0, 1200]);
  expect([...store.all()].every(({ account }) => account === 'other')).toBe(true);
});
