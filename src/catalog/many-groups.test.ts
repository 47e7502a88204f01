/** A list that thousands of groups have is taken out of some of them at a time, and others have their turn meanwhile. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openEnvironment, systemClock, type LmdbEnvironment } from '../platform/index.js';
import { openCatalog } from './catalog.js';
import { CollectionStore } from './collection.js';
import { currentMembers } from './group-versions.js';
import type { Catalog, GroupRecord } from './types.js';

const MADE = '2026-11-21T00:00:00.000Z';
const LISTS = 100;
const MEMBERS_A_CHANGE = 10_000;
const GROUP_AS_MEMBERS = 50;

let folder: string;
let environment: LmdbEnvironment;
let catalog: Catalog;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-groups-'));
  environment = openEnvironment(folder, { kind: 'system' });
  catalog = await openCatalog(environment, systemClock);
  await catalog.createAccount('default', 'eu');
  for (const name of ['gone', 'stays']) {
    await catalog.createList({
      account: 'default',
      name,
      engine: 'managed',
      language: 'en',
      query_rules: [],
      synonym_rules: [],
      model: null,
      reranker: null,
      suggestions: { require_click: false },
    });
  }
});

afterEach(async () => {
  await environment.close();
  rmSync(folder, { recursive: true });
});

/** Every tenth without it. */
async function makeGroups(count: number): Promise<void> {
  const store = CollectionStore.of(environment);
  const lists = Array.from({ length: LISTS }, (_, number) => ({
    list: number === 0 ? 'gone' : `other-${number}`,
    list_id: catalog.list('default', 'gone')?.id ?? null,
    pinned_version: 1,
  }));
  await store.change((change) => {
    for (let number = 0; number < count; number += 1) {
      const group: GroupRecord = {
        account: 'default',
        name: `group-${number}`,
        reranker: null,
        current_version: 1,
        versions: [{ version: 1, lists: number % 10 === 0 ? lists.slice(1) : lists, created_utc: MADE }],
        created_utc: MADE,
        modified_utc: MADE,
      };
      change.put(store.collection('groups'), `default/${group.name}`, group);
    }
  });
}

const having = () =>
  catalog.groups('default').filter((group) => currentMembers(group).some(({ list }) => list === 'gone')).length;

it('takes it out of some groups with each change, and of the last of them with the list', async () => {
  const atOnce = Math.ceil(MEMBERS_A_CHANGE / (LISTS + GROUP_AS_MEMBERS));
  await makeGroups(300);
  const all = having();
  expect(all).toBe(270);
  const deleted = catalog.deleteList('default', 'gone');
  // A change that somebody else makes, in its turn.
  await catalog.updateList('default', 'stays', { language: 'de' });
  expect(having()).toBe(all - atOnce);
  const work = await deleted;
  expect(work).toMatchObject({ kind: 'removing', name: 'gone' });
  expect(having()).toBe(0);
  expect(catalog.group('default', 'group-1')).toMatchObject({ current_version: 2, versions: [{}, {}] });
  expect(catalog.group('default', 'group-10')).toMatchObject({ current_version: 1 });
  await expect(catalog.deleteList('default', 'gone')).rejects.toMatchObject({ code: 'list-not-found' });
});

it('takes it out of few together with the list', async () => {
  await makeGroups(60);
  const deleted = catalog.deleteList('default', 'gone');
  await catalog.updateList('default', 'stays', { language: 'de' });
  expect(having()).toBe(0);
  expect(catalog.list('default', 'gone')).toBeUndefined();
  await deleted;
});
