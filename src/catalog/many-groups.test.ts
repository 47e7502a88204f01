/** A list that thousands of groups have leaves all of them at once for whoever asks, and is taken out of some of them at a time on disk. */
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

/** Every tenth without it. */
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
/** As it is told. */
const having = () => catalog.groups('default').filter(hasIt).length;
/** As it is on disk. */
const havingStored = () => [...storedGroups().values()].filter(hasIt).length;
const storedGroups = () => CollectionStore.of(environment).collection<GroupRecord>('groups');

async function reopen(): Promise<void> {
  await environment.close();
  environment = openEnvironment(folder, { kind: 'system' });
  catalog = await openCatalog(environment, systemClock);
}

it('leaves all of them with its deletion, and is taken out of some of them with each change', async () => {
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
  // A change that somebody else makes, in its turn.
  await catalog.updateList('default', 'stays', { language: 'de' });
  expect(havingStored()).toBe(all - atOnce);
  await left;
  expect([having(), havingStored(), catalog.unfinished()]).toEqual([0, 0, []]);
  // What is on disk is what was told before.
  expect(catalog.groups('default')).toEqual(told);
  expect(catalog.groupPage('default', { size: 3 })).toEqual(page);
  expect(catalog.group('default', 'group-1')).toMatchObject({ current_version: 2, versions: [{}, {}] });
  expect(catalog.group('default', 'group-10')).toMatchObject({ current_version: 1 });
  await expect(catalog.deleteList('default', 'gone')).rejects.toMatchObject({ code: 'list-not-found' });
});

it('goes or stays as a whole where the disk is full, and what it failed to write is written at the next start', async () => {
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

it('is out of a group that is changed or deleted before its turn, and another list under its name is not taken for it', async () => {
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

it('makes up for what failed before when the next one goes', async () => {
  await makeGroups(300);
  await catalog.deleteList('default', 'gone');
  const [, leaving] = await catalog.deleteList('default', 'stays');
  const told = catalog.groups('default');
  if (leaving === undefined) throw new Error('all of it was one change');
  await catalog.finish(leaving);
  expect(catalog.unfinished().map(({ kind }) => kind)).toEqual(['removing', 'removing']);
  expect([...storedGroups().values()].sort((a, b) => (a.name < b.name ? -1 : 1))).toEqual(told);
});

it('keeps the versions that it has told of where one that few groups have goes before the groups are written', async () => {
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

it('is done by two at a time as at a start, each of which makes up for the other', async () => {
  await makeGroups(300);
  const works = [await catalog.deleteList('default', 'gone'), await catalog.deleteList('default', 'stays')].flat();
  const told = catalog.groups('default');
  await Promise.all(works.map((work) => catalog.finish(work)));
  expect([havingStored(), catalog.unfinished()]).toEqual([0, []]);
  expect(catalog.groups('default')).toEqual(told);
});

it('takes it out of few together with the list', async () => {
  await makeGroups(60);
  const deleted = catalog.deleteList('default', 'gone');
  await catalog.updateList('default', 'stays', { language: 'de' });
  expect(havingStored()).toBe(0);
  expect(catalog.list('default', 'gone')).toBeUndefined();
  expect(await deleted).toMatchObject([{ kind: 'removing' }]);
});
