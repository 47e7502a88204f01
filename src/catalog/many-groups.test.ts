/**
 * A deleted list that is in thousands of groups leaves all of them at once for readers, and is removed from a few at a
 * time on disk.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openEnvironment, systemClock, type LmdbEnvironment } from '../platform/index.js';
import { openCatalog } from './catalog.js';
import { CollectionStore } from './collection.js';
import { currentMembers } from './group-versions.js';
import type { Catalog, GroupRecord } from './types.js';

const MADE = '2026-11-21T00:00:00.000Z';
const LISTS = 100;
const MEMBERS_A_CHANGE = 10_000;
const GROUP_AS_MEMBERS = 50;

const NEW_LIST = {
  account: 'default',
  engine: 'managed',
  language: 'en',
  query_rules: [],
  synonym_rules: [],
  model: null,
  reranker: null,
  suggestions: { require_click: false },
};

let folder: string;
let environment: LmdbEnvironment;
let catalog: Catalog;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-groups-'));
  environment = openEnvironment(folder, { kind: 'system' });
  catalog = await openCatalog(environment, systemClock);
  await catalog.createAccount('default', 'eu');
  for (const name of ['gone', 'stays']) {
    await catalog.createList({ ...NEW_LIST, name });
  }
});

afterEach(async () => {
  await environment.close();
  rmSync(folder, { recursive: true });
});

/** Creates groups; every tenth is without the list. */
async function makeGroups(count: number): Promise<void> {
  const store = CollectionStore.of(environment);
  const lists = Array.from({ length: LISTS }, (_, number) => {
    const list = ['gone', 'stays'][number] ?? `other-${number}`;
    return { list, list_id: catalog.list('default', list)?.id ?? list, pinned_version: 1 };
  });
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

const hasIt = (group: GroupRecord) => currentMembers(group).some(({ list }) => list === 'gone');
/** Counts the groups with the list as readers see them. */
const having = () => catalog.groups('default').filter(hasIt).length;
/** Counts the groups with the list as they are on disk. */
const havingStored = () => [...storedGroups().values()].filter(hasIt).length;
const storedGroups = () => CollectionStore.of(environment).collection<GroupRecord>('groups');

async function reopen(): Promise<void> {
  await environment.close();
  environment = openEnvironment(folder, { kind: 'system' });
  catalog = await openCatalog(environment, systemClock);
}

it('A deleted list leaves all its groups at once for readers, and a few of them on disk with each change', async () => {
  const atOnce = Math.ceil(MEMBERS_A_CHANGE / (LISTS + GROUP_AS_MEMBERS));
  await makeGroups(300);
  const all = having();
  expect(all).toBe(270);
  const works = await catalog.deleteList('default', 'gone');
  expect(works).toMatchObject([
    { kind: 'removing', name: 'gone' },
    { kind: 'leaving', name: 'gone' },
  ]);
  expect([having(), havingStored(), catalog.list('default', 'gone')]).toEqual([0, all, undefined]);
  const told = catalog.groups('default');
  const page = catalog.groupPage('default', { size: 3 });
  const left = Promise.all(works.map((work) => catalog.finish(work)));
  // Another change gets its turn in between.
  await catalog.updateList('default', 'stays', { language: 'de' });
  expect(havingStored()).toBe(all - atOnce);
  await left;
  expect([having(), havingStored(), catalog.unfinished()]).toEqual([0, 0, []]);
  // The stored groups are what readers saw before.
  expect(catalog.groups('default')).toEqual(told);
  expect(catalog.groupPage('default', { size: 3 })).toEqual(page);
  expect(catalog.group('default', 'group-1')).toMatchObject({ current_version: 2, versions: [{}, {}] });
  expect(catalog.group('default', 'group-10')).toMatchObject({ current_version: 1 });
  await expect(catalog.deleteList('default', 'gone')).rejects.toMatchObject({ code: 'list-not-found' });
});

it('A deletion happens as a whole or not at all if the disk is full, and the next start writes what is missing', async () => {
  await makeGroups(300);
  const full = vi.spyOn(environment, 'transaction');
  full.mockRejectedValueOnce(new Error('the disk is full'));
  await expect(catalog.deleteList('default', 'gone')).rejects.toThrow('the disk is full');
  expect([having(), catalog.list('default', 'gone')?.name]).toEqual([270, 'gone']);
  const [, leaving] = await catalog.deleteList('default', 'gone');
  if (leaving === undefined) throw new Error('all of it was one change');
  full.mockImplementationOnce(full.getMockImplementation() ?? environment.transaction.bind(environment));
  full.mockRejectedValue(new Error('the disk is full'));
  await expect(catalog.finish(leaving)).rejects.toThrow('the disk is full');
  expect(having()).toBe(0);
  const told = catalog.groups('default');
  full.mockRestore();
  await reopen();
  expect(catalog.groups('default')).toEqual(told);
  expect(havingStored()).toBeGreaterThan(0);
  for (const work of catalog.unfinished()) await catalog.finish(work);
  expect([havingStored(), catalog.unfinished()]).toEqual([0, []]);
  expect(catalog.groups('default')).toEqual(told);
});

it('A group can be changed or deleted before its turn, and a new list of the same name is not taken for the deleted one', async () => {
  await makeGroups(300);
  const works = await catalog.deleteList('default', 'gone');
  const next = await catalog.createList({ ...NEW_LIST, name: 'gone' });
  const other = { list: 'stays', list_id: catalog.list('default', 'stays')?.id ?? null, pinned_version: 1 };
  const again = { list: 'gone', list_id: next.id, pinned_version: 1 };
  expect(await catalog.updateGroup('default', 'group-11', { lists: [other] })).toMatchObject({ current_version: 3 });
  expect(await catalog.updateGroup('default', 'group-12', { lists: [again] })).toMatchObject({ current_version: 3 });
  await catalog.deleteGroup('default', 'group-13');
  for (const work of works) await catalog.finish(work);
  expect(currentMembers(catalog.group('default', 'group-11') as GroupRecord)).toEqual([other]);
  expect(currentMembers(catalog.group('default', 'group-12') as GroupRecord)).toEqual([again]);
  expect([catalog.group('default', 'group-13'), havingStored()]).toEqual([undefined, 1]);
});

it('A deletion also completes an earlier one that failed', async () => {
  await makeGroups(300);
  await catalog.deleteList('default', 'gone');
  const [, leaving] = await catalog.deleteList('default', 'stays');
  const told = catalog.groups('default');
  if (leaving === undefined) throw new Error('all of it was one change');
  await catalog.finish(leaving);
  expect(catalog.unfinished().map(({ kind }) => kind)).toEqual(['removing', 'removing']);
  expect([...storedGroups().values()].sort((a, b) => (a.name < b.name ? -1 : 1))).toEqual(told);
});

it('A group keeps the versions that readers saw if another of its lists is deleted before it is written', async () => {
  await makeGroups(300);
  const both = ['gone', 'few'];
  const few = await catalog.createList({ ...NEW_LIST, name: 'few' });
  const members = both.map((list) => ({
    list,
    list_id: list === 'few' ? few.id : (catalog.list('default', list)?.id ?? null),
    pinned_version: 1,
  }));
  await catalog.createGroup('default', 'of-both', { reranker: null, lists: members });
  const [, leaving] = await catalog.deleteList('default', 'gone');
  if (leaving === undefined) throw new Error('all of it was one change');
  const told = catalog.group('default', 'of-both');
  await catalog.deleteList('default', 'few');
  const versions = () => catalog.group('default', 'of-both')?.versions;
  expect(versions()?.slice(0, 2)).toEqual(told?.versions);
  expect(versions()).toMatchObject([{ lists: [{}, {}] }, { lists: [{ list: 'few' }] }, { lists: [] }]);
  await catalog.finish(leaving);
  expect(versions()?.slice(0, 2)).toEqual(told?.versions);
  expect(versions()).toHaveLength(3);
});

it('Two deletions can be completed concurrently, as at a start, and each completes the other', async () => {
  await makeGroups(300);
  const works = [await catalog.deleteList('default', 'gone'), await catalog.deleteList('default', 'stays')].flat();
  const told = catalog.groups('default');
  await Promise.all(works.map((work) => catalog.finish(work)));
  expect([havingStored(), catalog.unfinished()]).toEqual([0, []]);
  expect(catalog.groups('default')).toEqual(told);
});

it('A deleted list is removed from a few groups in the same transaction', async () => {
  await makeGroups(60);
  const deleted = catalog.deleteList('default', 'gone');
  await catalog.updateList('default', 'stays', { language: 'de' });
  expect(havingStored()).toBe(0);
  expect(catalog.list('default', 'gone')).toBeUndefined();
  expect(await deleted).toMatchObject([{ kind: 'removing' }]);
});
