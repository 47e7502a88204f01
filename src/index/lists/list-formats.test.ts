/** A list of a newer release is refused with a clear message, not as an internal error, and left as it is. */
import { join } from 'node:path';
import type { RootDatabase } from 'lmdb';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ENVIRONMENT_FORMATS, FORMAT_KEY, openEnvironment } from '../../platform/index.js';
import { assertStoreKnown } from '../../store/index.js';
import { LIST_SETTINGS, ListsInFolder } from '../../../test/support/lists-in-folder.js';

const definition = {
  searchable_fields: [{ name: 'title', weight: 1 }],
  facets: [],
  resources: [],
  location_field: null,
  inferred: 'no',
} as const;

let lists: ListsInFolder;
beforeEach(async () => {
  lists = new ListsInFolder().open();
  const list = await lists.indexes.create('a1', LIST_SETTINGS, definition);
  await list.write({ kind: 'put', name: 'one', fields: { title: 'red' } });
  await lists.close();
});
afterEach(() => lists.remove());

/** Changes the store as another release would have written it. */
async function changed(change: (environment: ReturnType<typeof openEnvironment>) => void): Promise<void> {
  const environment = openEnvironment(join(lists.path(), 'store'), { kind: 'list' });
  await environment.transaction(() => {
    change(environment);
  });
  await environment.close();
}

/** Opens the list; errors that are thrown synchronously become rejections. */
const openList = async () => {
  await lists.indexes.open('a1', LIST_SETTINGS);
};

const REFUSED = {
  code: 'list-format',
  status: 503,
  detail: expect.stringContaining('written by another release') as string,
};

it('A list whose environment has a newer format is refused', async () => {
  const newer = ENVIRONMENT_FORMATS.list.number + 1;
  await changed(({ root }) => {
    root.putSync(FORMAT_KEY, { kind: 'list', number: newer, made_by: '99.0.0' });
  });
  lists.open();
  await expect(openList()).rejects.toMatchObject(REFUSED);
  await expect(openList()).rejects.toMatchObject(REFUSED);
});

it('A list whose state has a newer format is refused', async () => {
  await changed((environment) => {
    const meta = environment.database<{ readonly format: number }, string>('meta');
    meta.putSync('state', { ...(meta.get('state') as { readonly format: number }), format: 999 });
  });
  expect(() => assertStoreKnown(join(lists.path(), 'store'))).toThrow('has format 999');
  lists.open();
  await expect(openList()).rejects.toMatchObject(REFUSED);
});

it.each([
  ['cannot be read', (root: RootDatabase) => root.openDB({ name: 'meta', encoding: 'binary' })],
  ['is not there', (root: RootDatabase) => void root.openDB({ name: 'meta' }).dropSync()],
])('assertStoreKnown accepts a list whose state %s: opening the list reports that', async (_, change) => {
  const path = join(lists.path(), 'store');
  const environment = openEnvironment(path, { kind: 'list' });
  // A MessagePack map that claims more entries than there are bytes.
  change(environment.root)?.putSync('state', Buffer.from([0xdf, 0xff, 0xff]));
  await environment.close();
  expect(() => assertStoreKnown(path)).not.toThrow();
});
