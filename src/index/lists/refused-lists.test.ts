/**
 * Lists that refuse every call, while they are deleted or since they are damaged: calls about all lists of an account
 * still work.
 */
import { readdirSync, readlinkSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { itWhere } from '../../../test/support/skip.js';
import {
  LIST_DEFINITION,
  LIST_SETTINGS,
  ListsWithModels,
  putRequest as put,
} from '../../../test/support/lists-with-models.js';
import { ScriptedModels } from '../../../test/support/scripted-models.js';

let lists: ListsWithModels;
beforeEach(() => {
  lists = new ListsWithModels(new ScriptedModels({}));
});
afterEach(() => lists.remove());

async function withOneRecord(): Promise<void> {
  const list = await lists.indexes.create('a1', LIST_SETTINGS, LIST_DEFINITION);
  await list.write(put('one', { title: 'One' }));
  expect(lists.indexes.recordCount('a1')).toBe(1);
}

it('A list that is being deleted has no record count and no outline', async () => {
  await withOneRecord();
  const removed = lists.indexes.remove('a1');
  expect(lists.indexes.recordCount('a1')).toBeUndefined();
  expect(lists.indexes.outline('a1')).toBeUndefined();
  await removed;
  expect(lists.indexes.recordCount('a1')).toBeUndefined();
});

it('A damaged list has no record count, and opening it is refused with the reason', async () => {
  await withOneRecord();
  const refusal = lists.indexes.closeDamaged('a1', LIST_SETTINGS, new Error('a page of it is damaged'));
  expect(lists.indexes.recordCount('a1')).toBeUndefined();
  expect(lists.indexes.outline('a1')).toBeUndefined();
  expect(await lists.indexes.outlineAtRest('a1', LIST_SETTINGS)).toBeUndefined();
  await expect(lists.indexes.open('a1', LIST_SETTINGS)).rejects.toBe(refusal);
});

it('Opening a list fails if it is found damaged meanwhile, and the list stays closed', async () => {
  await withOneRecord();
  await lists.close();
  lists.open();
  const opening = lists.indexes.open('a1', LIST_SETTINGS);
  const refusal = lists.indexes.closeDamaged('a1', LIST_SETTINGS, new Error('a page of it is damaged'));
  await expect(opening).rejects.toBe(refusal);
  expect(lists.indexes.opened('a1')).toBeUndefined();
});

const canSeeFiles = process.platform === 'linux';

itWhere(canSeeFiles, 'which files a process has open is not told here')(
  'Damaged lists close their store when the service stops, and before they are deleted',
  async () => {
    await withOneRecord();
    lists.indexes.closeDamaged('a1', LIST_SETTINGS, new Error('a page of it is damaged'));
    expect(openFiles()).not.toEqual([]);
    await lists.close();
    expect(openFiles()).toEqual([]);
    lists.open();
    await lists.indexes.open('a1', LIST_SETTINGS);
    lists.indexes.closeDamaged('a1', LIST_SETTINGS, new Error('a page of it is damaged'));
    await lists.indexes.remove('a1');
    expect(openFiles()).toEqual([]);
  },
);

/** Returns the open files of the list's store. */
function openFiles(): string[] {
  const all = readdirSync('/proc/self/fd').flatMap((number) => {
    try {
      return [readlinkSync(`/proc/self/fd/${number}`)];
    } catch {
      return [];
    }
  });
  return all.filter((path) => path.startsWith(`${lists.path('a1')}/store/`));
}
