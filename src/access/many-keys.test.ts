/**
 * The cost of a key does not depend on how many keys other accounts have, and expired keys do not count towards the
 * limit.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CollectionStore } from '../catalog/index.js';
import { openEnvironment, type LmdbEnvironment } from '../platform/index.js';
import { KEYS_PER_ACCOUNT_MAX, openAccess } from './access.js';
import { keyHash } from './key-secrets.js';
import type { Access, ApiKeyRecord, NewKey } from './types.js';
import { makeAccounts } from '../../test/support/made-accounts.js';

const NEW_KEY: NewKey = {
  account: 'default',
  name: 'website',
  scope: 'account',
  scope_target: null,
  region: 'eu',
  permissions: ['list:read'],
  expires_at: null,
};
const DAY_MS = 86_400_000;
const START = Date.parse('2026-11-21T00:00:00Z');

let folder: string;
let environment: LmdbEnvironment;
let nowMs = START;
const clock = { nowMs: () => nowMs, nowIso: () => new Date(nowMs).toISOString() };

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-keys-'));
  environment = openEnvironment(folder, { kind: 'system' });
  await makeAccounts(environment, 'default', 'other');
  nowMs = START;
});
afterEach(async () => {
  await environment.close();
  rmSync(folder, { recursive: true });
});

async function putKeys(count: number, of: (number: number) => Partial<ApiKeyRecord>): Promise<void> {
  const store = CollectionStore.of(environment);
  const keys = store.collection<ApiKeyRecord>('api-keys');
  await store.change((change) => {
    for (let number = 0; number < count; number += 1) {
      const id = `0-${String(number).padStart(6, '0')}`;
      const hash = keyHash(id);
      const key = { ...NEW_KEY, id, created_utc: clock.nowIso(), hash, last_four: 'abcd' };
      change.put(keys, id, Object.defineProperties(key, Object.getOwnPropertyDescriptors(of(number))));
    }
  });
}

const texts = (access: Access) => access.keys('default').map(({ expires_at }) => expires_at);

it('Keys of an account are created, listed and deleted without reading those of other accounts', async () => {
  let looks = 0;
  await putKeys(500, () => ({
    get account() {
      looks += 1;
      return 'other';
    },
  }));
  const access = await openAccess(environment, clock);
  looks = 0;
  const { record } = await access.createKey(NEW_KEY);
  expect(access.keyPage('default', { size: 10 }).entries).toEqual([record]);
  expect(await access.deleteKey('default', record.id)).toBe(true);
  await access.deleteKeysOf('default', 'list', 'films');
  await access.deleteKeysOfAccount('default');
  expect(looks).toBe(0);
  expect(access.keys('other')).toHaveLength(500);
});

it('An account with the most keys can create another one only if some expired more than a day ago', async () => {
  const expiry = new Date(START + 1000).toISOString();
  await putKeys(KEYS_PER_ACCOUNT_MAX, (number) => ({ expires_at: number < 3 ? expiry : null }));
  const access = await openAccess(environment, clock);
  await expect(access.createKey(NEW_KEY)).rejects.toMatchObject({
    code: 'conflict',
    detail:
      'The account already has 10000 keys, the most that it can have, and none of them expired more than a day ago. Delete a key first.',
  });
  // A key that has just expired may still be valid for a process whose clock is behind.
  nowMs = START + DAY_MS;
  await expect(access.createKey(NEW_KEY)).rejects.toMatchObject({ code: 'conflict' });
  nowMs = START + 1000 + DAY_MS;
  const { record, secret } = await access.createKey(NEW_KEY);
  expect(access.authenticate(secret).key).toEqual(record);
  expect(access.keys('default')).toHaveLength(KEYS_PER_ACCOUNT_MAX - 2);
  expect(new Set(texts(access))).toEqual(new Set([null]));
});

it('Thousands of keys of a deleted account are deleted in steps, so that other changes are not delayed', async () => {
  await putKeys(2500, () => ({}));
  const access = await openAccess(environment, clock);
  let isDeleted = false;
  const deleted = access.deleteKeysOfAccount('default').then(() => (isDeleted = true));
  await access.createKey({ ...NEW_KEY, account: 'other' });
  expect(isDeleted).toBe(false);
  await deleted;
  expect(access.keys('default')).toEqual([]);
  expect(access.keys('other')).toHaveLength(1);
});
