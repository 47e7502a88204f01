/** Commits whose segments are built concurrently: whatever fails meanwhile, a commit is complete or has no effect. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ListsInFolder, LIST_SETTINGS } from '../../../test/support/lists-in-folder.js';
import { pageOf } from '../../../test/support/list-reading.js';
import type { FieldDefinition } from '../../catalog/index.js';
import { RecordStore } from '../../records/index.js';
import { segmentsPath } from '../../store/index.js';
import { PIECE_BYTES } from '../segments/segment-making.js';
import { VersionCommit } from './version-commit.js';
import type { IngestExecutor, IngestResult, IngestTask, ListIndex } from '../index.js';

const definition: FieldDefinition = {
  searchable_fields: [{ name: 'title', weight: 1 }],
  facets: [{ name: 'number', type: 'number', cardinality: 'Single' }],
  resources: [],
  location_field: null,
  inferred: 'no',
};
/** So many records that several parts are built while the others are read. */
const RECORDS = Math.ceil((3 * PIECE_BYTES) / 250);

/** Gives each task to a hook, which may change it before it runs. */
class ChangingExecutor implements IngestExecutor {
  change: (task: IngestTask) => IngestTask = (task) => task;
  constructor(private readonly inner: IngestExecutor) {}

  get waiting(): number {
    return this.inner.waiting;
  }
  waitingByAccount() {
    return this.inner.waitingByAccount();
  }
  run<T extends IngestTask>(task: T): Promise<IngestResult<T>> {
    return this.inner.run(this.change(task) as T);
  }
}

let lists: ListsInFolder;
let executor: ChangingExecutor;
let list: ListIndex;
beforeEach(async () => {
  lists = new ListsInFolder({}, (inner) => (executor = new ChangingExecutor(inner))).open();
  list = await lists.indexes.create('a1', LIST_SETTINGS, definition);
});
afterEach(() => lists.remove());

const nameOf = (number: number) => `record ${number}`;
const titleOf = (number: number) => `title ${number} ${'some words more '.repeat(12)}`;
const numbers = (count: number) => Array.from({ length: count }, (_, number) => number);

async function importAll(records: readonly object[]) {
  const session = list.startImport('ndjson');
  await session.push(Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join('')));
  return session.end();
}
const recordsOf = (count: number, rest: object = {}) =>
  numbers(count).map((number) => ({ name: nameOf(number), title: titleOf(number), number, ...rest }));
const recordCount = () => list.versions()[0]?.record_count;
/** Returns the files of segments, complete or not. */
const files = () =>
  readdirSync(segmentsPath(lists.path()), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);
const THREADS = '/proc/self/task';
/** Returns the number of threads that build segments; 0 if the operating system does not tell. */
const builders = () =>
  existsSync(THREADS)
    ? readdirSync(THREADS).filter((thread) => {
        try {
          return readFileSync(join(THREADS, thread, 'comm'), 'utf8').trim() === 'gannet-segment';
        } catch {
          return false;
        }
      }).length
    : 0;
/** Waits, because the operating system takes a moment to remove a thread that has ended. */
const withoutBuilders = () => expect.poll(builders, { interval: 1 }).toBe(0);
/** Returns the names of the records in their order. */
const namesInOrder = async () => (await pageOf(list, 0, RECORDS + 10)).records.map(({ name }) => name);
const fieldsOf = async (number: number) => (await pageOf(list, number, 1)).records[0]?.fields;

describe('a large commit', () => {
  it('has every record, in the order in which they came', async () => {
    expect(await importAll(recordsOf(RECORDS))).toMatchObject({ created: RECORDS, failed: 0 });
    expect(await namesInOrder()).toEqual(numbers(RECORDS).map(nameOf));
    expect(await list.check()).toEqual([]);
  });

  it('keeps the last of several records of one name, even if the earlier ones are already built', async () => {
    const twice = [...recordsOf(RECORDS), { name: nameOf(3), title: 'again', number: -1 }];
    expect(await importAll(twice)).toMatchObject({ created: RECORDS, updated: 1 });
    expect(recordCount()).toBe(RECORDS);
    expect(await list.check()).toEqual([]);
    expect(await fieldsOf(3)).toEqual({ title: 'again', number: [-1] });
  });

  it('has no effect if its segment cannot be built while records are stored, and succeeds when repeated', async () => {
    await importAll(recordsOf(10));
    const before = { files: files(), versions: list.versions(), names: await namesInOrder() };
    // A file takes the place of the folder in which unfinished segments are written.
    const unfinished = join(segmentsPath(lists.path()), 'unfinished');
    rmSync(unfinished, { recursive: true, force: true });
    writeFileSync(unfinished, '');
    await expect(importAll(recordsOf(RECORDS, { title: `changed ${'and more '.repeat(20)}` }))).rejects.toThrow();
    rmSync(unfinished);
    expect({ files: files(), versions: list.versions(), names: await namesInOrder() }).toEqual(before);
    expect(await fieldsOf(3)).toEqual({ title: titleOf(3), number: [3] });
    expect(await list.check()).toEqual([]);

    expect(await importAll(recordsOf(RECORDS))).toMatchObject({ created: RECORDS - 10, updated: 10 });
    expect(await list.check()).toEqual([]);
    // The list is opened again, as after a restart.
    await lists.close();
    lists.open();
    list = await lists.indexes.open('a1', LIST_SETTINGS);
    expect(await namesInOrder()).toEqual(numbers(RECORDS).map(nameOf));
    expect(await list.check()).toEqual([]);
  });

  it('is kept on disk if something fails after its transaction', async () => {
    const told = vi.spyOn(VersionCommit.prototype, 'change').mockImplementationOnce(() => {
      throw new Error('no memory is left');
    });
    await expect(importAll(recordsOf(RECORDS))).rejects.toThrow('because of an error in the service');
    told.mockRestore();
    await lists.close();
    lists.open();
    list = await lists.indexes.open('a1', LIST_SETTINGS);
    expect(await namesInOrder()).toEqual(numbers(RECORDS).map(nameOf));
    expect(await list.check()).toEqual([]);
  });

  it('leaves no segment behind if its records cannot be stored while the segment is built', async () => {
    // LMDB refuses to append records below one that exists.
    const store = new RecordStore(list.listPath);
    const { version } = list.versions()[0] as { version: number };
    const records = store.version(version).prepare();
    store.transaction(() => {
      records.putRecord(1_000_000, Buffer.from('above all others'));
    });
    await expect(importAll(recordsOf(RECORDS))).rejects.toThrow('because of an error in the service');
    expect(files()).toEqual([]);
    await withoutBuilders();
    store.transaction(() => {
      records.removeRecord(1_000_000);
    });
    await store.close();
    expect(await importAll(recordsOf(RECORDS))).toMatchObject({ created: RECORDS });
    expect(await list.check()).toEqual([]);
  });

  it('leaves no file and no thread behind if it is refused when some of it is already built', async () => {
    executor.change = (task) =>
      task.kind === 'bulk-batch' ? { ...task, limits: { ...task.limits, newRecordsMax: RECORDS - 1 } } : task;
    await expect(importAll(recordsOf(RECORDS))).rejects.toThrow('The plan of the account has no room');
    expect([files(), recordCount()]).toEqual([[], 0]);
    await withoutBuilders();
    executor.change = (task) => task;
    expect(await importAll(recordsOf(RECORDS))).toMatchObject({ created: RECORDS });
    expect(await list.check()).toEqual([]);
  });
});
