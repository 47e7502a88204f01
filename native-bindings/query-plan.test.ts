import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DocumentBatchWriter } from './document-batch.js';
import { kernel, type GenerationHandle, type SegmentHandle, type SegmentSchema } from './index.js';
import {
  MATCH_ALL,
  parseResult,
  type PlanFilter,
  type PlanGroup,
  type QueryPlan,
  QueryPlanWriter,
} from './query-plan.js';

const schema: SegmentSchema = {
  textFields: [
    { name: 'title', weightUnits: 3 },
    { name: 'body', weightUnits: 1 },
  ],
  columns: [
    { name: 'brand', type: 'string', many: true },
    { name: 'price', type: 'number', many: false },
    { name: 'place', type: 'location', many: false },
  ],
};
const BRAND = 0;
const PRICE = 1;
const PLACE = 2;

let folder: string;
let segment: SegmentHandle;
let generation: GenerationHandle;

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'gannet-plan-'));
  const batch = new DocumentBatchWriter();
  batch.begin(10);
  batch.text(0, 'Café in Köln');
  batch.string(BRAND, 'melitta', 'Melitta');
  batch.string(BRAND, 'illy', 'illy');
  batch.number(PRICE, 3.5);
  batch.location(PLACE, 50.94, 6.96);
  batch.end();
  batch.begin(11);
  batch.text(0, 'dropped');
  batch.abandon();
  batch.begin(12);
  batch.text(0, 'Bar');
  batch.text(1, 'no cafe, but a bar — '.repeat(1000));
  batch.string(BRAND, 'illy', 'illy');
  batch.number(PRICE, 2);
  batch.end();
  batch.begin(13);
  batch.text(1, 'nothing 😀 at all');
  batch.end();
  expect(batch.documentCount).toBe(3);
  const file = path.join(folder, 'one.mdb');
  const summary = kernel.buildSegment(file, schema, batch.finish());
  expect(summary.documentCount).toBe(3);
  segment = kernel.openSegment(file);
  generation = kernel.publishGeneration({ add: [{ segment }], settings: '{"a":1}' });
});

afterAll(() => {
  kernel.releaseGeneration(generation);
  kernel.closeSegment(segment);
  rmSync(folder, { recursive: true });
});

function word(...terms: string[]): PlanGroup {
  return { occur: 'must', boost: 1, alternatives: [{ weight: 1, terms }] };
}

const writer = new QueryPlanWriter();

function search(plan: Partial<QueryPlan>): ReturnType<typeof parseResult> {
  const whole: QueryPlan = {
    needTotal: true,
    skip: 0,
    size: 10,
    groups: [],
    filter: MATCH_ALL,
    sort: [],
    facets: [],
    ...plan,
  };
  return parseResult(kernel.search(generation, writer.write(whole)));
}

function recordNumbers(plan: Partial<QueryPlan>): number[] {
  return [...search(plan).hits.recordNumbers()];
}

