/** All entries of the catalogue are in memory: what would fill it is refused, and existing entries stay. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openEnvironment, systemClock, type LmdbEnvironment } from '../platform/index.js';
import { openCatalog } from './catalog.js';
import { GROUP_VERSIONS_MAX } from './group-versions.js';
import type { Catalog, GroupMember, NewList } from './types.js';

const ROOM = 1_000_000;
const REFUSED = { code: 'limit-reached', status: 507 };

let folder: string;
let environment: LmdbEnvironment;
let catalog: Catalog;

async function open(bytesMax = ROOM): Promise<void> {
  environment = openEnvironment(folder, { kind: 'system' });
  catalog = await openCatalog(environment, systemClock, { bytesMax });
}

async function reopen(bytesMax = ROOM): Promise<void> {
  await environment.close();
  await open(bytesMax);
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-catalog-'));
  await open();
  await catalog.createAccount('first', 'eu');
  await catalog.createAccount('second', 'eu');
});
afterEach(async () => {
  await environment.close();
  rmSync(folder, { recursive: true });
});

const rules = (bytes: number) => [{ kind: 'equivalent', terms: ['a', 'b'.repeat(bytes)] }];

function newList(account: string, name: string, bytes: number): NewList {
  return {
    account,
    name,
    engine: 'managed',
    language: 'en',
    query_rules: [],
    synonym_rules: rules(bytes),
    model: null,
    reranker: null,
    suggestions: { require_click: false },
  };
}

/** Creates lists until one is refused, and returns how many there are. */
async function filled(account: string, bytes: number, prefix = 'list'): Promise<number> {
  for (let count = 0; count < 100; count += 1) {
    try {
      await catalog.createList(newList(account, `${prefix}-${count}`, bytes));
    } catch (error) {
      expect(error).toMatchObject(REFUSED);
      return count;
    }
  }
  throw new Error('Nothing was refused');
}

describe('synonym rules of lists', () => {
  it('of one account have half of the room, and those of the next a share of the rest', async () => {
    expect(await filled('first', 50_000)).toBe(9);
    expect(await filled('second', 50_000)).toBe(5);
    await expect(catalog.updateList('second', 'list-0', { synonym_rules: rules(150_000) })).rejects.toMatchObject(
      REFUSED,
    );
    expect(catalog.list('second', 'list-0')?.synonym_rules).toEqual(rules(50_000));
  });

  it('leave some room for later accounts, although others use their whole share one after the other', async () => {
    for (let number = 0; number < 12; number += 1) {
      const account = `account-${number}`;
      await catalog.createAccount(account, 'eu');
      await catalog.createList(newList(account, 'first', 0));
      for (const bytes of [50_000, 2000, 0]) await filled(account, bytes, `of-${bytes}`);
    }
    await expect(catalog.createList(newList('account-11', 'more', 60_000))).rejects.toMatchObject(REFUSED);
  });

  it('count the same after a restart, even those that share one text while the service runs', async () => {
    const shared = newList('first', 'list-0', 200_000);
    await catalog.createList(shared);
    await catalog.createList({ ...shared, name: 'list-1' });
    await expect(catalog.createList({ ...shared, name: 'list-2' })).rejects.toMatchObject(REFUSED);
    await reopen();
    await expect(catalog.createList({ ...shared, name: 'list-2' })).rejects.toMatchObject(REFUSED);
    await catalog.deleteList('first', 'list-0');
    await catalog.createList({ ...shared, name: 'list-2' });
  });

  it('stay if there is no room for them any more, and can be reduced step by step', async () => {
    await catalog.createList(newList('first', 'films', 400_000));
    await reopen(10_000);
    expect(catalog.list('first', 'films')?.synonym_rules).toEqual(rules(400_000));
    await catalog.updateList('first', 'films', {});
    await expect(catalog.updateList('first', 'films', { synonym_rules: rules(400_001) })).rejects.toMatchObject(
      REFUSED,
    );
    await catalog.updateList('first', 'films', { synonym_rules: rules(300_000) });
    await catalog.updateList('first', 'films', { synonym_rules: [] });
    await catalog.createList(newList('first', 'books', 1000));
  });

  it('take two bytes a character if they are not Latin, as in V8', async () => {
    const terms = ['ж'.repeat(300_000)];
    const list = { ...newList('first', 'films', 0), synonym_rules: [{ kind: 'equivalent', terms }] };
    await expect(catalog.createList(list)).rejects.toMatchObject(REFUSED);
  });
});

describe('versions of groups', () => {
  it('share the same room, and a deleted list is removed from a group even if there is none', async () => {
    const lists: GroupMember[] = [];
    for (let number = 0; number < 20; number += 1) {
      const { id, name } = await catalog.createList(newList('first', `list-${number}`, 0));
      lists.push({ list: name, list_id: id, pinned_version: 1 });
    }
    const grown = async (group: string) => {
      await catalog.createGroup('first', group, { reranker: null, lists });
      for (let version = 1; version < GROUP_VERSIONS_MAX; version += 1)
        await catalog.updateGroup('first', group, { lists: lists.slice(version % 2) });
    };
    await grown('both');
    await expect(grown('more')).rejects.toMatchObject(REFUSED);
    expect(catalog.group('first', 'more')?.current_version).toBeGreaterThan(1);
    const { current_version } = catalog.group('first', 'more') as { current_version: number };
    await catalog.deleteList('first', 'list-7');
    expect(catalog.group('first', 'more')).toMatchObject({ current_version: current_version + 1 });
  });
});
