/**
 * What the single score of words and meaning may and may not depend on: real lists, the real kernel, random vectors.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { kernel } from '../../../native-bindings/index.js';
import {
  importLines,
  LIST_SETTINGS,
  ListsWithModels,
  putRequest as put,
  written,
} from '../../../test/support/lists-with-models.js';
import { SeededRandom } from '../../../test/support/random.js';
import { ScriptedModels } from '../../../test/support/scripted-models.js';
import type { ListIndex } from '../../index/index.js';
import { RecordStoreCache } from '../../records/index.js';
import { ResponseWriter } from '../response/response-writer.js';
import type { SearchOptions } from '../types.js';
import { StoreRecordReader } from './record-reader.js';
import { SearchExecutor } from './search-executor.js';

const RECORDS = 120;
const DIMENSIONS = 6;
const WORDS = ['gannet', 'tern', 'skua', 'puffin', 'wave', 'cliff', 'nest', 'fish'];
const SEEDS = [1, 2, 3];

interface Found {
  readonly total_count: number;
  readonly results: readonly {
    readonly name: string;
    readonly '@text_score': number;
    readonly explain?: { readonly meaning?: { readonly like?: readonly string[] } };
  }[];
  readonly facets?: { readonly price: readonly { readonly value: number; readonly count: number }[] };
}

let lists: ListsWithModels;
const stores = new RecordStoreCache();
const reader = new StoreRecordReader(stores);
const executor = new SearchExecutor(kernel, reader);
beforeEach(() => {
  lists = new ListsWithModels(new ScriptedModels(), { GANNET_INGEST_MERGE_FAN_IN: '4' });
});
afterEach(async () => {
  await stores.close();
  await lists.remove();
});

/** Returns a vector around one of three directions, so that some are near and some are far. */
function vectorOf(random: SeededRandom): Float32Array {
  const direction = random.below(3);
  return Float32Array.from({ length: DIMENSIONS }, (_, at) => random.below(100) / 200 + (at === direction ? 1 : 0));
}

function lineOf(random: SeededRandom, number: number): string {
  const title = Array.from({ length: 4 }, () => WORDS[random.below(WORDS.length)]).join(' ');
  return JSON.stringify({
    name: `r${number}`,
    fields: { title, price: number % 5 },
    vector: Array.from(vectorOf(random)),
  });
}

async function filled(random: SeededRandom): Promise<ListIndex> {
  const list = await lists.create('own');
  // Records are written in parts, so that there are segments to merge.
  for (let begin = 0; begin < RECORDS; begin += 20) {
    await importLines(
      list,
      Array.from({ length: 20 }, (_, at) => lineOf(random, begin + at)),
    );
  }
  await calibrated(list, RECORDS);
  return list;
}

async function calibrated(list: ListIndex, count: number): Promise<void> {
  await expect
    .poll(() => list.searchedBy(1)?.calibration?.vectorCount ?? 0, { interval: 5 })
    .toBeGreaterThan(count / 2);
}

/** `isOfText`: the vector is the model's vector of the search text, and not one that the client sent. */
function search(
  searched: readonly ListIndex[],
  vector: Float32Array,
  { isOfText, ...options }: SearchOptions & { readonly isOfText?: true },
): Found {
  const leases = searched.map((list) => list.lease());
  try {
    const targets = leases.map(({ handle }, index) => ({
      generation: handle,
      meaning: {
        modelVersion: searched[index]?.searchedBy(1)?.modelVersion ?? '',
        vector,
        ...(isOfText === undefined ? {} : { isOfText }),
      },
      ...(searched.length > 1 ? { listName: `list${index}` } : {}),
    }));
    const subject = { kind: searched.length > 1 ? 'group' : 'list', name: 'all', version: 1 } as const;
    const writer = new ResponseWriter();
    executor.execute({ kind: 'search', targets, subject, options, queryId: 'q', meaning: 'used' }, writer);
    return JSON.parse(Buffer.from(writer.take()).toString()) as Found;
  } finally {
    reader.release();
    for (const lease of leases) lease.release();
  }
}
const scoresOf = ({ results }: Found) => Object.fromEntries(results.map((hit) => [hit.name, hit['@text_score']]));

/** A vector that was sent is searched as it is; for the vector of a text, the words have a share in the score. */
const WAYS: readonly { readonly isOfText?: true }[] = [{}, { isOfText: true }];