describe('query plan written by QueryPlanWriter', () => {
  test('finds words and phrases', () => {
    expect(recordNumbers({ groups: [word('cafe')], storageOrder: true })).toEqual([10, 12]);
    expect(recordNumbers({ groups: [word('cafe', 'in')] })).toEqual([10]);
    expect(recordNumbers({ groups: [word('😀')] })).toEqual([13]);
    expect(recordNumbers({ groups: [word('dropped')] })).toEqual([]);
    expect(recordNumbers({ groups: [word('cafe'), { ...word('bar'), occur: 'mustNot' }] })).toEqual([10]);
  });

  test.each<[PlanFilter, number[]]>([
    [{ op: 'all' }, [10, 12, 13]],
    [{ op: '=', column: BRAND, value: 'illy' }, [10, 12]],
    [{ op: '!=', column: BRAND, value: 'melitta' }, [12, 13]],
    [{ op: '<', column: PRICE, value: 3 }, [12]],
    [{ op: '<=', column: PRICE, value: 3.5 }, [10, 12]],
    [{ op: '>', column: PRICE, value: 2 }, [10]],
    [{ op: '>=', column: PRICE, value: 2 }, [10, 12]],
    [{ op: 'in', column: BRAND, values: ['melitta', 'x'] }, [10]],
    [{ op: 'isNull', column: PRICE }, [13]],
    [{ op: 'not', node: { op: 'isNull', column: PRICE } }, [10, 12]],
    [{ op: 'within', column: PLACE, latitude: 51, longitude: 7, metres: 20_000 }, [10]],
    [{ op: 'inBox', column: PLACE, south: 50.9, west: 6.9, north: 51, east: 7 }, [10]],
    [{ op: 'inBox', column: PLACE, south: 50.9, west: 7, north: 51, east: 6.9 }, []],
    [{ op: 'record', numbers: [13, 10, 99] }, [10, 13]],
    [{ op: 'not', node: { op: 'record', numbers: [13] } }, [10, 12]],
    [
      {
        op: 'or',
        nodes: [
          { op: 'isNull', column: PRICE },
          {
            op: 'and',
            nodes: [
              { op: '=', column: BRAND, value: 'illy' },
              { op: '>', column: PRICE, value: 3 },
            ],
          },
        ],
      },
      [10, 13],
    ],
  ])('filters by %j', (filter, expected) => {
    expect(recordNumbers({ filter })).toEqual(expected);
  });

  test('sorts, skips, counts facets and measures distances', () => {
    expect(recordNumbers({ sort: [{ by: 'column', column: PRICE, descending: false }] })).toEqual([12, 10, 13]);
    expect(recordNumbers({ sort: [{ by: 'recordNumber', descending: true }] })).toEqual([13, 12, 10]);
    const result = search({
      skip: 1,
      size: 1,
      sort: [{ by: 'recordNumber', descending: true }],
      facets: [
        { column: BRAND, size: 5 },
        { column: PRICE, size: 5 },
      ],
    });
    expect(result.total).toBe(3);
    expect([...result.hits.recordNumbers()]).toEqual([12]);
    expect(result.hits.distance(0)).toBeNaN();
    const facets = JSON.parse(result.facetsJson);
    expect(facets.brand).toEqual([
      { value: 'illy', count: 2 },
      { value: 'Melitta', count: 1 },
    ]);
    expect(JSON.parse(result.rangesJson)).toEqual({ price: { min: 2, max: 3.5 } });
    expect(result.explainJson).toBe('');

    const near = search({
      groups: [word('koln')],
      explain: true,
      distance: { column: PLACE, latitude: 51.94, longitude: 6.96 },
    });
    expect(near.hits.distance(0)).toBeCloseTo(111_195, -2);
    expect(near.hits.latitude(0)).toBe(50.94);
    expect(near.hits.longitude(0)).toBe(6.96);
    expect(near.hits.score(0)).toBeGreaterThan(0);
    expect(near.hits.score(0)).toBeLessThanOrEqual(1);
    expect(JSON.parse(near.explainJson)).toHaveLength(1);
  });

  test('weighs a word by the rarity of its typos only if the word itself is absent', () => {
    const idf = (alternatives: PlanGroup['alternatives']): number => {
      const { explainJson } = search({ groups: [{ occur: 'should', boost: 1, alternatives }], explain: true });
      return (JSON.parse(explainJson) as { groups: { idf: number }[] }[])[0]?.groups[0]?.idf ?? 0;
    };
    const typed = { weight: 1, terms: ['koln'] } as const;
    const frequent = { weight: 0.5, terms: ['cafe'] } as const;
    const rare = idf([typed]);
    const common = idf([frequent]);
    expect(rare).toBeGreaterThan(common);
    expect(idf([typed, { ...frequent, kind: 'typo' }])).toBe(rare);
    expect(idf([typed, { ...frequent, kind: 'synonym' }])).toBe(common);
    expect(
      idf([
        { weight: 1, terms: ['absent'] },
        { ...frequent, kind: 'typo' },
      ]),
    ).toBe(common);
  });

  test('adds a bonus for words adjacent in the query that are close to each other in a record', () => {
    const groups: PlanGroup[] = ['cafe', 'koln', 'nothing'].map((term) => ({ ...word(term), occur: 'should' }));
    const near = search({ groups, proximityWeight: 0.2, sequence: [0, 1, 2, 1], explain: true });
    const explained = JSON.parse(near.explainJson) as {
      score: number;
      groups: { contribution: number }[];
      nearby?: { terms: string[]; contribution: number }[];
    }[];
    expect(explained[0]?.nearby?.map(({ terms }) => terms)).toEqual([['cafe', 'koln']]);
    expect(explained[1]).not.toHaveProperty('nearby');
    for (const { score, groups: parts, nearby = [] } of explained) {
      expect([...parts, ...nearby].reduce((sum, { contribution }) => sum + contribution, 0)).toBeCloseTo(score, 5);
    }
    expect(() => search({ groups, sequence: [3] })).toThrow(/sequence/);
    expect(() => search({ groups, proximityWeight: 2 })).toThrow(/proximity weight/);
  });

  test('is refused with invalid words or an invalid weight of whole fields', () => {
    const groups: PlanGroup[] = [{ ...word('cafe'), occur: 'mustNot' }];
    expect(() => search({ groups, whole: [0] })).toThrow(/sequence/);
    expect(() => search({ groups: [word('cafe')], whole: [1] })).toThrow(/sequence/);
    expect(() => search({ groups: [word('cafe')], whole: new Array<number>(65).fill(0) })).toThrow(/sequence/);
    expect(() => search({ groups: [word('cafe')], wholeFieldWeight: -1 })).toThrow(/whole field weight/);
  });

  test('is refused with a RangeError if a number does not fit its field', () => {
    expect(() => recordNumbers({ skip: -1 })).toThrow(RangeError);
    expect(() => recordNumbers({ size: 1.5 })).toThrow(RangeError);
    expect(() => recordNumbers({ filter: { op: 'isNull', column: 65536 } })).toThrow(RangeError);
  });
});

