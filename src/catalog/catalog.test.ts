import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openEnvironment, systemClock, type LmdbEnvironment } from '../platform/index.js';
import { openCatalog } from './catalog.js';
import { CollectionStore } from './collection.js';
import { currentMembers } from './group-versions.js';
import type { Catalog, NewList } from './types.js';

let folder: string;
let environment: LmdbEnvironment;
let catalog: Catalog;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-catalog-'));
  await open();
  await catalog.createAccount('default', 'eu');
});

afterEach(async () => {
  await environment.close();
  rmSync(folder, { recursive: true });
});

async function open(): Promise<void> {
  environment = openEnvironment(folder, { kind: 'system' });
  catalog = await openCatalog(environment, systemClock, { reservedNames: new Set(['group']) });
}

async function reopen(): Promise<void> {
  await environment.close();
  await open();
}

function newList(name: string): NewList {
  return {
    account: 'default',
    name,
    engine: 'managed',
    language: 'en',
    query_rules: [],
    synonym_rules: [],
    model: null,
    reranker: null,
    suggestions: { require_click: false },
  };
}

const member = (list: string) => ({
  list,
  list_id: catalog.list('default', list)?.id ?? null,
  pinned_version: 1,
});

describe('the catalogue', () => {
  it('keeps accounts, lists and groups over a restart', async () => {
    const films = await catalog.createList(newList('films'));
    await catalog.createList(newList('books'));
    const group = await catalog.createGroup('default', 'media', { reranker: null, lists: [member('films')] });
    await reopen();
    expect(catalog.accounts()).toMatchObject([{ name: 'default', region: 'eu' }]);
    expect(catalog.list('default', 'films')).toEqual(films);
    expect(catalog.lists('default').map(({ name }) => name)).toEqual(['books', 'films']);
    expect(catalog.group('default', 'media')).toEqual(group);
  });

  it('finds a list by its id in its current state', async () => {
    const { id } = await catalog.createList(newList('films'));
    expect(catalog.listOfId(id)?.language).toBe('en');
    await catalog.updateList('default', 'films', { language: 'de' });
    expect(catalog.listOfId(id)?.language).toBe('de');
    await reopen();
    expect(catalog.listOfId(id)?.name).toBe('films');
    await catalog.deleteList('default', 'films');
    const again = await catalog.createList(newList('films'));
    expect([catalog.listOfId(id), catalog.listOfId(again.id)?.name]).toEqual([undefined, 'films']);
  });

  it('gives each name once, even to concurrent calls', async () => {
    const results = await Promise.allSettled([catalog.createList(newList('a')), catalog.createList(newList('a'))]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    await expect(catalog.createList(newList('a'))).rejects.toMatchObject({ code: 'name-exists' });
    await expect(catalog.createAccount('default', 'eu')).rejects.toMatchObject({ code: 'name-exists' });
    await expect(catalog.createList({ ...newList('a'), account: 'none' })).rejects.toMatchObject({
      code: 'account-not-found',
    });
  });

  it('refuses invalid and reserved names', async () => {
    for (const name of ['group', 'No'])
      await expect(catalog.createAccount(name, 'eu')).rejects.toMatchObject({ code: 'invalid-name' });
    await expect(catalog.createList(newList('No'))).rejects.toMatchObject({ code: 'invalid-name' });
  });

  it('shows a new list only when it is on disk', async () => {
    const creation = catalog.createList(newList('films'));
    expect(catalog.list('default', 'films')).toBeUndefined();
    await creation;
    expect(catalog.list('default', 'films')).toBeDefined();
  });

  it('changes only the given settings of a list', async () => {
    const films = await catalog.createList(newList('films'));
    const changed = await catalog.updateList('default', 'films', { language: 'de' });
    expect(changed).toEqual({ ...films, language: 'de', modified_utc: changed.modified_utc });
    await expect(catalog.updateList('default', 'none', {})).rejects.toMatchObject({ code: 'list-not-found' });
  });

  it('removes a deleted list from its groups with a new version, in the same transaction', async () => {
    await catalog.createList(newList('a'));
    await catalog.createList(newList('b'));
    await catalog.createGroup('default', 'both', { reranker: null, lists: [member('a'), member('b')] });
    await catalog.createGroup('default', 'one', { reranker: null, lists: [member('b')] });
    await catalog.deleteList('default', 'a');
    await reopen();
    const both = catalog.group('default', 'both');
    expect(both?.current_version).toBe(2);
    expect(both && currentMembers(both)).toEqual([member('b')]);
    expect(both?.versions[0]?.lists).toHaveLength(2);
    expect(catalog.group('default', 'one')?.current_version).toBe(1);
    await expect(catalog.deleteList('default', 'a')).rejects.toMatchObject({ code: 'list-not-found' });
  });

  it('creates a new version of a group only if its members change, and refuses members that were deleted', async () => {
    await catalog.createList(newList('a'));
    await catalog.createGroup('default', 'g', { reranker: null, lists: [member('a')] });
    const same = await catalog.updateGroup('default', 'g', { lists: [{ ...member('a'), pinned_version: 2 }] });
    expect(same.current_version).toBe(1);
    const pinned = await catalog.updateGroup('default', 'g', {
      lists: [{ ...member('a'), version: 2, pinned_version: 2 }],
    });
    expect(pinned.current_version).toBe(2);
    // The list is deleted between the choice of the member and its change.
    const [, , chosen] = await Promise.allSettled([
      catalog.createList(newList('b')),
      catalog.deleteList('default', 'b'),
      catalog.updateGroup('default', 'g', { lists: [member('a'), member('b')] }),
    ]);
    expect(chosen).toMatchObject({ status: 'rejected', reason: { code: 'list-not-found' } });
    await expect(catalog.createGroup('default', 'h', { reranker: null, lists: [member('b')] })).rejects.toMatchObject({
      code: 'list-not-found',
    });
    await catalog.deleteGroup('default', 'g');
    await expect(catalog.deleteGroup('default', 'g')).rejects.toMatchObject({ code: 'group-not-found' });
  });
});

describe('a change of a collection', () => {
  it('has no effect if it throws, and the next one runs', async () => {
    const store = CollectionStore.of(environment);
    const notes = store.collection<{ text: string }>('notes');
    const failed = store.change((change) => {
      change.put(notes, 'a', { text: 'lost' });
      throw new Error('no');
    });
    const kept = store.change((change) => change.put(notes, 'b', { text: 'kept' }));
    await expect(failed).rejects.toThrow('no');
    await kept;
    expect([...notes.values()]).toEqual([{ text: 'kept' }]);
    await reopen();
    expect(CollectionStore.of(environment).collection('notes').get('b')).toEqual({ text: 'kept' });
  });

  it('returns frozen entries', async () => {
    const account = catalog.account('default');
    expect(Object.isFrozen(account)).toBe(true);
  });

  it('records what is being created or deleted, over a restart, until it is done', async () => {
    const begun = await catalog.beginList({ id: 'one', account: 'default', name: 'films' });
    await reopen();
    expect(catalog.unfinished()).toEqual([begun]);
    const films = await catalog.createList({ ...newList('films'), id: 'one' });
    expect(catalog.unfinished()).toEqual([]);
    await catalog.createGroup('default', 'media', { reranker: null, lists: [member('films')] });
    await catalog.deleteGroup('default', 'media');
    const removed = await catalog.deleteList('default', 'films');
    expect(removed).toMatchObject([{ kind: 'removing', subject: 'list', id: films.id, name: 'films' }]);
    await reopen();
    expect(
      catalog
        .unfinished()
        .map(({ kind, subject }) => `${kind} ${subject}`)
        .sort(),
    ).toEqual(['removing group', 'removing list']);
    for (const work of catalog.unfinished()) await catalog.finish(work);
    for (const work of removed) await catalog.finish(work);
    await reopen();
    expect(catalog.unfinished()).toEqual([]);
  });

  it('adopts accounts and lists in one transaction or not at all', async () => {
    const films = await catalog.createList(newList('films'));
    const account = { name: 'other', region: 'eu', created_utc: films.created_utc };
    const books = { ...films, id: 'two', account: 'other', name: 'books' };
    await expect(catalog.adopt({ accounts: [account], lists: [books, films] })).rejects.toMatchObject({
      code: 'name-exists',
    });
    expect(catalog.account('other')).toBeUndefined();
    await catalog.adopt({ accounts: [account], lists: [books] });
    await reopen();
    expect(catalog.lists('other')).toEqual([books]);
  });

  it('binds members that an earlier release stored by name, if that list can have been meant', async () => {
    const old = await catalog.createList(newList('old'));
    const young = await catalog.createList(newList('young'));
    const versions = [old, young].map(({ created_utc }, index) => ({
      version: index + 1,
      created_utc,
      lists: ['old', 'young', 'gone'].map((list) => ({ list, pinned_version: 1 })),
    }));
    const times = { created_utc: old.created_utc, modified_utc: young.modified_utc };
    const group = { account: 'default', name: 'g', reranker: null, current_version: 2, versions, ...times };
    const store = CollectionStore.of(environment);
    await store.change((change) => {
      change.put(store.collection('groups'), 'default/g', group);
    });
    await reopen();
    const bound = catalog.group('default', 'g')?.versions.map(({ lists }) => lists.map(({ list_id }) => list_id));
    const isYounger = young.created_utc > old.created_utc;
    expect(bound).toEqual([
      [old.id, isYounger ? null : young.id, null],
      [old.id, young.id, null],
    ]);
  });
});
