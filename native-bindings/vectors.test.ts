import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DocumentBatchWriter } from './document-batch.js';
import { itWhere } from '../test/support/skip.js';
import { kernel, kernelConstant, type MeaningSearch, type SegmentSchema } from './index.js';
import { parseResult, type PlanFilter, QueryPlanWriter } from './query-plan.js';

const schema: SegmentSchema = {
  textFields: [{ name: 'text', weightUnits: 1 }],
  columns: [{ name: 'price', type: 'number', many: false }],
};
const DIMENSIONS = 5;
const invalid = expect.objectContaining({ name: 'KernelError', code: 'invalid-argument' });
const damaged = expect.objectContaining({ name: 'KernelError', code: 'damaged' });

let folder: string;
let files = 0;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'gannet-vectors-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const fresh = (ending: string) => path.join(folder, `${(files += 1)}.${ending}`);

interface Item {
  readonly record: number;
  readonly word: string;
  readonly price: number;
  readonly vectors: readonly (readonly number[])[];
}

function buildWords(items: readonly Item[]): number {
  const batch = new DocumentBatchWriter();
  for (const { record, word, price } of items) {
    batch.begin(record);
    batch.text(0, word);
    batch.number(0, price);
    batch.end();
  }
  const file = fresh('mdb');
  kernel.buildSegment(file, schema, batch.finish());
  return kernel.openSegment(file);
}

function rowsOf(items: readonly Item[]) {
  const rows = items.flatMap(({ record, vectors }) => vectors.map((vector, place) => ({ record, vector, place })));
  return {
    dimensions: DIMENSIONS,
    vectors: Float32Array.from(rows.flatMap(({ vector }) => vector)),
    records: Uint32Array.from(rows, ({ record }) => record),
    places: Uint32Array.from(rows, ({ place }) => place),
  };
}

function buildVectors(items: readonly Item[]): number {
  const file = fresh('gvs');
  kernel.buildVectorSegment(file, rowsOf(items));
  return kernel.openVectorSegment(file);
}

function plan(options: {
  word?: string | undefined;
  filter?: PlanFilter;
  skip?: number;
  size?: number;
  explain?: boolean;
}): Uint8Array {
  const { word, filter = { op: 'all' }, skip = 0, size = 100, explain = false } = options;
  return new QueryPlanWriter().write({
    needTotal: true,
    explain,
    skip,
    size,
    groups: word === undefined ? [] : [{ occur: 'should', boost: 1, alternatives: [{ weight: 1, terms: [word] }] }],
    filter,
    sort: [],
    facets: [],
  });
}

const near = (vector: readonly number[], more: Partial<MeaningSearch> = {}): MeaningSearch => ({
  vector: Float32Array.from(vector),
  weight: 0.5,
  floor: 0.5,
  farthest: 0,
  nearest: 1,
  wanted: 100,
  width: 100,
  ...more,
});

function cosine(a: readonly number[], b: readonly number[]): number {
  const product = (x: readonly number[], y: readonly number[]) =>
    x.reduce((sum, value, i) => sum + value * (y[i] ?? 0), 0);
  return product(a, b) / Math.sqrt(product(a, a) * product(b, b));
}

const vector = fc
  .array(fc.integer({ min: -20, max: 20 }), { minLength: DIMENSIONS, maxLength: DIMENSIONS })
  .filter((values) => values.some((value) => value !== 0));
const item = fc.record({
  word: fc.constantFrom('sea', 'moss', 'cliff'),
  price: fc.integer({ min: 0, max: 9 }),
  vectors: fc.array(vector, { maxLength: 3 }),
});

