/** The time of the last use of a key is known to the hour, through restarts, and needs no write for each request. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openEnvironment, type LmdbEnvironment } from '../platform/index.js';
import { openAccess } from './access.js';
import { USES_STORED_MS } from './key-uses.js';
import type { Access, NewKey } from './types.js';
import { makeAccounts } from '../../test/support/made-accounts.js';

const NEW_KEY: NewKey = {
  account: 'default',
  name: 'website',
  scope: 'account',
  scope_target: null,
  region: 'eu',
  permissions: [],
  expires_at: null,
};
const HOUR_MS = 3_600_000;
const START = Date.parse('2026-11-27T08:30:00Z');

let folder: string;
let nowMs: number;
let environment: LmdbEnvironment;
let transactions: number;
/** The actions that are scheduled. */
let later: { readonly ms: number; readonly action: () => void }[];
const clock = { nowMs: () => nowMs, nowIso: () => new Date(nowMs).toISOString() };
const timers = {
  nowMs: () => nowMs,
  after: (ms: number, action: () => void) => {
    const entry = { ms, action };
    later.push(entry);
    return () => void (later = later.filter((each) => each !== entry));
  },
};

beforeEach(async () => {
  nowMs = START;
  later = [];
  folder = mkdtempSync(join(tmpdir(), 'gannet-key-uses-'));
  environment = counted(openEnvironment(folder, { kind: 'system' }));
  await makeAccounts(environment, 'default');
});
afterEach(async () => {
  await environment.close();
  rmSync(folder, { recursive: true });
});

function counted(opened: LmdbEnvironment, fault: { error?: Error } = {}): LmdbEnvironment {
  transactions = 0;
  return {
    root: opened.root,
    database: (name, options) => opened.database(name, options),
    transaction: (action) => {
      transactions += 1;
      return fault.error === undefined ? opened.transaction(action) : Promise.reject(fault.error);
    },
    close: () => opened.close(),
  };
}

const open = () => openAccess(environment, clock, timers);
const usesOf = (access: Access) => access.keys('default').map((key) => access.uses.lastUsedUtc(key));

/** Opens the store again, as in a new process, whether the one before was stopped or killed. */
async function openAgain(fault?: { error?: Error }): Promise<Access> {
  await environment.close();
  environment = counted(openEnvironment(folder, { kind: 'system' }), fault);
  return open();
}

async function minutesPass(): Promise<void> {
  const [{ ms, action } = { ms: 0, action: () => undefined }] = later.splice(0, 1);
  nowMs += ms;
  action();
  await Promise.resolve();
}

it('An API key shows the hour of its last use, or since when uses are counted', async () => {
  const access = await open();
  const { record, secret } = await access.createKey(NEW_KEY);
  expect([access.uses.lastUsedUtc(record), access.uses.countedSinceUtc(record)]).toEqual([null, record.created_utc]);
  access.authenticate(secret);
  expect(access.uses.lastUsedUtc(record)).toBe('2026-11-27T08:00:00.000Z');
  nowMs += HOUR_MS;
  access.authenticate(secret);
  expect(access.uses.lastUsedUtc(record)).toBe('2026-11-27T09:00:00.000Z');
  expect(() => access.authenticate(`${secret.slice(0, -1)}!`)).toThrow('X-API-Key');
  await access.uses.close();
});

it('A key from a release that counted no uses is not shown as never used', async () => {
  const before = await open();
  const { record } = await before.createKey(NEW_KEY);
  nowMs += 90 * 24 * HOUR_MS;
  const access = await openAgain();
  expect(access.uses.countedSinceUtc(record)).toBe(clock.nowIso());
  const { secret } = await access.createKey(NEW_KEY);
  access.authenticate(secret);
  await access.uses.close();
  const since = clock.nowIso();
  nowMs += 24 * HOUR_MS;
  expect((await openAgain()).uses.countedSinceUtc(record)).toBe(since);
});

it('Thousands of requests with thousands of keys need a few transactions an hour', async () => {
  const access = await open();
  const secrets = await Promise.all(Array.from({ length: 1500 }, async () => (await access.createKey(NEW_KEY)).secret));
  transactions = 0;
  for (let turn = 0; turn < 4; turn += 1) for (const secret of secrets) access.authenticate(secret);
  expect([transactions, later.map(({ ms }) => ms)]).toEqual([0, [USES_STORED_MS]]);
  await minutesPass();
  await access.uses.store();
  expect(transactions).toBe(2);
  for (const secret of secrets) access.authenticate(secret);
  await access.uses.store();
  expect([transactions, later]).toEqual([2, []]);
  const again = await openAgain();
  expect(new Set(usesOf(again))).toEqual(new Set(['2026-11-27T08:00:00.000Z']));
});

it('Uses are stored when the service stops, and a killed service loses only the last minutes', async () => {
  const access = await open();
  const { secret } = await access.createKey(NEW_KEY);
  access.authenticate(secret);
  await access.uses.close();
  nowMs += HOUR_MS;
  const second = await openAgain();
  second.authenticate(secret);
  expect(usesOf(second)).toEqual(['2026-11-27T09:00:00.000Z']);
  expect(usesOf(await openAgain())).toEqual(['2026-11-27T08:00:00.000Z']);
});

it('A disk that cannot be written refuses no request, and storing uses is retried', async () => {
  const { secret } = await (await open()).createKey(NEW_KEY);
  const fault: { error?: Error } = { error: new Error('there is no room') };
  const access = await openAgain(fault);
  access.authenticate(secret);
  await minutesPass();
  await expect(access.uses.store()).rejects.toThrow('no room');
  await expect.poll(() => later.length).toBe(1);
  delete fault.error;
  await minutesPass();
  await access.uses.store();
  expect(usesOf(await openAgain())).toEqual(['2026-11-27T08:00:00.000Z']);
});

it('The last use of a key is deleted with the key', async () => {
  const access = await open();
  const { record, secret } = await access.createKey(NEW_KEY);
  access.authenticate(secret);
  await access.uses.store();
  await access.deleteKey('default', record.id);
  await access.uses.close();
  const names = Array.from(environment.database('key-uses').getKeys(), String);
  expect(names).toEqual(['counted-since']);
});
