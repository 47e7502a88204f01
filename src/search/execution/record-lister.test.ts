import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { kernel } from '../../../native-bindings/index.js';
import type { GenerationLease, ListIndex } from '../../index/index.js';
import { recordNumberOf } from '../../platform/index.js';
import { decodeRecord, RecordStore, RecordStoreCache } from '../../records/index.js';
import { encodeFirstFormat } from '../../records/first-format.js';
import { listFixtures, type ListFixtures } from '../../../test/support/lists.js';
import { ResponseWriter } from '../response/response-writer.js';
import { ListContexts } from './list-context.js';
import { RecordLister } from './record-lister.js';

const DEFINITION = { searchable_fields: [], facets: [], resources: [], location_field: null, inferred: null };
const MEBIBYTE = 2 ** 20;

interface Page {
  readonly total_count: number;
  readonly results: readonly {
    readonly id: string;
    readonly name: string;
    readonly fields: object;
    readonly error?: string;
  }[];
  readonly next?: string;
}

let fixtures: ListFixtures;
let list: ListIndex;
let lease: GenerationLease;
let lister: RecordLister;
const stores = new RecordStoreCache();
const contexts = new ListContexts(kernel);

beforeEach(async () => {
  fixtures = await listFixtures();
  list = await fixtures.add(
    'records',
    DEFINITION as never,
    Array.from({ length: 30 }, (_, number) => ({ name: `r${number}`, text: `naïve ${number}` })),
  );
  lease = list.lease();
  lister = new RecordLister(contexts, stores);
});
afterEach(async () => {
  lease.release();
  await stores.close();
  await fixtures.close();
});

function page(after: string | undefined, size: number, skip = 0, bytesMax?: number): Page {
  const writer = new ResponseWriter();
  const target = { generation: lease.handle };
  const limited = bytesMax === undefined ? {} : { bytesMax };
  lister.page({ kind: 'records', target, after: Number(after ?? -1), skip, size, ...limited }, writer);
  return JSON.parse(Buffer.from(writer.take()).toString()) as Page;
}

function listPath(): string {
  return contexts.get(lease.handle).settings.listPath;
}

/** Returns the first byte of each record, which is its format. */
async function formatsOf(ids: readonly string[]): Promise<(number | undefined)[]> {
  const store = new RecordStore(listPath());
  const version = store.version(1).prepare();
  const formats = ids.map((id) => version.record(recordNumberOf(id) ?? -1)?.[0]);
  await store.close();
  return formats;
}

/** Overwrites the stored bytes of a record. */
async function damage(id: string, change: (bytes: Buffer) => Buffer): Promise<void> {
  const store = new RecordStore(listPath());
  const version = store.version(1).prepare();
  const recordNumber = recordNumberOf(id) ?? -1;
  const bytes = Buffer.from(version.records.getBinary(recordNumber) ?? []);
  store.transaction(() => {
    version.putRecord(recordNumber, change(bytes));
  });
  await store.close();
}

