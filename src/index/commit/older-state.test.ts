/**
 * A commit that was made from an older state than the store has undoes nothing: for example, if the disk shows an
 * earlier version of a page.
 */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { RecordStore } from '../../records/index.js';
import { ListStore, type ListState } from '../../store/index.js';
import { LIST_SETTINGS, ListsInFolder } from '../../../test/support/lists-in-folder.js';

const definition = { searchable_fields: [], facets: [], resources: [], location_field: null, inferred: 'no' } as const;

const REFUSED = /^a commit was made from state \d+ of .*, with 2 as the next record; there is state \d+, with 4$/u;

let lists: ListsInFolder;
beforeEach(() => {
  lists = new ListsInFolder().open();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await lists.remove();
});

it.each([
  ['a record is added', 'four'],
  ['a record is replaced', 'one'],
])('A commit made from an older state is refused if %s, and the list goes on', async (_, name) => {
  const list = await lists.indexes.create('a1', LIST_SETTINGS, definition);
  const put = (named: string) => list.write({ kind: 'put', name: named, fields: { title: 'red' } });
  const read = vi.spyOn(ListStore.prototype, 'state');
  for (const named of ['one', 'two']) await put(named);
  // The state from which the second write was made.
  const older = read.mock.results.at(-1)?.value as ListState;
  await put('three');
  read.mockReturnValueOnce(older);
  await expect(put(name)).rejects.toMatchObject({
    code: 'internal-error',
    cause: { message: expect.stringMatching(REFUSED) as string },
  });
  expect((await put('five')).outcome).toBe('created');
  await lists.close();
  const store = new RecordStore(lists.path());
  try {
    expect(store.state()?.nextRecordNumber).toBe(5);
    const numbers = ['one', 'two', 'three', 'five'].map((named) => store.version(1).recordNumberOfName(named));
    expect(numbers).toEqual([1, 2, 3, 4]);
  } finally {
    await store.close();
  }
  lists.open();
});