describe('search by meaning beside words', () => {
  test('finds, scores, filters, counts and pages hits as a simple model does', () => {
    fc.assert(
      fc.property(
        fc.array(item, { minLength: 1, maxLength: 40 }),
        vector,
        fc.record({
          word: fc.option(fc.constantFrom('sea', 'moss'), { nil: undefined }),
          below: fc.option(fc.integer({ min: 0, max: 10 }), { nil: undefined }),
          floor: fc.constantFrom(0.2, 0.7),
          adds: fc.boolean(),
          cut: fc.nat(40),
          skip: fc.nat(5),
          dead: fc.uniqueArray(fc.nat(40)),
          unembedded: fc.uniqueArray(fc.nat(40)),
        }),
        (made, query, { word, below, floor, adds, cut, skip, dead, unembedded }) => {
          const items = made.map((each, i) => ({ ...each, record: 3 * i + 1 }));
          const parts = [items.slice(0, cut), items.slice(cut)].filter((part) => part.length > 0);
          const words = parts.map(buildWords);
          const embedded = items.filter((_, i) => items[i]?.vectors.length);
          const segments = embedded.length > 0 ? [buildVectors(embedded)] : [];
          const generation = kernel.publishGeneration({
            add: words.map((segment) => ({ segment })),
            deletions: words.map((segment, part) => ({
              segment,
              documents: Uint32Array.from(
                (parts[part] ?? []).flatMap((each, document) =>
                  dead.includes((each.record - 1) / 3) ? [document] : [],
                ),
              ),
            })),
            vectors: {
              add: segments.map((segment) => ({ segment })),
              deletions: segments.map((segment) => ({
                segment,
                records: Uint32Array.from(unembedded, (i) => 3 * i + 1),
              })),
            },
          });
          const filter: PlanFilter = below === undefined ? { op: 'all' } : { op: '<', column: 0, value: below };
          const wordScores = new Map<number, number>();
          if (word !== undefined) {
            const { hits } = parseResult(kernel.search(generation, plan({ word, filter })));
            for (let i = 0; i < hits.count; i += 1) wordScores.set(hits.recordNumber(i), hits.score(i));
          }
          const expected = items.flatMap(({ record, price, vectors }, i) => {
            if (dead.includes(i) || (below !== undefined && price >= below)) return [];
            const cosines = unembedded.includes(i) ? [] : vectors.map((each) => cosine(each, query));
            const meaning = Math.max(0, ...cosines);
            const byWords = wordScores.get(record) ?? 0;
            if (byWords === 0 && !(adds && meaning >= floor)) return [];
            // A similarity at the floor may be rounded to either side of it.
            if (byWords === 0 && Math.abs(meaning - floor) < 0.002) return [{ record, score: NaN, meaning }];
            return [{ record, score: 0.5 * byWords + 0.5 * meaning, meaning }];
          });
          const unclear = new Set(expected.filter(({ score }) => Number.isNaN(score)).map(({ record }) => record));
          const meaning = near(query, { floor, adds });
          const { total, hits, scores } = parseResult(kernel.search(generation, plan({ word, filter }), meaning));
          const found = new Map<number, number>();
          for (let i = 0; i < hits.count; i += 1) {
            found.set(hits.recordNumber(i), hits.score(i));
            expect(scores.kinds).toEqual(['words', 'meaning']);
            expect(0.5 * scores.score(i, 0) + 0.5 * scores.score(i, 1)).toBeCloseTo(hits.score(i), 5);
          }
          expect(total).toBe(found.size);
          for (const { record, score } of expected) {
            if (unclear.has(record)) continue;
            expect(Math.abs((found.get(record) ?? -1) - score)).toBeLessThan(0.002);
          }
          for (const record of found.keys()) expect(expected.map((each) => each.record)).toContain(record);
          // Each page has the same hits and scores as the whole list.
          const page = parseResult(kernel.search(generation, plan({ word, filter, skip, size: 3 }), meaning));
          expect(page.total).toBe(total);
          for (let i = 0; i < page.hits.count; i += 1) {
            expect(page.hits.recordNumber(i)).toBe(hits.recordNumber(skip + i));
            expect(page.hits.score(i)).toBe(hits.score(skip + i));
          }
          const exact = parseResult(kernel.search(generation, plan({ word, filter }), { ...meaning, exact: true }));
          expect([...exact.hits.recordNumbers()]).toEqual([...hits.recordNumbers()]);
          kernel.releaseGeneration(generation);
          words.forEach((segment) => kernel.closeSegment(segment));
          segments.forEach((segment) => kernel.closeVectorSegment(segment));
        },
      ),
      { numRuns: 60 },
    );
  });

  itWhere(process.platform === 'linux', 'only Linux says which mapping it was')(
    'writes no merged file if one of the files was cut, and reports the cut one',
    () => {
      // Enough vectors for a graph, which is built before the first byte is written.
      const [count, dimensions] = [6000, 64];
      const numbers = Uint32Array.from({ length: count }, (_, index) => index + 1);
      const vectors = Float32Array.from({ length: count * dimensions }, (_, index) => Math.sin(index * index));
      const file = fresh('gvs');
      kernel.buildVectorSegment(file, { dimensions, vectors, records: numbers, places: new Uint32Array(count) });
      const segment = kernel.openVectorSegment(file);
      truncateSync(file, Math.floor(statSync(file).size * 0.9));
      const target = fresh('gvs');
      const unreadable = expect.objectContaining({ name: 'KernelError', code: 'unreadable' });
      for (let round = 0; round < 2; ++round)
        expect(() => kernel.mergeVectorSegments(target, [{ segment }])).toThrow(unreadable);
      expect(existsSync(target)).toBe(false);
      expect(kernel.takeUnreadableFiles()).toEqual([file]);
      kernel.closeVectorSegment(segment);
    },
  );

  test('scores the same after a merge, which leaves out vectors of deleted records', () => {
    const items = Array.from({ length: 30 }, (_, i) => ({
      record: i + 1,
      word: 'sea',
      price: 1,
      vectors: [[i, 5, 1, -i, 2]],
    }));
    const segment = buildWords(items);
    const [first, second] = [buildVectors(items.slice(0, 20)), buildVectors(items.slice(20))];
    const before = kernel.publishGeneration({
      add: [{ segment }],
      deletions: [{ segment, documents: Uint32Array.of(4) }],
      vectors: { add: [{ segment: first }, { segment: second, deleted: Uint8Array.of(0b10) }] },
    });
    expect(kernel.generationVectors(before)).toMatchObject([
      { segment: first, dimensions: DIMENSIONS, vectorCount: 20, deletedCount: 0 },
      { segment: second, dimensions: DIMENSIONS, vectorCount: 10, deletedCount: 1 },
    ]);
    expect(kernel.vectorDeletions(before, first)).toBeUndefined();
    expect(kernel.vectorDeletions(before, second)).toEqual(Buffer.of(0b10, 0));
    const file = fresh('gvs');
    const summary = kernel.mergeVectorSegments(
      file,
      [first, second].map((each) => ({ segment: each, deleted: kernel.deadVectors(before, each) })),
    );
    expect(summary).toMatchObject({ vectorCount: 28, dimensions: DIMENSIONS, hasGraph: false });
    const merged = kernel.openVectorSegment(file);
    expect([...kernel.vectorSegmentRows(merged).records]).toEqual(
      items.map(({ record }) => record).filter((record) => record !== 5 && record !== 22),
    );
    const after = kernel.publishGeneration({
      base: before,
      vectors: { add: [{ segment: merged }], remove: [first, second] },
    });
    const answers = [before, after].map((generation) => {
      const { total, hits } = parseResult(kernel.search(generation, plan({}), near([3, 5, 1, -3, 2], { floor: 0.1 })));
      return { total, hits: [...hits.recordNumbers()].map((record, i) => [record, hits.score(i)]) };
    });
    expect(answers[0]?.total).toBe(28);
    expect(answers[1]).toEqual(answers[0]);
    for (const generation of [before, after]) kernel.releaseGeneration(generation);
  });

  test('reports the place of the best passage and explains its score', () => {
    const segment = buildWords([{ record: 7, word: 'sea', price: 1, vectors: [] }]);
    const vectors = buildVectors([
      {
        record: 7,
        word: '',
        price: 0,
        vectors: [
          [1, 0, 0, 0, 0],
          [0, 1, 0, 0, 0],
          [1, 1, 0, 0, 0],
        ],
      },
    ]);
    const generation = kernel.publishGeneration({ add: [{ segment }], vectors: { add: [{ segment: vectors }] } });
    const result = parseResult(kernel.search(generation, plan({ explain: true }), near([0, 1, 0, 0, 0])));
    expect(result.scores.place(0, 1)).toBe(1);
    expect(result.scores.place(0, 0)).toBeUndefined();
    expect(result.scores.score(0, 1)).toBe(1);
    expect(JSON.parse(result.explainJson)).toMatchObject([
      { score: 0.5, sources: [{ kind: 'meaning', score: 1, weight: 0.5, place: 1, cosine: 1, way: 'scan' }] },
    ]);
    kernel.releaseGeneration(generation);
  });

  test('finds nothing by meaning in a generation without vectors, but still finds words', () => {
    const segment = buildWords([{ record: 7, word: 'sea', price: 1, vectors: [] }]);
    const generation = kernel.publishGeneration({ add: [{ segment }] });
    expect(parseResult(kernel.search(generation, plan({}), near([1, 0, 0, 0, 0]))).total).toBe(0);
    const { hits, scores } = parseResult(kernel.search(generation, plan({ word: 'sea' })));
    expect(hits.count).toBe(1);
    expect(scores.kinds).toEqual([]);
    kernel.releaseGeneration(generation);
  });

  test('refuses invalid vectors, weights, bounds and counts', () => {
    const segment = buildWords([{ record: 7, word: 'sea', price: 1, vectors: [] }]);
    const vectors = buildVectors([{ record: 7, word: '', price: 0, vectors: [[1, 0, 0, 0, 0]] }]);
    const generation = kernel.publishGeneration({ add: [{ segment }], vectors: { add: [{ segment: vectors }] } });
    const search = (more: Partial<MeaningSearch>) => () =>
      kernel.search(generation, plan({}), near([1, 0, 0, 0, 0], more));
    for (const more of [
      { vector: Float32Array.of(1, 2) },
      { vector: new Float32Array(DIMENSIONS) },
      { vector: Float32Array.of(1, NaN, 0, 0, 0) },
      { weight: 0 },
      { weight: 1.5 },
      { floor: -1 },
      { nearest: 0 },
      { farthest: NaN },
      { wanted: 0 },
      { wanted: kernelConstant('MeaningWantedMax') + 1 },
      { width: 0 },
      { wordsFull: -0.1 },
      { wordsFull: 1.1 },
    ]) {
      expect(search(more), JSON.stringify(more)).toThrow(invalid);
    }
    const wrong = { vector: [1, 0, 0, 0, 0] } as unknown as Partial<MeaningSearch>;
    expect(search(wrong)).toThrow(new TypeError('meaning.vector has to be a Float32Array'));
    kernel.releaseGeneration(generation);
  });
});

