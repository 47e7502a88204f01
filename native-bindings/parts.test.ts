import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DocumentBatchWriter } from './document-batch.js';
import { kernel, type GenerationHandle, type PartSearch, type PartsSearch, type SegmentSchema } from './index.js';
import { parseResult, type PlanFilter, type PlanGroup, QueryPlanWriter, type QueryResult } from './query-plan.js';

const RECORDS: SegmentSchema = {
  textFields: [{ name: 'text', weightUnits: 1 }],
  columns: [{ name: 'price', type: 'number', many: false }],
};
const PAGES: SegmentSchema = {
  textFields: [{ name: 'text', weightUnits: 1 }],
  columns: [
    { name: 'record', type: 'number', many: false },
    { name: 'place', type: 'number', many: false },
  ],
};
const WORDS = ['sea', 'moss', 'cliff', 'wind'] as const;
const invalid = expect.objectContaining({ name: 'KernelError', code: 'invalid-argument' });

let folder: string;
let files = 0;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'gannet-parts-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function build(schema: SegmentSchema, write: (batch: DocumentBatchWriter) => void): number {
  const batch = new DocumentBatchWriter();
  write(batch);
  files += 1;
  const file = path.join(folder, `${files}.mdb`);
  kernel.buildSegment(file, schema, batch.finish());
  return kernel.openSegment(file);
}

interface Item {
  readonly record: number;
  readonly text: string;
  readonly price: number;
}
interface Page {
  readonly number: number;
  readonly record: number;
  readonly place: number;
  readonly text: string;
}

const buildRecords = (items: readonly Item[]): number =>
  build(RECORDS, (batch) => {
    for (const { record, text, price } of items) {
      batch.begin(record);
      batch.text(0, text);
      batch.number(0, price);
      batch.end();
    }
  });

const buildPages = (pages: readonly Page[]): number =>
  build(PAGES, (batch) => {
    for (const { number, record, place, text } of pages) {
      batch.begin(number);
      batch.text(0, text);
      batch.number(0, record);
      batch.number(1, place);
      batch.end();
    }
  });

interface Asked {
  readonly words: readonly string[];
  readonly filter?: PlanFilter;
  readonly skip?: number;
  readonly size?: number;
  readonly explain?: boolean;
  readonly byPrice?: boolean;
  readonly needTotal?: boolean;
}

function plan({ words, filter = { op: 'all' }, ...more }: Asked): Uint8Array {
  return new QueryPlanWriter().write({
    needTotal: more.needTotal ?? true,
    explain: more.explain ?? false,
    skip: more.skip ?? 0,
    size: more.size ?? 1000,
    groups: words.map((word): PlanGroup => {
      const term = word.replace('-', '');
      return { occur: word === term ? 'should' : 'mustNot', boost: 1, alternatives: [{ weight: 1, terms: [term] }] };
    }),
    filter,
    sort: more.byPrice === true ? [{ by: 'column', descending: false, column: 0 }] : [],
    facets: more.byPrice === true ? [{ column: 0, size: 100 }] : [],
  });
}

const ofPages = (words: readonly string[], more: Partial<PartSearch> = {}): PartSearch => ({
  name: 'pages',
  kind: 'document',
  plan: plan({ words }),
  floor: 0,
  ...more,
});

const search = (generation: GenerationHandle, asked: Asked, parts?: PartsSearch): QueryResult =>
  parseResult(kernel.search(generation, plan(asked), undefined, parts));

/** For each hit: record number, score of the hit, of its text and of its best document, and the place of that document or -1. */
function rows({ hits, scores }: QueryResult): number[][] {
  const [text, document] = [scores.kinds.indexOf('text'), scores.kinds.indexOf('document')];
  return Array.from({ length: hits.count }, (_, i) => [
    hits.recordNumber(i),
    hits.score(i),
    scores.score(i, text),
    scores.score(i, document),
    scores.place(i, document) ?? -1,
  ]);
}

function scoresOf({ hits }: QueryResult): Map<number, number> {
  return new Map(Array.from({ length: hits.count }, (_, i) => [hits.recordNumber(i), hits.score(i)]));
}

function partOf(generation: GenerationHandle): GenerationHandle {
  const [part] = kernel.generationParts(generation);
  if (part === undefined) throw new Error('no part');
  return part.generation;
}

