/** One hit per value over lists that have the value in columns of other types, or in records that cannot be read. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kernel } from '../../../native-bindings/index.js';
import { listFixtures, searchTask, type ListFixtures } from '../../../test/support/lists.js';
import type { FieldDefinition } from '../../catalog/index.js';
import type { FacetType } from '../../fields/index.js';
import type { ListIndex } from '../../index/index.js';
import { DamagedRecord, RecordStoreCache, type RecordParts } from '../../records/index.js';
import { ResponseWriter } from '../response/response-writer.js';
import type { SearchOptions } from '../types.js';
import type { ListContext } from './list-context.js';
import { StoreRecordReader } from './record-reader.js';
import { SearchExecutor } from './search-executor.js';

/** A reader for which some records are damaged, by the list's name and the record's number. */
class DamagingReader extends StoreRecordReader {
  readonly damaged = new Set<string>();

  override readOrDamage(list: ListContext, number: number): RecordParts | DamagedRecord | undefined {
    const isDamaged = this.damaged.has(`${list.settings.list} ${number}`);
    return isDamaged ? new DamagedRecord(undefined, 'damaged by the test') : super.readOrDamage(list, number);
  }

  override read(list: ListContext, number: number): RecordParts | undefined {
    const record = this.readOrDamage(list, number);
    return record instanceof DamagedRecord ? undefined : record;
  }
}

interface Response {
  readonly total_count: number;
  readonly results: readonly { readonly name?: string; readonly distinct_count: number }[];
  readonly facets: Readonly<Record<string, readonly { readonly value: unknown; readonly count: number }[]>>;
}

let fixtures: ListFixtures;
const stores = new RecordStoreCache();
const reader = new DamagingReader(stores);
const executor = new SearchExecutor(kernel, reader);
beforeAll(async () => {
  fixtures = await listFixtures();
});
afterAll(async () => {
  await stores.close();
  await fixtures.close();
});

/** A list whose records are named by their places: of a code of this type, and of a kind of the same. */
function listOf(name: string, type: FacetType, values: readonly unknown[], cardinality: 'Single' | 'Many' = 'Single') {
  const definition: FieldDefinition = {
    searchable_fields: [{ name: 'name', weight: 1 }],
    facets: [
      { name: 'code', type, cardinality },
      { name: 'kind', type, cardinality },
    ],
    resources: [],
    location_field: null,
    inferred: 'no',
    language: 'none',
  };
  const records = values.map((value, index) => ({ name: `${name}${index}`, code: value, kind: value }));
  return fixtures.add(name, definition, records);
}

function search(lists: Readonly<Record<string, ListIndex>>, options: SearchOptions = {}): Response {
  const writer = new ResponseWriter();
  const task = searchTask(lists, {
    distinct: 'code',
    facets: ['kind'],
    order_by: 'name',
    highlight: false,
    ...options,
  });
  executor.execute(task, writer);
  reader.release();
  return JSON.parse(Buffer.from(writer.take()).toString()) as Response;
}
const shown = ({ total_count: total, results, facets: { kind = [] } }: Response) => [
  total,
  results.map(({ name, distinct_count: count }) => `${name} ${count}`),
  kind.map(({ value, count }) => `${JSON.stringify(value)} ${count}`),
];

describe('one hit per value in a group', () => {
  it('is one of all lists that have the value in a facet of the same type', async () => {
    const lists = { a: await listOf('a', 'string', ['x', 'X', 'y']), b: await listOf('b', 'string', ['y', 'z', 'x']) };
    expect(shown(search(lists))).toEqual([3, ['a0 3', 'a2 2', 'b1 1'], ['"x" 1', '"y" 1', '"z" 1']]);
    expect(shown(search(lists, { skip: 1, size: 1 }))[1]).toEqual(['a2 2']);
    const each = [{ value: 'x' }, { value: 'y' }, { value: 'z' }];
    expect(search(lists, { facets: ['code', 'kind'] }).facets).toMatchObject({ code: each, kind: each });
  });

  it('is one of each type, although the columns have equal numbers and equal texts', async () => {
    const lists = {
      c: await listOf('c', 'number', [1, 1, 0]),
      d: await listOf('d', 'boolean', [true, false]),
      e: await listOf('e', 'string', ['1', 'true']),
      f: await listOf('f', 'date', ['1970-01-01T00:00:00.001Z', '1970-01-01T00:00:00.001Z']),
      g: await listOf('g', 'number', [0, 7]),
    };
    const [total, hits, counted] = shown(search(lists));
    expect([total, hits]).toEqual([8, ['c0 2', 'c2 2', 'd0 1', 'd1 1', 'e0 1', 'e1 1', 'f0 2', 'g1 1']]);
    expect((counted as string[]).toSorted()).toEqual([
      '"1" 1',
      '"1970-01-01T00:00:00.001Z" 1',
      '"true" 1',
      '0 1',
      '1 1',
      '7 1',
      'false 1',
      'true 1',
    ]);
  });

  it('keeps all records of a list that may have several values, or lacks the facet', async () => {
    const lists = {
      h: await listOf('h', 'string', ['x', 'x']),
      i: await listOf('i', 'string', [['x'], ['x']], 'Many'),
    };
    expect(shown(search(lists))[1]).toEqual(['h0 2', 'i0 1', 'i1 1']);
  });

  // The index has the values although the record cannot be read.
  it.each([
    ['string', ['x', 'y'], ['X', 'z', 'z']],
    ['number', [2, 3], [2, 1, 1]],
    ['boolean', [true, false], [true, false, false]],
    ['date', ['2026-01-02', '2026-01-03'], ['2026-01-02T00:00:00Z', '2026-01-01', '2026-01-01']],
  ] as const)('finds and counts a damaged record with its value, a %s', async (type, first, second) => {
    const [j, k] = [`j-${type}-`, `k-${type}-`];
    const lists = { [j]: await listOf(j, type, first), [k]: await listOf(k, type, second) };
    const all = [...first.map((_, number) => `${j} ${number}`), ...second.map((_, number) => `${k} ${number}`)];
    for (const order_by of ['name', 'name desc', ...(type === 'boolean' ? [] : ['code desc, name', 'code'])]) {
      const whole = shown(search(lists, { order_by }));
      for (const damaged of all) {
        reader.damaged.add(damaged);
        const found = shown(search(lists, { order_by }));
        reader.damaged.delete(damaged);
        expect({ damaged, order_by, found }).toEqual({ damaged, order_by, found: whole });
      }
    }
  });
});