test('A query plan that is cut short is refused by the kernel', () => {
  const bytes = writer.write({
    needTotal: true,
    skip: 0,
    size: 1,
    groups: [],
    filter: MATCH_ALL,
    sort: [],
    facets: [],
  });
  expect(() => kernel.search(generation, bytes.subarray(0, bytes.length - 1))).toThrow(
    expect.objectContaining({ name: 'KernelError', code: 'invalid-argument' }),
  );
});

describe('query result', () => {
  test('throws a RangeError for the number of a hit that it does not have', () => {
    const { hits } = search({ groups: [word('koln')] });
    expect(hits.count).toBe(1);
    expect(() => hits.score(1)).toThrow(RangeError);
    expect(() => hits.score(-1)).toThrow(RangeError);
    expect(() => hits.score(Number.NaN)).toThrow(RangeError);
  });

  test('is refused with a RangeError if the bytes are no result', () => {
    expect(() => parseResult(new Uint8Array(64))).toThrow(RangeError);
    expect(() => parseResult(new Uint8Array(3))).toThrow(RangeError);
  });
});

describe('DocumentBatchWriter', () => {
  test('writes the format that document_batch.h describes', () => {
    const batch = new DocumentBatchWriter();
    batch.begin(7);
    batch.text(1, 'é\ud800');
    batch.string(2, 'key', 'key');
    batch.end();
    const bytes = Buffer.from(batch.finish());
    expect(batch.byteLength).toBe(bytes.length);
    const expected = Buffer.concat([
      Buffer.from([1, 0, 0, 0, 7, 0, 0, 0, 12 + 14, 0, 0, 0]),
      Buffer.from([1, 1, 0, 5, 0, 0, 0, 0xc3, 0xa9, 0xef, 0xbf, 0xbd]),
      Buffer.from([2, 2, 0, 3, 0, 0, 0, ...Buffer.from('key'), 0, 0, 0, 0]),
    ]);
    expect(bytes).toEqual(expected);
    batch.reset();
    expect(batch.finish()).toEqual(new Uint8Array(4));
  });

  test('throws if begin and end are not paired', () => {
    const batch = new DocumentBatchWriter();
    expect(() => batch.end()).toThrow('no document');
    expect(() => batch.text(0, 'x')).toThrow('no document');
    batch.begin(1);
    expect(() => batch.begin(2)).toThrow('not been ended');
    expect(() => batch.finish()).toThrow('not been ended');
  });
});
