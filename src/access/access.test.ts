import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openCatalog } from '../catalog/index.js';
import { openEnvironment, type LmdbEnvironment } from '../platform/index.js';
import { openAccess } from './access.js';
import type { Access, NewKey } from './types.js';
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

let folder: string;
let environment: LmdbEnvironment;
let access: Access;
const clock = {
  ms: Date.parse('2026-11-21T00:00:00Z'),
  nowMs: () => clock.ms,
  nowIso: () => new Date(clock.ms).toISOString(),
};

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-access-'));
  environment = openEnvironment(folder, { kind: 'system' });
  await makeAccounts(environment, 'default', 'other');
  access = await openAccess(environment, clock);
});

afterEach(async () => {
  await environment.close();
  rmSync(folder, { recursive: true });
});

describe('keys', () => {
  it('have the name that is stored from the first answer on, also if it was cut within a character', async () => {
    const { record } = await access.createKey({ ...NEW_KEY, name: 'cut \ud83d' });
    expect(record.name).toBe('cut \ufffd');
    expect(access.keys('default')).toEqual([record]);
  });

  it('authenticate by their text, and are valid for their account', async () => {
    const { record, secret } = await access.createKey(NEW_KEY);
    expect(secret).toMatch(/^gnt_eu_[A-Za-z0-9_-]{43}$/);
    expect(record.last_four).toBe(secret.slice(-4));
    const caller = access.authenticate(secret);
    expect(caller).toMatchObject({ kind: 'key', account: 'default', key: record });
    expect(caller.can('list:read')).toBe(true);
    expect(caller.can('list:update')).toBe(false);
  });

  it('are refused with the same answer when missing, unknown, nearly right, expired or deleted', async () => {
    const { record, secret } = await access.createKey({ ...NEW_KEY, expires_at: '2026-11-22T00:00:00.000Z' });
    const answers = [undefined, '', 'x', secret.slice(0, -1), `${secret}x`, 'y'.repeat(100_000), record.hash].map(
      (header) => refusal(header),
    );
    clock.ms = Date.parse('2026-11-22T00:00:00Z');
    answers.push(refusal(secret));
    clock.ms -= 1;
    expect(access.authenticate(secret).key?.id).toBe(record.id);
    expect(await access.deleteKey('other', record.id)).toBe(false);
    expect(await access.deleteKey('default', record.id)).toBe(true);
    answers.push(refusal(secret));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).toMatchObject({ code: 'invalid-key', status: 401 });
  });

  it('work again if their deletion failed, and never expire without an expiry', async () => {
    const { record, secret } = await access.createKey(NEW_KEY);
    const transaction = environment.transaction.bind(environment);
    environment.transaction = () => Promise.reject(new Error('no disk'));
    await expect(access.deleteKey('default', record.id)).rejects.toThrow('no disk');
    environment.transaction = transaction;
    const beforeMs = clock.ms;
    clock.ms = Date.parse('9999-12-31T00:00:00Z');
    expect(access.authenticate(secret).key?.id).toBe(record.id);
    clock.ms = beforeMs;
  });

  it('stop working at once, before their deletion is on disk', async () => {
    const { record, secret } = await access.createKey(NEW_KEY);
    const deletion = access.deleteKey('default', record.id);
    await Promise.resolve();
    expect(refusal(secret)).toMatchObject({ code: 'invalid-key' });
    await deletion;
    expect(access.keys('default')).toEqual([]);
  });

  it('of a deleted list are deleted, and no others', async () => {
    await access.createKey(NEW_KEY);
    const { secret } = await access.createKey({ ...NEW_KEY, scope: 'list', scope_target: 'films' });
    await access.createKey({ ...NEW_KEY, scope: 'group', scope_target: 'films' });
    await access.createKey({ ...NEW_KEY, account: 'other', scope: 'list', scope_target: 'films' });
    const deleted = await access.deleteKeysOf('default', 'list', 'films');
    expect(deleted).toHaveLength(1);
    expect(refusal(secret)).toMatchObject({ code: 'invalid-key' });
    expect(access.keys('default')).toHaveLength(2);
    expect(access.keys('other')).toHaveLength(1);
  });

  it('of a deleted account stop working even if their own deletion fails, and no new ones are created', async () => {
    const catalog = await openCatalog(environment, clock);
    const { secret } = await access.createKey(NEW_KEY);
    const { secret: others } = await access.createKey({ ...NEW_KEY, account: 'other' });
    await catalog.deleteAccount('default');
    expect(refusal(secret)).toMatchObject({ code: 'invalid-key' });
    const transaction = environment.transaction.bind(environment);
    environment.transaction = () => Promise.reject(new Error('no disk'));
    await expect(access.deleteKeysOfAccount('default')).rejects.toThrow('no disk');
    environment.transaction = transaction;
    expect(refusal(secret)).toMatchObject({ code: 'invalid-key' });
    await expect(access.createKey(NEW_KEY)).rejects.toMatchObject({ code: 'account-not-found' });
    await environment.close();
    environment = openEnvironment(folder, { kind: 'system' });
    access = await openAccess(environment, clock);
    expect(access.keys('default')).toHaveLength(1);
    expect(refusal(secret)).toMatchObject({ code: 'invalid-key' });
    expect(access.authenticate(others).account).toBe('other');
  });

  it('work after a restart, although their text is nowhere on disk', async () => {
    const { secret } = await access.createKey(NEW_KEY);
    await environment.close();
    for (const file of readdirSync(folder)) {
      expect(readFileSync(join(folder, file)).includes(secret.slice(7))).toBe(false);
    }
    environment = openEnvironment(folder, { kind: 'system' });
    access = await openAccess(environment, clock);
    expect(access.authenticate(secret).account).toBe('default');
  });
});

function refusal(header: string | undefined): unknown {
  try {
    access.authenticate(header);
  } catch (error) {
    return (error as { toProblem(): unknown }).toProblem();
  }
  throw new Error('the key was taken');
}
