/** Scores of words with parts (`first_name`), which take no length of their own: none is above 1, and none is passed over. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SeededRandom } from '../test/support/random.js';
import { DocumentBatchWriter } from './document-batch.js';
import { kernel, type GenerationHandle, type SegmentHandle } from './index.js';
import { MATCH_ALL, parseResult, QueryPlanWriter, type PlanGroup } from './query-plan.js';

const DOCUMENTS = 30_000;
const WORDS = ['first', 'name', 'sea', 'moss', 'cliff'];
const SCHEMA = { textFields: [{ name: 'text', weightUnits: 1 }], columns: [] };

let folder: string;
let segment: SegmentHandle;
let generation: GenerationHandle;

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'gannet-part-bounds-'));
  const random = new SeededRandom(7);
  const batch = new DocumentBatchWriter();
  for (let record = 1; record <= DOCUMENTS; ++record) {
    batch.begin(record);
    const words = Array.from({ length: 1 + random.below(6) }, () => random.pick(WORDS));
    batch.text(0, words.join(random.below(200) === 0 ? '_' : ' '));
    batch.end();
  }
  const file = path.join(folder, 'one.mdb');
  kernel.buildSegment(file, SCHEMA, batch.finish());
  segment = kernel.openSegment(file);
  generation = kernel.publishGeneration({ add: [{ segment }], settings: '' });
});
afterAll(() => {
  kernel.releaseGeneration(generation);
  kernel.closeSegment(segment);
  rmSync(folder, { recursive: true });
});

const group = (word: string): PlanGroup => ({
  occur: 'should',
  boost: 1,
  alternatives: [{ kind: 'typed', weight: 1, terms: [word] }],
});

function search(words: readonly string[], size: number) {
  const plan = new QueryPlanWriter().write({
    needTotal: false,
    skip: 0,
    size,
    groups: words.map(group),
    sequence: words.map((_, index) => index),
    filter: MATCH_ALL,
    sort: [],
    facets: [],
  });
  const { hits } = parseResult(kernel.search(generation, plan));
  return [...hits.recordNumbers()].map((record, hit) => ({ record, score: hits.score(hit) }));
}

it.each([[['first']], [['first', 'name']], [['sea', 'moss', 'cliff']]])('%j', (words) => {
  const all = search(words, DOCUMENTS);
  expect(all.filter(({ score }) => score >= 1).length).toBeLessThan(3);
  for (const size of [1, 3, 10, 100]) expect(search(words, size)).toEqual(all.slice(0, size));
});
