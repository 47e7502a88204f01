import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openCatalog, type Catalog } from '../catalog/index.js';
import { openEnvironment, type LmdbEnvironment } from '../platform/index.js';
import { openAccess } from './access.js';
import { reaches, scopeTargetId } from './scope.js';
import type { Access, Caller, KeyScope } from './types.js';

const LIST = {
  account: 'default',
  engine: 'managed',
  language: 'en',
  query_rules: [],
  synonym_rules: [],
  model: null,
  reranker: null,
  suggestions: { require_click: false },
};

/** Creation times differ, which is how groups are told apart. */
const clock = {
  ms: Date.parse('2026-11-21'),
  nowMs: () => clock.ms++,
  nowIso: () => new Date(clock.nowMs()).toISOString(),
};

let folder: string;
let environment: LmdbEnvironment;
let catalog: Catalog;
let access: Access;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-scope-'));
  environment = openEnvironment(folder, { kind: 'system' });
  catalog = await openCatalog(environment, clock);
  access = await openAccess(environment, clock);
  await catalog.createAccount('default', 'eu');
  await catalog.createList({ ...LIST, name: 'films' });
});
afterEach(async () => {
  await environment.close();
  rmSync(folder, { recursive: true });
});

async function callerOf(scope: KeyScope, name: string, withId = true): Promise<Caller> {
  const id = withId ? scopeTargetId(catalog, 'default', scope, name) : undefined;
  const target = { scope, scope_target: name, ...(id === undefined ? {} : { scope_target_id: id }) };
  const key = { account: 'default', name: 'k', region: 'eu', permissions: [], expires_at: null, ...target };
  return access.authenticate((await access.createKey(key)).secret);
}

async function createGroup(...names: readonly string[]): Promise<void> {
  const lists = names.map((list) => ({
    list,
    list_id: catalog.list('default', list)?.id ?? null,
    pinned_version: 1,
  }));
  await catalog.createGroup('default', 'ours', { reranker: null, lists });
}

const films = { kind: 'list', account: 'default', name: 'films' } as const;
const ours = { kind: 'group', account: 'default', name: 'ours' } as const;

describe('reaches', () => {
  it('allows a key its own list, not another one of the same name, but a key of an earlier release any list of the name', async () => {
    const [key, old] = [await callerOf('list', 'films'), await callerOf('list', 'films', false)];
    expect([reaches(key, films, catalog), reaches(old, films, catalog)]).toEqual([true, true]);
    await catalog.deleteList('default', 'films');
    // A deleted list is still the key's own, so that the key is told of the deletion.
    expect(reaches(key, films, catalog)).toBe(true);
    await catalog.createList({ ...LIST, name: 'films' });
    expect([reaches(key, films, catalog), reaches(old, films, catalog)]).toEqual([false, true]);
  });

  it('allows a key its own group and the current members, not another group or list of the same name', async () => {
    await createGroup('films');
    const key = await callerOf('group', 'ours');
    expect([reaches(key, ours, catalog), reaches(key, films, catalog)]).toEqual([true, true]);
    await catalog.deleteList('default', 'films');
    await catalog.createList({ ...LIST, name: 'films' });
    expect([reaches(key, ours, catalog), reaches(key, films, catalog)]).toEqual([true, false]);
    await catalog.deleteGroup('default', 'ours');
    await createGroup('films');
    expect([reaches(key, ours, catalog), reaches(key, films, catalog)]).toEqual([false, false]);
  });

  it('is not widened by a new list with the name of a member that was deleted while the change waited', async () => {
    await createGroup('films');
    const before = { list: 'films', list_id: catalog.list('default', 'films')?.id ?? null, pinned_version: 1 };
    await catalog.deleteList('default', 'films');
    await catalog.createList({ ...LIST, name: 'films' });
    await expect(catalog.updateGroup('default', 'ours', { lists: [before] })).rejects.toMatchObject({
      code: 'list-not-found',
    });
  });
});
