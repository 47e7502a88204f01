import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LIST_DEFINITION } from '../../test/support/lists-with-models.js';
import { LIST_SETTINGS, ListsInFolder } from '../../test/support/lists-in-folder.js';
import { namedSegmentFiles } from '../index/index.js';
import { RecordStore } from '../records/index.js';
import { segmentsPath, storePath } from '../store/index.js';
import { backUpList } from './list-backup.js';

const ID = 'a1';

let lists: ListsInFolder;
let folder: string;
let listPath: string;
let target: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-at-rest-'));
  target = join(folder, 'backup', ID);
  lists = new ListsInFolder().open();
  listPath = lists.path(ID);
  const list = await lists.indexes.create(ID, LIST_SETTINGS, LIST_DEFINITION);
  await list.write({ kind: 'put', name: 'first', fields: { title: 'a word' } });
  await lists.close();
  lists.open();
});
afterEach(async () => {
  await lists.remove();
  rmSync(folder, { recursive: true, force: true });
});

const lockFile = () => join(storePath(listPath), 'lock.mdb');
const dataFile = (of: string) => join(storePath(of), 'data.mdb');
const printAtRest = () => lists.indexes.printAtRest(ID);

function backUp(print: () => string | undefined = printAtRest) {
  return backUpList({ listPath, target, before: undefined, staging: join(folder, 'staging'), printAtRest: print });
}

/** Expects the backup to have exactly the segments that its store names. */
async function expectWhole(): Promise<void> {
  const store = new RecordStore(target);
  const named = namedSegmentFiles(target, store);
  await store.close();
  expect(named).not.toEqual([]);
  expect(readdirSync(segmentsPath(target)).sort()).toEqual(named.sort());
}

describe('the backup of a closed list', () => {
  it('opens no store, and has the files of the list', async () => {
    // Opening a store creates this file.
    rmSync(lockFile());
    const made = await backUp();
    expect(existsSync(lockFile())).toBe(false);
    expect(existsSync(join(storePath(target), 'lock.mdb'))).toBe(false);
    expect(made?.bytesShared).toBeGreaterThan(0);
    expect(readFileSync(dataFile(target)).equals(readFileSync(dataFile(listPath)))).toBe(true);
    await expectWhole();
  });

  it('is made like that of an open list if it is written meanwhile', async () => {
    rmSync(lockFile());
    const prints = ['before', 'after'];
    await backUp(() => prints.shift());
    expect(existsSync(lockFile())).toBe(true);
    expect(existsSync(join(folder, 'staging'))).toBe(false);
    await expectWhole();
  });

  it('does not exist if the list is deleted', async () => {
    await lists.indexes.remove(ID);
    expect(await backUp(() => 'gone')).toBeUndefined();
    expect(existsSync(target)).toBe(false);
  });
});

describe('the fingerprint of a closed list', () => {
  it('exists only while the list is closed, and differs after each write', async () => {
    const before = printAtRest();
    expect(before).toBeDefined();
    const list = await lists.indexes.open(ID, LIST_SETTINGS);
    expect(printAtRest()).toBeUndefined();
    await list.write({ kind: 'put', name: 'second', fields: { title: 'another word' } });
    expect(printAtRest()).toBeUndefined();
    await lists.close();
    lists.open();
    const after = printAtRest();
    expect(after).toBeDefined();
    expect(after).not.toBe(before);
    await lists.indexes.remove(ID);
    expect(printAtRest()).toBeUndefined();
  });
});