describe('search of pictures beside words', () => {
  const at = (record: number, word: string, price: number, ...vectors: number[][]): Item => ({
    record,
    word,
    price,
    vectors,
  });
  const sought = { floor: 0.5, farthest: 0, nearest: 1, wanted: 100, width: 100 };

  test('finds, scores, filters, counts and pages hits as a simple model does', () => {
    fc.assert(
      fc.property(
        fc.array(item, { minLength: 1, maxLength: 40 }),
        vector,
        fc.record({
          below: fc.option(fc.integer({ min: 0, max: 10 }), { nil: undefined }),
          cut: fc.nat(40),
          dead: fc.uniqueArray(fc.nat(40)),
          textFloor: fc.constantFrom(0, 0.4),
          skip: fc.nat(5),
          wanted: fc.constantFrom(1, 100),
        }),
        (made, query, { below, cut, dead, textFloor, skip, wanted }) => {
          const items = made.map((each, i) => ({ ...each, record: 3 * i + 1 }));
          const parts = [items.slice(0, cut), items.slice(cut)].filter((part) => part.length > 0);
          const words = parts.map(buildWords);
          const seen = items.filter(({ vectors }) => vectors.length > 0);
          const vectors = seen.length > 0 ? [buildVectors(seen)] : [];
          const change = {
            add: words.map((segment) => ({ segment })),
            deletions: words.map((segment, part) => {
              const gone = (parts[part] ?? []).flatMap(({ record }, i) => (dead.includes((record - 1) / 3) ? [i] : []));
              return { segment, documents: Uint32Array.from(gone) };
            }),
          };
          const records = kernel.publishGeneration(change);
          const pictures = kernel.publishGeneration({
            ...change,
            vectors: { add: vectors.map((segment) => ({ segment })) },
          });
          const filter: PlanFilter = below === undefined ? { op: 'all' } : { op: '<', column: 0, value: below };
          const near = { ...sought, generation: pictures, vector: Float32Array.from(query), wanted };
          const search = (more: { skip?: number; size?: number } = {}) =>
            parseResult(
              kernel.search(records, plan({ word: 'sea', filter, ...more }), undefined, {
                parts: [],
                textFloor,
                pictures: near,
              }),
            );
          const alone = parseResult(kernel.search(records, plan({ word: 'sea', filter })));
          const byWords = new Map(Array.from(alone.hits.recordNumbers(), (record, i) => [record, alone.hits.score(i)]));
          const passing = items.flatMap((each, i) => {
            if (dead.includes(i) || (below !== undefined && each.price >= below)) return [];
            const text = byWords.get(each.record) ?? 0;
            const cosines = each.vectors.map((own) => cosine(own, query));
            return [{ record: each.record, text: text < textFloor ? 0 : text, image: Math.max(0, ...cosines) }];
          });
          // `wanted` counts vectors, not records.
          const cosines = items.flatMap(({ vectors: own, record }) =>
            passing.some((each) => each.record === record) ? own.map((each) => cosine(each, query)) : [],
          );
          const least = cosines.toSorted((a, b) => b - a)[wanted - 1] ?? -1;
          const isUnclear = (image: number) =>
            Math.abs(image - sought.floor) < 0.002 || (cosines.length > wanted && Math.abs(image - least) < 0.002);
          const { total, hits, scores } = search({ size: 100 });
          expect([total, [...scores.kinds]]).toEqual([hits.count, ['words', 'text', 'image']]);
          const found = new Map(Array.from(hits.recordNumbers(), (record, i) => [record, i]));
          for (const { record, text, image } of passing) {
            if (isUnclear(image)) continue;
            const counted = image >= sought.floor && image > least - 0.002 ? image : 0;
            const hit = found.get(record);
            expect(hit === undefined ? 0 : hits.score(hit)).toBeCloseTo(Math.max(text, counted), 2);
            if (hit === undefined) continue;
            expect(scores.score(hit, 1)).toBeCloseTo(text, 5);
            expect(scores.score(hit, 2)).toBeCloseTo(counted, 2);
          }
          for (const record of found.keys()) expect(passing.map((each) => each.record)).toContain(record);
          const page = search({ skip, size: 3 });
          expect(page.total).toBe(total);
          expect([...page.hits.recordNumbers()]).toEqual([...hits.recordNumbers()].slice(skip, skip + 3));
          for (const generation of [records, pictures]) kernel.releaseGeneration(generation);
          words.forEach((segment) => kernel.closeSegment(segment));
          vectors.forEach((segment) => kernel.closeVectorSegment(segment));
        },
      ),
      { numRuns: 60 },
    );
  });

  test('reports the place of the picture, and refuses a generation of pictures of other records', () => {
    const segment = buildWords([at(7, 'sea', 1), at(8, 'moss', 1)]);
    const vectors = buildVectors([at(8, '', 0, [1, 0, 0, 0, 0], [0, 1, 0, 0, 0])]);
    const records = kernel.publishGeneration({ add: [{ segment }] });
    const pictures = kernel.publishGeneration({ add: [{ segment }], vectors: { add: [{ segment: vectors }] } });
    const other = kernel.publishGeneration({ add: [{ segment: buildWords([at(7, 'sea', 1)]) }] });
    const search = (generation: number, more: object = {}) =>
      kernel.search(records, plan({ word: 'sea', explain: true }), undefined, {
        parts: [],
        pictures: { ...sought, generation, vector: Float32Array.of(0, 1, 0, 0, 0), ...more },
      });
    const { hits, scores, explainJson } = parseResult(search(pictures));
    expect([...hits.recordNumbers()].toSorted()).toEqual([7, 8]);
    const picture = [...hits.recordNumbers()].indexOf(8);
    expect([scores.score(picture, 2), scores.place(picture, 2)]).toEqual([1, 1]);
    expect(scores.score(1 - picture, 2)).toBe(0);
    const explained = JSON.parse(explainJson) as { sources: { kind: string }[] }[];
    expect(explained[picture]?.sources).toMatchObject([{ kind: 'image', cosine: 1, place: 1 }]);
    expect(() => search(other)).toThrow(invalid);
    expect(() => search(pictures, { vector: Float32Array.of(1) })).toThrow(invalid);
    expect(() => search(pictures, { wanted: 0 })).toThrow(invalid);
    expect(() => search(12_345_678)).toThrow();
    for (const generation of [records, pictures, other]) kernel.releaseGeneration(generation);
  });
});

