/**
 * Records whose fields are packed with the list's words: they read as they were written, whatever is done with them
 * and whatever is damaged.
 */
import type { Database } from 'lmdb';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pageOf, recordOf } from '../../../test/support/list-reading.js';
import { LIST_SETTINGS, ListsInFolder } from '../../../test/support/lists-in-folder.js';
import type { FieldDefinition } from '../../catalog/index.js';
import { recordNumberOf } from '../../platform/index.js';
import { DamagedRecordError, decodeRecord, RecordStore, storedIdOf } from '../../records/index.js';
import { LIST_STATE_FORMAT_WITH_PACKED_RECORDS, LIST_STATE_FORMAT_WITH_SHORT_RECORDS } from '../../store/index.js';
import type { ListIndex } from '../index.js';

const SHORT = 2;
const PACKED = 3;
const COUNT = 3000;
const definition: FieldDefinition = {
  searchable_fields: [{ name: 'title', weight: 1 }],
  facets: [{ name: 'tags', type: 'string', cardinality: 'Many' }],
  resources: [],
  location_field: null,
  inferred: 'no',
};

let lists: ListsInFolder;
let list: ListIndex;
beforeEach(async () => {
  lists = new ListsInFolder().open();
  list = await lists.indexes.create('a1', LIST_SETTINGS, definition);
});
afterEach(() => lists.remove());

async function importRecords(begin: number, end: number): Promise<void> {
  const lines = Array.from({ length: end - begin }, (_, index) =>
    JSON.stringify({
      name: `r${begin + index}`,
      title: `The sentence of number ${begin + index} says "żółw" and 日本語, as ${(begin + index) % 7} of the others say`,
      tags: [`tag ${(begin + index) % 5}`],
    }),
  );
  const session = list.startImport('ndjson');
  await session.push(Buffer.from(lines.join('\n')));
  const { failed } = await session.end();
  expect(failed).toBe(0);
}

async function inStore<Result>(read: (store: RecordStore) => Result, id = 'a1'): Promise<Result> {
  const store = new RecordStore(lists.path(id));
  try {
    return read(store);
  } finally {
    await store.close();
  }
}

function changeWords(change: (store: RecordStore, meta: Database) => void): Promise<void> {
  return inStore((store) => {
    const meta = store.environment.database('meta', { encoding: 'msgpack' });
    store.transaction(() => {
      change(store, meta);
    });
  });
}

/** Returns the first byte of each record on disk, which is its format. */
function formats(version = 1, id = 'a1'): Promise<number[]> {
  return inStore(
    (store) => Array.from(store.version(version).records.getRange({}), ({ value }) => value[0] as number),
    id,
  );
}

function records(of = list) {
  return pageOf(of, 0, COUNT * 2).then(({ records: read }) => read);
}

describe('records of an import', () => {
  it('are packed to less than half their size, and read as they were written', async () => {
    await importRecords(0, COUNT);
    const read = await records();
    expect(read).toHaveLength(COUNT);
    for (const [index, { name, fields }] of read.entries()) {
      expect(name).toBe(`r${index}`);
      expect(fields['title']).toBe(
        `The sentence of number ${index} says "żółw" and 日本語, as ${index % 7} of the others say`,
      );
    }
    expect(new Set(await formats())).toEqual(new Set([PACKED]));
    const [packed, short] = await inStore((store) => {
      const version = store.version(1);
      const lengthOf = (range: Iterable<{ readonly value: Buffer }>) =>
        Array.from(range).reduce((sum, { value }) => sum + value.length, 0);
      return [lengthOf(version.records.getRange({})), lengthOf(version.range())] as const;
    });
    expect(packed).toBeLessThan(short / 2);
    expect(await inStore((store) => store.state()?.format)).toBe(LIST_STATE_FORMAT_WITH_PACKED_RECORDS);
    expect(await list.check()).toEqual([]);
  });

  it('are not packed if they are few, and neither are single writes', async () => {
    await importRecords(0, 200);
    expect(new Set(await formats())).toEqual(new Set([SHORT]));
    expect(await inStore((store) => store.state()?.format)).toBe(LIST_STATE_FORMAT_WITH_SHORT_RECORDS);
    await importRecords(200, COUNT);
    const { record } = await list.write({ kind: 'put', name: 'r2500', fields: { title: 'other' } });
    expect(await recordOf(list, record.id)).toEqual(record);
    const stored = await formats();
    expect([stored[0], stored[1000], stored[2500]]).toEqual([SHORT, PACKED, SHORT]);
    expect(await list.check()).toEqual([]);
  });

  it('are patched, replaced and deleted like others', async () => {
    await importRecords(0, COUNT);
    const [first, second, third] = await records();
    const patched = await list.write({ kind: 'patch', id: first?.id ?? '', name: undefined, fields: { tags: ['x'] } });
    expect(patched.record).toMatchObject({ name: 'r0', fields: { title: first?.fields['title'], tags: ['x'] } });
    await list.write({ kind: 'delete', id: second?.id ?? '' });
    await importRecords(2, 1500);
    const after = await records();
    expect(after.map(({ name }) => name)).toEqual(
      Array.from({ length: COUNT }, (_, index) => `r${index}`).filter((name) => name !== 'r1'),
    );
    expect(after[1]).toMatchObject({ id: third?.id, fields: third?.fields });
    expect(await list.check()).toEqual([]);
  });
});