const text = fc.array(fc.constantFrom(...WORDS), { maxLength: 6 }).map((words) => words.join(' '));
const queryWords = fc
  .uniqueArray(fc.constantFrom('sea', 'moss', 'cliff'), { minLength: 1 })
  .chain((words) => fc.boolean().map((excludes) => (excludes ? [...words, '-wind'] : words)));

describe('search of parts beside the text of records', () => {
  test('finds, scores, filters, counts, orders and pages hits as a simple model does', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ text, price: fc.nat(5), pages: fc.array(text, { maxLength: 4 }) }), {
          minLength: 1,
          maxLength: 40,
        }),
        fc.record({
          words: queryWords,
          below: fc.option(fc.nat(6), { nil: undefined }),
          floor: fc.constantFrom(0, 0.2, 0.5),
          textFloor: fc.constantFrom(0, 0.3),
          full: fc.constantFrom(undefined, 0.5, 0),
          cut: fc.nat(40),
          dead: fc.uniqueArray(fc.nat(40)),
          deadPages: fc.uniqueArray(fc.nat(80)),
          skip: fc.nat(5),
        }),
        (made, { words, below, floor, textFloor, full, cut, dead, deadPages, skip }) => {
          const items = made.map((each, i): Item & { pages: readonly string[] } => ({ ...each, record: 2 * i + 1 }));
          const pages: Page[] = [];
          for (const { record, pages: texts } of items) {
            texts.forEach((each, i) => pages.push({ number: pages.length, record, place: i + 10, text: each }));
          }
          const halves = [items.slice(0, cut), items.slice(cut)].filter((half) => half.length > 0);
          const segments = halves.map(buildRecords);
          // The pages of a record may be in several segments, and in other segments than its fields.
          const pageHalves = [0, 1]
            .map((half) => pages.filter(({ number }) => (number % 3 === 0) === (half === 0)))
            .filter((half) => half.length > 0);
          const pageSegments = pageHalves.map(buildPages);
          const generation = kernel.publishGeneration({
            add: segments.map((segment) => ({ segment })),
            deletions: segments.map((segment, half) => ({
              segment,
              documents: Uint32Array.from(
                (halves[half] ?? []).flatMap(({ record }, i) => (dead.includes((record - 1) / 2) ? [i] : [])),
              ),
            })),
            parts: [
              {
                name: 'pages',
                add: pageSegments.map((segment) => ({ segment })),
                deletions: pageSegments.map((segment, half) => ({
                  segment,
                  documents: Uint32Array.from(
                    (pageHalves[half] ?? []).flatMap(({ number }, i) => (deadPages.includes(number) ? [i] : [])),
                  ),
                })),
              },
            ],
          });
          const filter: PlanFilter = below === undefined ? { op: 'all' } : { op: '<', column: 0, value: below };
          const byText = scoresOf(search(generation, { words, filter }));
          const byPage = scoresOf(search(partOf(generation), { words }));
          const parts: PartsSearch = {
            parts: [ofPages(words, { floor, ...(full === undefined ? {} : { full }) })],
            textFloor,
          };
          const found = search(generation, { words, filter }, parts);
          // If `full` is 0, the kernel chooses the full score. Any hit found by a page reveals it: score of the page / reported score.
          const fullScore = full === 0 ? fullOf(found, pages, byPage) : (full ?? 1);
          const model = items.flatMap(({ record, price, text: words_ }, i) => {
            if (dead.includes(i) || (below !== undefined && price >= below)) return [];
            if (words.includes('-wind') && words_.includes('wind')) return [];
            const ofText = byText.get(record) ?? 0;
            const textScore = ofText < Math.fround(textFloor) ? 0 : ofText;
            const best = pages
              .filter((page) => page.record === record)
              .map(({ number, place }) => ({ score: (byPage.get(number) ?? 0) / fullScore, place }))
              .filter(({ score }) => score > 0 && score >= floor - 1e-6)
              .sort((a, b) => b.score - a.score || a.place - b.place)[0];
            if (textScore === 0 && best === undefined) return [];
            const document = Math.min(1, best?.score ?? 0);
            return [
              {
                record,
                price,
                score: Math.max(textScore, document),
                text: textScore,
                document,
                place: best?.place ?? -1,
              },
            ];
          });
          const edges = pages.filter(({ number }) => Math.abs((byPage.get(number) ?? 0) / fullScore - floor) < 1e-5);
          fc.pre(edges.length === 0);
          expect(found.total).toBe(model.length);
          const byRecord = new Map(model.map((each) => [each.record, each]));
          let last = Infinity;
          for (const [record = -1, score = -1, ofText, document, place] of rows(found)) {
            const each = byRecord.get(record);
            expect(each).toBeDefined();
            expect(score).toBeCloseTo(each?.score ?? -1, 5);
            expect(ofText).toBeCloseTo(each?.text ?? -1, 5);
            expect(document).toBeCloseTo(each?.document ?? -1, 5);
            expect(place).toBe(each?.place);
            expect(score).toBeLessThanOrEqual(last);
            last = score;
          }
          for (const needTotal of [true, false]) {
            const page = search(generation, { words, filter, skip, size: 3, needTotal }, parts);
            if (needTotal) expect(page.total).toBe(found.total);
            expect(rows(page)).toEqual(rows(found).slice(skip, skip + 3));
          }
          const byPrice = search(generation, { words, filter, size: 4, byPrice: true }, parts);
          expect(byPrice.total).toBe(model.length);
          const inOrder = rows(found).sort(
            (a, b) => (byRecord.get(a[0] ?? -1)?.price ?? 0) - (byRecord.get(b[0] ?? -1)?.price ?? 0),
          );
          expect(rows(byPrice)).toEqual(inOrder.slice(0, 4));
          const counted = (JSON.parse(byPrice.facetsJson) as { price: { value: number; count: number }[] }).price;
          for (const { value, count } of counted) {
            expect(count).toBe(model.filter(({ price }) => price === value).length);
          }
          kernel.releaseGeneration(generation);
          for (const segment of [...segments, ...pageSegments]) kernel.closeSegment(segment);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('reports the place of the best document and explains its score', () => {
    const segment = buildRecords([
      { record: 4, text: 'cliff', price: 1 },
      { record: 7, text: 'moss moss', price: 1 },
    ]);
    const pages = buildPages([
      { number: 0, record: 7, place: 1, text: 'sea wind wind wind' },
      { number: 1, record: 7, place: 2, text: 'sea moss' },
      { number: 2, record: 9, place: 1, text: 'sea moss' },
    ]);
    const generation = kernel.publishGeneration({
      add: [{ segment }],
      parts: [{ name: 'pages', add: [{ segment: pages }] }],
    });
    const result = search(generation, { words: ['sea', 'moss'], explain: true }, { parts: [ofPages(['sea', 'moss'])] });
    expect(result.scores.kinds).toEqual(['words', 'text', 'document']);
    expect(result.total).toBe(1);
    expect(result.scores.place(0, 2)).toBe(2);
    const [explained] = JSON.parse(result.explainJson) as { sources: { kind: string }[] }[];
    const document = explained?.sources.find(({ kind }) => kind === 'document');
    expect(document).toMatchObject({
      place: 2,
      found: 3,
      evaluated: 2,
      groups: [{ terms: [{ term: 'sea' }] }, { terms: [{ term: 'moss' }] }],
    });
    expect([...kernel.findPartDocuments(pages, Uint32Array.of(9, 7))]).toEqual([0, 1, 2]);
    expect([...kernel.findPartDocuments(pages, Uint32Array.of(4))]).toEqual([]);
    kernel.releaseGeneration(generation);
  });

  test('finds hits by their text alone if the generation has no such parts', () => {
    const segment = buildRecords([{ record: 4, text: 'sea', price: 1 }]);
    const generation = kernel.publishGeneration({ add: [{ segment }] });
    expect(kernel.generationParts(generation)).toEqual([]);
    const alone = search(generation, { words: ['sea'] });
    const beside = search(generation, { words: ['sea'] }, { parts: [ofPages(['sea'])] });
    expect(beside.hits.score(0)).toBe(alone.hits.score(0));
    expect(rows(beside)).toEqual([[4, alone.hits.score(0), alone.hits.score(0), 0, -1]]);
    kernel.releaseGeneration(generation);
  });

  test('refuses invalid names of parts, segments without the columns of parts, and numbers out of range', () => {
    const segment = buildRecords([{ record: 4, text: 'sea', price: 1 }]);
    const pages = buildPages([{ number: 0, record: 4, place: 1, text: 'sea' }]);
    const publish = (name: string, added: number) => () =>
      kernel.publishGeneration({ add: [{ segment }], parts: [{ name, add: [{ segment: added }] }] });
    expect(publish('Pages', pages)).toThrow(invalid);
    expect(publish('', pages)).toThrow(invalid);
    expect(publish('p'.repeat(33), pages)).toThrow(invalid);
    expect(publish('pages', segment)).toThrow(invalid);
    expect(() => kernel.publishGeneration({ parts: [{ name: 'pages' }, { name: 'pages' }] })).toThrow(invalid);
    expect(() => kernel.findPartDocuments(segment, Uint32Array.of(1))).toThrow(invalid);
    const generation = publish('pages', pages)();
    const asking =
      (part: Partial<PartSearch>, textFloor = 0) =>
      () =>
        search(generation, { words: ['sea'] }, { parts: [ofPages(['sea'], part)], textFloor });
    expect(asking({ floor: 1.1 })).toThrow(invalid);
    expect(asking({ full: -1 })).toThrow(invalid);
    expect(asking({ plan: Uint8Array.of(1, 2) })).toThrow(invalid);
    expect(asking({}, 2)).toThrow(invalid);
    expect(asking({ kind: 'words' as 'document' })).toThrow(TypeError);
    kernel.releaseGeneration(generation);
  });
});