describe('vector segment', () => {
  const rows = rowsOf([{ record: 1, word: '', price: 0, vectors: [[1, 2, 3, 4, 5]] }]);

  test('is refused with invalid rows, and leaves no file behind', () => {
    const build = (more: Partial<typeof rows>) => () => kernel.buildVectorSegment(fresh('gvs'), { ...rows, ...more });
    const finished = () => readdirSync(folder).filter((name) => name !== 'unfinished');
    const before = finished();
    expect(build({ vectors: new Float32Array(DIMENSIONS) })).toThrow(invalid);
    expect(build({ vectors: Float32Array.of(1, 2, Infinity, 4, 5) })).toThrow(invalid);
    expect(build({ dimensions: 4 })).toThrow(invalid);
    expect(build({ dimensions: 0 })).toThrow(invalid);
    expect(build({ records: new Uint32Array(0), places: new Uint32Array(0), vectors: new Float32Array(0) })).toThrow(
      invalid,
    );
    const twice = {
      records: Uint32Array.of(1, 1),
      places: Uint32Array.of(3, 3),
      vectors: new Float32Array(10).fill(1),
    };
    expect(build(twice)).toThrow('passage 3 of record 1 twice');
    expect(finished()).toEqual(before);
    expect(readdirSync(path.join(folder, 'unfinished'))).toEqual([]);
  });

  test('is refused with a code if its file is damaged, cut, missing or of another format', async () => {
    const file = fresh('gvs');
    kernel.buildVectorSegment(file, rows);
    kernel.checkVectorSegment(file);
    const whole = readFileSync(file);
    for (let at = 0; at < whole.length; at += 1) {
      const bytes = Buffer.from(whole);
      bytes.writeUInt8(bytes.readUInt8(at) ^ 0x10, at);
      const other = fresh('gvs');
      writeFileSync(other, bytes);
      expect(() => kernel.checkVectorSegment(other), `byte ${at}`).toThrow(
        at >= 4 && at < 8 ? expect.objectContaining({ code: 'unsupported-format' }) : damaged,
      );
    }
    const cut = fresh('gvs');
    writeFileSync(cut, whole.subarray(0, whole.length - 1));
    expect(() => kernel.openVectorSegment(cut)).toThrow(damaged);
    await expect(kernel.checkVectorSegmentInBackground(cut)).rejects.toEqual(damaged);
    expect(() => kernel.openVectorSegment(fresh('gvs'))).toThrow(expect.objectContaining({ code: 'io' }));
  });

  test('gives the sum of the normalized passages of each record, without deleted ones, from all segments', () => {
    const first = buildVectors([
      { record: 1, word: '', price: 0, vectors: [[3, 0, 0, 0, 0]] },
      {
        record: 2,
        word: '',
        price: 0,
        vectors: [
          [1, 0, 0, 0, 0],
          [0, 0, 2, 0, 0],
        ],
      },
    ]);
    const second = buildVectors([{ record: 7, word: '', price: 0, vectors: [[0, 0, 0, 5, 0]] }]);
    const add = [{ segment: first }, { segment: second }];
    const deletions = [{ segment: first, records: Uint32Array.of(1) }];
    const generation = kernel.publishGeneration({ vectors: { add, deletions } });
    const rows = kernel.recordVectors(generation, Uint32Array.of(2, 1, 7, 99));
    expect(Array.from(rows)).toEqual([1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    const none = kernel.publishGeneration({});
    expect(kernel.recordVectors(none, Uint32Array.of(2))).toHaveLength(0);
    for (const each of [generation, none]) kernel.releaseGeneration(each);
  });

  test('shares no generation and no merge with one of another number of dimensions', () => {
    const one = buildVectors([{ record: 1, word: '', price: 0, vectors: [[1, 2, 3, 4, 5]] }]);
    const file = fresh('gvs');
    kernel.buildVectorSegment(file, { ...rows, dimensions: 1, vectors: Float32Array.of(3) });
    const other = kernel.openVectorSegment(file);
    expect(() => kernel.publishGeneration({ vectors: { add: [{ segment: one }, { segment: other }] } })).toThrow(
      invalid,
    );
    expect(() => kernel.mergeVectorSegments(fresh('gvs'), [{ segment: one }, { segment: other }])).toThrow(invalid);
    expect(() => kernel.publishGeneration({ vectors: { add: [{ segment: one }, { segment: one }] } })).toThrow(invalid);
    expect(() => kernel.mergeVectorSegments(fresh('gvs'), [{ segment: one, deleted: Uint8Array.of(1) }])).toThrow(
      invalid,
    );
    expect(kernel.vectorBuildBytes(1_000_000, 384)).toBeGreaterThan(384e6);
  });

  test('is not built after its stop was raised, and leaves no file', () => {
    const count = 20_000;
    const many = {
      dimensions: DIMENSIONS,
      vectors: Float32Array.from({ length: count * DIMENSIONS }, (_, i) => Math.sin(i * i)),
      records: Uint32Array.from({ length: count }, (_, i) => i),
      places: new Uint32Array(count),
    };
    kernel.raiseStop(17);
    kernel.watchStop(17, Infinity, Infinity);
    try {
      expect(() => kernel.buildVectorSegment(fresh('gvs'), many)).toThrow(expect.objectContaining({ code: 'stopped' }));
    } finally {
      kernel.unwatchStop();
      kernel.lowerStop(17);
    }
    expect(readdirSync(path.join(folder, 'unfinished'))).toEqual([]);
  });
});