describe.each(SEEDS)('with seed %i a score', (seed) => {
  it.each(WAYS)(
    'lies in 0..1, is the same on every page, and belongs to hits that are all counted (%o)',
    async (way) => {
      const random = new SeededRandom(seed);
      const list = await filled(random);
      for (const query of ['', 'gannet', 'puffin cliff', 'tern fish wave']) {
        const vector = vectorOf(random);
        const options = { query, facets: ['price'], highlight: false, ...way };
        const whole = search([list], vector, { ...options, size: 1000 });
        expect(whole.total_count).toBe(whole.results.length);
        expect(whole.total_count).toBeGreaterThan(0);
        const counted = whole.facets?.price.reduce((sum, { count }) => sum + count, 0);
        expect(counted).toBe(whole.total_count);
        for (const score of Object.values(scoresOf(whole))) expect(score > 0 && score <= 1).toBe(true);
        for (const size of [1, 7, 50]) {
          const pages: Found['results'][number][] = [];
          for (let skip = 0; skip < whole.total_count; skip += size) {
            const page = search([list], vector, { ...options, skip, size });
            expect(page.total_count).toBe(whole.total_count);
            pages.push(...page.results);
          }
          expect(pages).toEqual(whole.results);
        }
        const floor = whole.results[Math.floor(whole.total_count / 2)]?.['@text_score'] ?? 0;
        const above = search([list], vector, { ...options, size: 1000, minimum_text_score: floor });
        expect(above.results).toEqual(whole.results.filter((hit) => hit['@text_score'] >= floor));
        expect(above.total_count).toBe(above.results.length);
      }
    },
  );

  it.each(WAYS)(
    'is the same in a list and in a group, before and after a merge, and in exact search (%o)',
    async (way) => {
      const random = new SeededRandom(seed);
      const list = await filled(random);
      const other = await lists.indexes.clone('a1', 'a2', { ...LIST_SETTINGS, list: 'copy', model: 'own' });
      const vector = vectorOf(random);
      const options = { query: 'skua nest', size: 1000, highlight: false, ...way };
      const before = scoresOf(search([list], vector, options));
      expect(scoresOf(search([list], vector, { ...options, exact: true }))).toEqual(before);
      const group = search([list, other], vector, options);
      expect(group.total_count).toBe(2 * Object.keys(before).length);
      expect(scoresOf(group)).toEqual(before);
      await list.reindex();
      expect(scoresOf(search([list], vector, options))).toEqual(before);
    },
  );

  it('by meaning does not depend on other records until it is recalibrated', async () => {
    const random = new SeededRandom(seed);
    const list = await filled(random);
    const vector = vectorOf(random);
    const options = { query: '', size: 1000, highlight: false };
    const scale = list.searchedBy(1)?.calibration?.vectorCount;
    const before = scoresOf(search([list], vector, options));
    const added = await written(list, put('added', { title: 'x' }, [Array.from(vector)]));
    const { added: own, ...others } = scoresOf(search([list], vector, options));
    expect(own).toBe(1);
    expect(others).toEqual(before);
    await list.write({ kind: 'delete', id: added.id });
    expect(scoresOf(search([list], vector, options))).toEqual(before);
    expect(list.searchedBy(1)?.calibration?.vectorCount).toBe(scale);
  });
});

describe("the model's vector of a search text", () => {
  const RECORDS_OF_TWO_MATTERS = [
    { title: 'gannet', vector: [1, 0.1, 0] },
    { title: 'booby', vector: [1, 0, 0.1] },
    { title: 'ledger', vector: [0, 1, 0.1] },
    { title: 'invoice', vector: [0.1, 1, 0] },
  ];
  const OF_MONEY = Float32Array.of(0, 1, 0);
  let list: ListIndex;
  beforeEach(async () => {
    list = await lists.create('own');
    const lines = RECORDS_OF_TWO_MATTERS.map(({ title, vector }, price) =>
      JSON.stringify({ name: title, fields: { title, price }, vector }),
    );
    await importLines(list, lines);
    await calibrated(list, lines.length);
  });
  const asked = (options: SearchOptions & { readonly isOfText?: true }) =>
    search([list], OF_MONEY, { highlight: false, explain: true, ...options });
  const likeOf = ({ results }: Found) => results[0]?.explain?.meaning?.like;

  it('is moved towards the records that match the words best, which explain names', () => {
    const sent = asked({ query: 'gannet' });
    expect(likeOf(sent)).toBeUndefined();
    expect(scoresOf(sent)['booby']).toBeUndefined();
    const text = asked({ query: 'gannet', isOfText: true });
    expect(likeOf(text)).toEqual(['gannet']);
    expect(scoresOf(text)['booby']).toBeGreaterThan(0);
    expect(scoresOf(text)['ledger']).toBeLessThan(scoresOf(sent)['ledger'] as number);
  });

  it('is moved the same way if a filter excludes the records that match the words', () => {
    const whole = scoresOf(asked({ query: 'gannet', isOfText: true }));
    const filtered = scoresOf(asked({ query: 'gannet', isOfText: true, filter: 'price > 0' }));
    const { gannet: _, ...others } = whole;
    expect(filtered).toEqual(others);
  });

  it('stays as the model made it if no record matches the words', () => {
    const text = asked({ query: 'penguin', isOfText: true });
    expect(likeOf(text)).toBeUndefined();
    expect(scoresOf(text)).toEqual(scoresOf(asked({ query: 'penguin' })));
  });
});

describe('records with many vectors', () => {
  it('do not take the places of all other hits by meaning', async () => {
    const list = await lists.create('own');
    const near = (at: number) => Array.from({ length: DIMENSIONS }, (_, axis) => (axis === 0 ? 1 : at / 1000));
    const long = { name: 'long', fields: { title: 'wave' }, vectors: Array.from({ length: 60 }, (_, at) => near(at)) };
    const others = Array.from({ length: 20 }, (_, at) => ({
      name: `other${at}`,
      fields: { title: 'cliff' },
      vector: near(100 + at),
    }));
    await importLines(
      list,
      [long, ...others].map((record) => JSON.stringify(record)),
    );
    await calibrated(list, 80);
    const found = search([list], Float32Array.from(near(0)), { query: 'wave' });
    expect(found.total_count).toBe(1 + others.length);
  });
});