/** Returns the score of a page that counts as 1, from a hit whose document score is between 0 and 1. Skips the run without such a hit. */
function fullOf(found: QueryResult, pages: readonly Page[], byPage: ReadonlyMap<number, number>): number {
  for (const [record, , , document = 0] of rows(found)) {
    if (document <= 0 || document >= 1) continue;
    const best = Math.max(
      ...pages.filter((page) => page.record === record).map((page) => byPage.get(page.number) ?? 0),
    );
    return best / document;
  }
  return fc.pre(false) as never;
}

describe('generations of parts', () => {
  const page = (number: number, record: number): Page => ({ number, record, place: 1, text: 'sea' });

  test('keep their handle while they do not change, and live as long as a generation that has them', () => {
    const segment = buildRecords([{ record: 4, text: 'sea', price: 1 }]);
    const pages = buildPages([page(0, 4), page(1, 4)]);
    const first = kernel.publishGeneration({ parts: [{ name: 'pages', add: [{ segment: pages }] }] });
    const second = kernel.publishGeneration({ base: first, add: [{ segment }], settings: 'x' });
    expect(kernel.generationParts(second)).toEqual(kernel.generationParts(first));
    const part = partOf(first);
    expect(kernel.generationInfo(part)).toMatchObject({
      documentCount: 2,
      liveCount: 2,
      segments: [{ segment: pages }],
    });
    expect(
      kernel.expand(part, ['sea'], { editsMax: [0], stemsMax: 1, typosMax: 1, prefixesMax: 0, compoundsMax: 0 })[0],
    ).toMatchObject({
      documentFrequency: 2,
    });
    const third = kernel.publishGeneration({
      base: second,
      parts: [{ name: 'pages', deletions: [{ segment: pages, documents: Uint32Array.of(1) }] }, { name: 'films' }],
    });
    expect(kernel.generationParts(third).map(({ name }) => name)).toEqual(['pages', 'films']);
    expect(partOf(third)).not.toBe(part);
    expect(kernel.generationDeletions(partOf(third), pages)).toEqual(Buffer.of(0b10));
    expect([...kernel.locate(partOf(third), Uint32Array.of(0, 1))]).toEqual([pages, 0, 0xffffffff, 0xffffffff]);
    expect(() => kernel.releaseGeneration(part)).toThrow(invalid);
    kernel.releaseGeneration(first);
    expect(kernel.generationInfo(part).liveCount).toBe(2);
    kernel.releaseGeneration(second);
    expect(() => kernel.generationInfo(part)).toThrow(invalid);
    kernel.closeSegment(pages);
    expect(search(third, { words: ['sea'] }, { parts: [ofPages(['sea'])] }).total).toBe(1);
    const fourth = kernel.publishGeneration({ base: third, parts: [{ name: 'pages', remove: [pages] }] });
    expect(kernel.generationInfo(partOf(fourth))).toMatchObject({ documentCount: 0, segments: [] });
    for (const generation of [third, fourth]) kernel.releaseGeneration(generation);
    expect(() => kernel.recordNumbers(pages)).toThrow(invalid);
  });
});