describe('packed records', () => {
  it('are kept in another version, in a clone, and after a restart', async () => {
    await importRecords(0, COUNT);
    const before = await records();
    const clone = await lists.indexes.clone('a1', 'b2', { ...LIST_SETTINGS, list: 'copy' });
    expect(await records(clone)).toEqual(before);
    expect(new Set(await formats(1, 'b2'))).toEqual(new Set([PACKED]));
    expect(await clone.check()).toEqual([]);
    await list.changeDefinition({ ...definition, facets: [] });
    await expect.poll(() => list.currentVersion, { interval: 10 }).toBe(2);
    const fields = (read: Awaited<ReturnType<typeof records>>) => read.map((record) => record.fields['title']);
    expect(fields(await records())).toEqual(fields(before));
    expect(new Set(await formats(2))).toEqual(new Set([PACKED]));
    await lists.close();
    lists.open();
    list = await lists.indexes.open('a1', LIST_SETTINGS);
    expect(fields(await records())).toEqual(fields(before));
    expect(await list.check()).toEqual([]);
  });

  it('are reported as damaged with their ids if they or the words are damaged', async () => {
    await importRecords(0, COUNT);
    const before = await records();
    const number = recordNumberOf(before[7]?.id ?? '') ?? -1;
    const damaged = await inStore((store) => {
      const version = store.version(1).prepare();
      const bytes = Buffer.from(version.records.getBinary(number) ?? []);
      return [bytes.subarray(0, -1), bytes.subarray(0, 30), Buffer.concat([bytes, Buffer.of(0)])].map((changed) => {
        store.transaction(() => {
          version.putRecord(number, changed);
        });
        store.refresh();
        const read = Buffer.from(version.record(number) ?? []);
        expect(() => decodeRecord(read)).toThrow(DamagedRecordError);
        return storedIdOf(read);
      });
    });
    expect(damaged).toEqual([before[7]?.id, before[7]?.id, before[7]?.id]);
    expect(await inStore((store) => Buffer.from(store.version(1).record(number + 1) ?? [])[0])).toBe(SHORT);
    await inStore((store) => {
      store.transaction(() => {
        store.putWords(1, Buffer.alloc(40));
      });
    });
    const lost = await inStore((store) => Buffer.from(store.version(1).record(number + 1) ?? []));
    expect(() => decodeRecord(lost)).toThrow(DamagedRecordError);
    expect(storedIdOf(lost)).toBe(before[8]?.id);
    expect(await list.check()).toContain(
      'version 1: dictionary 1 of words is damaged or lost: what it packs cannot be read',
    );
    await inStore((store) => {
      const meta = store.environment.database('meta', { encoding: 'msgpack' });
      store.transaction(() => {
        meta.removeSync('words');
      });
      expect(store.wordsCount()).toBeUndefined();
    });
    expect(await list.check()).toContain(
      'version 1: how many dictionaries of words the list has is lost: it learns no other',
    );
    // Records written afterwards are readable.
    await importRecords(COUNT, 2 * COUNT);
    expect(new Set((await formats()).slice(COUNT))).toEqual(new Set([SHORT]));
  });

  it('of a clone are readable if the list lost a dictionary or its count, and dictionary numbers are not reused', async () => {
    await importRecords(0, COUNT);
    const before = await records();
    const words = await inStore((store) => store.words(1));
    // A second dictionary is added and lost.
    await changeWords((store, meta) => {
      store.putWords(2, words ?? new Uint8Array());
      meta.removeSync('words-2');
    });
    await lists.indexes.clone('a1', 'b2', { ...LIST_SETTINGS, list: 'last-lost' });
    expect(await inStore((store) => [store.wordsCount(), store.words(2)], 'b2')).toEqual([2, undefined]);
    await changeWords((_store, meta) => {
      meta.removeSync('words');
    });
    const clone = await lists.indexes.clone('a1', 'c3', { ...LIST_SETTINGS, list: 'count-lost' });
    expect(await records(clone)).toEqual(before);
    expect(await inStore((store) => store.wordsCount(), 'c3')).toBeUndefined();
    expect(await clone.check()).toEqual([
      'version 1: how many dictionaries of words the list has is lost: it learns no other',
    ]);
  });
});
