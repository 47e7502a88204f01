import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CollectionStore, openCatalog, type Catalog } from '../catalog/index.js';
import { openEnvironment, ServiceError, type Clock, type LmdbEnvironment } from '../platform/index.js';
import { ListStorage } from './list-storage.js';
import { offeredPlans } from './plan-settings.js';
import { Plans } from './plans.js';
import { RecordLedger } from './record-ledger.js';
import { SearchCounts } from './search-counts.js';
import { Subscriptions } from './subscriptions.js';

const ACCOUNTS = 10_000;
const RECORDS_MAX = 50;

let folder: string;
let environment: LmdbEnvironment;
let catalog: Catalog;
let nowMs: number;
let counts: Map<string, number>;
let asked: number;
const clock: Clock = { nowMs: () => nowMs, nowIso: () => new Date(nowMs).toISOString() };

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-plans-'));
  environment = openEnvironment(folder, { kind: 'system' });
  nowMs = Date.UTC(2026, 10, 23);
  counts = new Map();
  asked = 0;
  catalog = await openCatalog(environment, clock);
});
afterEach(async () => {
  await environment.close();
  rmSync(folder, { recursive: true, force: true });
});

const recordCount = (listId: string) => {
  asked += 1;
  return counts.get(listId);
};

function opened(offered: readonly string[]) {
  const subscriptions = new Subscriptions({ environment, plans: offeredPlans(offered), catalog, clock });
  const searches = new SearchCounts(environment, clock);
  const plans = new Plans({
    subscriptions,
    searches,
    ledger: new RecordLedger({ recordCount }, catalog),
    storage: new ListStorage((listId) => join(folder, listId)),
    upgradePercent: 90,
    log: pino({ level: 'silent' }),
  });
  return { plans, subscriptions, searches };
}

describe('plans of ten thousand accounts', () => {
  it('are separate: a commit of one account counts only its own records', async () => {
    const offered = [`small records=${RECORDS_MAX}`];
    const accounts = Array.from({ length: ACCOUNTS }, (_, i) => `account-${i}`);
    await catalog.adopt({
      accounts: accounts.map((name) => ({ name, region: 'eu', created_utc: clock.nowIso() })),
      lists: [],
    });
    const { subscriptions } = opened(offered);
    await CollectionStore.of(environment).change((change) => {
      for (const account of accounts) subscriptions.put(change, account, 'small');
    });

    const { plans } = opened(offered);
    for (const account of accounts) {
      counts.set(`list-of-${account}`, 0);
      plans.changed(account, `list-of-${account}`);
    }
    const take = async (account: string) => plans.take(`list-of-${account}`, RECORDS_MAX + 1);
    const taken = await Promise.all(accounts.map(take));
    expect(taken.every((each) => each?.recordsMax === RECORDS_MAX)).toBe(true);
    await Promise.all(taken.map(async (each) => each?.settle(false)));

    asked = 0;
    counts.set('list-of-account-77', RECORDS_MAX - 1);
    plans.changed('account-77', 'list-of-account-77');
    const one = await plans.take('list-of-account-77', 5);
    expect([one?.recordsMax, asked]).toEqual([1, 1]);
    expect(await one?.settle(true)).toBe(false);
    expect(one?.refusal()).toBeInstanceOf(ServiceError);
  });
});

describe('the searches of a month', () => {
  it('are stored, start again with the next month, and are deleted with the account', async () => {
    await catalog.createAccount('shop', 'eu');
    const before = opened([]);
    for (let i = 0; i < 7; i += 1) before.plans.searched('shop');
    await before.searches.write();
    before.plans.searched('shop');
    expect(before.searches.searches('shop')).toBe(8);
    // The last search was not stored.
    const after = opened([]);
    expect(after.searches.searches('shop')).toBe(7);
    after.plans.searched('shop');
    nowMs = Date.UTC(2026, 11, 1);
    expect(after.searches.searches('shop')).toBe(0);
    after.plans.searched('shop');
    await after.searches.write();
    expect(after.searches.searches('shop')).toBe(1);
    await after.plans.forget('shop');
    expect(opened([]).searches.searches('shop')).toBe(0);
  });

  it('follow a clock that is corrected by a year, but do not restart if it goes back by hours at the start of a month', async () => {
    await catalog.createAccount('shop', 'eu');
    nowMs = Date.UTC(2027, 10, 23);
    const { searches } = opened([]);
    searches.searched('shop');
    await searches.write();
    nowMs = Date.UTC(2026, 11, 1);
    expect(searches.searches('shop')).toBe(0);
    searches.searched('shop');
    nowMs -= 3_600_000;
    expect(searches.searches('shop')).toBe(1);
    nowMs = Date.UTC(2027, 0, 1);
    expect(searches.searches('shop')).toBe(0);
  });

  it('are kept if the clock was ten years ahead for a while', async () => {
    await catalog.createAccount('shop', 'eu');
    const monthMs = nowMs;
    const { searches } = opened([]);
    for (const [atMs, count] of [
      [monthMs, 5],
      [monthMs + 3_650 * 86_400_000, 2],
      [monthMs, 1],
    ] as const) {
      nowMs = atMs;
      for (let i = 0; i < count; i += 1) searches.searched('shop');
      await searches.write();
    }
    expect([searches.searches('shop'), opened([]).searches.searches('shop')]).toEqual([6, 6]);
  });

  it('are all counted if they come while counts are stored', async () => {
    for (const name of ['account-0', 'account-1', 'account-2']) await catalog.createAccount(name, 'eu');
    const { searches } = opened([]);
    const writes: Promise<void>[] = [];
    for (let i = 0; i < 200; i += 1) {
      searches.searched(`account-${i % 3}`);
      if (i % 20 === 0) {
        writes.push(
          writes.length === 0 ? searches.write() : (writes.at(-1) as Promise<void>).then(() => searches.write()),
        );
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    await Promise.all(writes);
    await searches.write();
    const kept = opened([]).searches;
    expect([0, 1, 2].map((i) => kept.searches(`account-${i}`))).toEqual([67, 67, 66]);
  });
});

describe('a plan that the settings do not offer any more', () => {
  it('has no limits, and is reported', async () => {
    await catalog.createAccount('shop', 'eu');
    await opened(['gone records=1']).subscriptions.set('shop', 'gone');
    const { plans, subscriptions } = opened([]);
    expect(subscriptions.unknownPlans).toEqual(['gone']);
    expect(subscriptions.troubles()).toMatchObject([{ kind: 'plan', name: 'gone' }]);
    counts.set('list', 5);
    plans.changed('shop', 'list');
    expect(plans.take('list', 1)).toBeUndefined();
    expect(subscriptions.of('shop').plan.name).toBe('gone');
  });
});