describe('RecordLister', () => {
  it('lists every record once, as its write was answered, whatever is written between two pages', async () => {
    const { record } = await list.write({ kind: 'put', name: 'own', fields: { text: 'ł "quoted"', n: 1.5 } });
    const seen: string[] = [];
    let after: string | undefined;
    do {
      const { results, next } = page(after, 7);
      seen.push(...results.map(({ name }) => name));
      const last = results.at(-1);
      // Records that were read are deleted, above all the last of the page, and new ones are added at the end.
      if (last !== undefined) await list.write({ kind: 'delete', id: last.id });
      if (seen.length < 20) await list.write({ kind: 'put', name: `new after ${seen.length}`, fields: {} });
      expect(results.find(({ name }) => name === 'own') ?? record).toEqual(record);
      after = next;
    } while (after !== undefined);
    const names = Array.from({ length: 30 }, (_, number) => `r${number}`);
    expect(seen).toEqual([...names, 'own', 'new after 7', 'new after 14']);
  });

  it('says where the next page begins, except on the last page', () => {
    expect(page(undefined, 30)).not.toHaveProperty('next');
    expect(page(undefined, 29)).toHaveProperty('next');
    expect(page(undefined, 0)).toEqual({ total_count: 30, results: [] });
    expect(page('4294967295', 10)).toEqual({ total_count: 30, results: [] });
    expect(page(undefined, 10, 25).results).toHaveLength(5);
  });

  it('ends a page at 16 MiB, and puts a record that is longer than half of that on its own page', async () => {
    for (const name of ['long-1', 'long-2', 'long-3', 'long-4', 'long-5']) {
      await list.write({ kind: 'put', name, fields: { text: 'x'.repeat(3.5 * MEBIBYTE) } });
    }
    const first = page(undefined, 1000);
    expect(first.results).toHaveLength(34);
    const second = page(first.next, 1000);
    expect(second.results.map(({ name }) => name)).toEqual(['long-5']);
    expect(second.next).toBeUndefined();
  });

  it('ends a page at bytes_max, and has an error in place of a record that is longer', async () => {
    const long = await list.write({ kind: 'put', name: 'long', fields: { text: 'x'.repeat(4000) } });
    await list.write({ kind: 'put', name: 'last', fields: {} });
    const seen: unknown[] = [];
    let after: string | undefined;
    do {
      const { results, next } = page(after, 1000, 0, 2048);
      expect(JSON.stringify(results).length).toBeLessThan(2 * 2048);
      seen.push(...results.map(({ id, name, error }) => (error === undefined ? name : [id, error])));
      after = next;
    } while (after !== undefined);
    const names = Array.from({ length: 30 }, (_, number) => `r${number}`);
    const told = expect.stringContaining('more than bytes_max') as string;
    expect(seen).toEqual([...names, [long.record.id, told], 'last']);
  });

  it('lists records in the format of an earlier release like the others, and rewrites them when they change', async () => {
    const { results } = page(undefined, 30);
    const early = results.filter((_, index) => index % 2 === 0);
    for (const { id } of early) await damage(id, (bytes) => encodeFirstFormat(decodeRecord(bytes)));
    expect(page(undefined, 30).results).toEqual(results);
    const [first, second, third] = early;
    const written = await list.write({
      kind: 'patch',
      id: first?.id ?? '',
      name: undefined,
      fields: { text: 'other' },
    });
    expect(written.record).toMatchObject({ name: first?.name, fields: { text: 'other' } });
    await list.write({ kind: 'delete', id: second?.id ?? '' });
    await list.write({ kind: 'put', name: third?.name ?? '', fields: { text: 'replaced' } });
    const expected = results.filter(({ id }) => id !== second?.id);
    const after = page(undefined, 30).results;
    expect(after.map(({ id, name }) => [id, name])).toEqual(expected.map(({ id, name }) => [id, name]));
    expect(after[0]).toEqual(written.record);
    expect(await list.check()).toEqual([]);
    const formats = await formatsOf(early.map(({ id }) => id));
    expect(formats.slice(0, 4)).toEqual([2, undefined, 2, 1]);
  });

  it('has an error in place of a damaged record, between the others', async () => {
    const { results } = page(undefined, 30);
    const [cut, broken, unknown, cutBefore] = results.map(({ id }) => id);
    await damage(cut ?? '', (bytes) => bytes.subarray(0, 20));
    await damage(cutBefore ?? '', (bytes) => bytes.subarray(0, 10));
    await damage(broken ?? '', (bytes) => (bytes.write('x', bytes.length - 1), bytes));
    await damage(unknown ?? '', () => Buffer.alloc(3));
    const after = page(undefined, 30);
    const damaged = expect.stringContaining('damaged') as string;
    expect(after.results.slice(0, 4)).toEqual([cut, broken, null, null].map((id) => ({ id, error: damaged })));
    expect(after.results.slice(4)).toEqual(results.slice(4));
    expect(after.total_count).toBe(30);
  });

  it('reads one record by its complete id', () => {
    const [first] = page(undefined, 1).results;
    const read = (id: string, room: { fieldsBytesMax?: number } = {}) => {
      const writer = new ResponseWriter();
      lister.record({ kind: 'record', target: { generation: lease.handle }, id, ...room }, writer);
      return JSON.parse(Buffer.from(writer.take()).toString()) as unknown;
    };
    const id = first?.id ?? '';
    expect(read(id)).toEqual(first);
    expect(read(id, { fieldsBytesMax: 1_000_000 })).toEqual(first);
    const names = Object.keys((first as { fields?: object }).fields ?? {});
    expect(read(id, { fieldsBytesMax: 2 })).toEqual({ ...first, fields: {}, fields_left_out: names });
    for (const other of ['', 'x', `${id.slice(0, 7)}${id.startsWith('0', 7) ? '1' : '0'}${id.slice(8)}`]) {
      expect(() => read(other)).toThrow(expect.objectContaining({ code: 'record-not-found' }));
    }
  });
});
