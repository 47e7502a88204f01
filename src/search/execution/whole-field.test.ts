/** Records with a field that equals the query rank above those that only contain its words. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kernel } from '../../../native-bindings/index.js';
import { listFixtures, searchTask, type ListFixtures } from '../../../test/support/lists.js';
import { SeededRandom } from '../../../test/support/random.js';
import type { FieldDefinition } from '../../catalog/index.js';
import type { ListIndex } from '../../index/index.js';
import { RecordStoreCache } from '../../records/index.js';
import { ResponseWriter } from '../response/response-writer.js';
import type { SearchOptions } from '../types.js';
import { StoreRecordReader } from './record-reader.js';
import { SearchExecutor } from './search-executor.js';

const DEFINITION: FieldDefinition = {
  searchable_fields: [
    { name: 'name', weight: 4 },
    { name: 'text', weight: 1 },
  ],
  facets: [],
  resources: [],
  location_field: null,
  inferred: 'no',
  language: 'en',
};
/** The other records have the words once more in their texts, which are no longer. */
const TEXT = 'a river and a station';
const PLACES = [
  { name: 'London', text: TEXT },
  { name: 'London Colney', text: 'a river near london' },
  { name: 'London Bridge', text: 'a river near london' },
  { name: 'Londons', text: 'a river near london' },
  { name: 'New York', text: TEXT },
  { name: 'York New', text: 'a river like new york' },
  { name: 'New York City', text: 'a river like new york' },
  { name: 'The Hague', text: TEXT },
  { name: 'Hague', text: 'a river near the hague' },
  { name: 'Walla Walla', text: TEXT },
  { name: 'Walla', text: 'a river in walla walla' },
];
const SYNONYMS = [{ kind: 'equivalent', terms: ['londinium', 'london'] }];

interface Response {
  total_count: number;
  results: {
    name: string;
    '@text_score': number;
    explain?: { score: number; whole_field?: { contribution: number } };
  }[];
}

const stores = new RecordStoreCache();
const reader = new StoreRecordReader(stores);
const executor = new SearchExecutor(kernel, reader);
let fixtures: ListFixtures;
let places: ListIndex;

beforeAll(async () => {
  fixtures = await listFixtures();
  places = await fixtures.add('places', DEFINITION, PLACES, { synonym_rules: SYNONYMS });
});
afterAll(async () => {
  await stores.close();
  await fixtures.close();
});

function search(options: SearchOptions, list = places): Response {
  const writer = new ResponseWriter();
  executor.execute(searchTask({ list }, { highlight: false, ...options }), writer);
  reader.release();
  return JSON.parse(Buffer.from(writer.take()).toString()) as Response;
}
const firstOf = (query: string, options: SearchOptions = {}) => search({ query, ...options }).results[0]?.name;

describe('a field that equals the query', () => {
  it.each([
    ['London', 'London'],
    ['london', 'London'],
    ['lodnon', 'London'],
    ['Londinium', 'London'],
    ['new york', 'New York'],
    ['york new', 'York New'],
    ['the hague', 'The Hague'],
    ['walla walla', 'Walla Walla'],
    ['London Bridge', 'London Bridge'],
  ])('puts its record first: %s', (query, name) => {
    expect(firstOf(query)).toBe(name);
    expect(firstOf(query, { match: 'all' })).toBe(name);
  });

  it('is explained, in a sum that adds up, only for records where the whole field matches', () => {
    const { results } = search({ query: 'london', explain: true });
    const whole = results.filter(({ explain }) => explain?.whole_field !== undefined);
    expect(whole.map(({ name }) => name)).toEqual(['London']);
    expect(whole[0]?.explain?.whole_field?.contribution).toBeGreaterThan(0);
    for (const { explain, '@text_score': score } of results) expect(explain?.score).toBeCloseTo(score, 5);
    for (const { explain } of search({ query: 'river station', explain: true }).results) {
      expect(explain).not.toHaveProperty('whole_field');
    }
  });

  it('counts alike on every page, in every order and for a minimum score', () => {
    const all = search({ query: 'new york', size: 100 }).results;
    const [first] = all;
    expect(first?.['@text_score']).toBeLessThanOrEqual(1);
    expect(search({ query: 'new york', size: 1 }).results).toEqual([first]);
    expect(search({ query: 'new york', size: 1, skip: 1 }).results).toEqual([all[1]]);
    const byName = search({ query: 'new york', size: 100, order_by: 'name' }).results;
    const score = ({ name }: { name: string }) => byName.find((other) => other.name === name)?.['@text_score'];
    for (const hit of all) expect(score(hit)).toBe(hit['@text_score']);
    const floor = first?.['@text_score'] ?? 0;
    expect(search({ query: 'new york', minimum_text_score: floor }).results).toEqual([first]);
  });

  it('outranks the same words in another order, with another word, or in several values, all else equal', async () => {
    const random = new SeededRandom(5);
    const words = Array.from(
      { length: 40 },
      (_, index) => `${'bcdfgklmnp'[index % 10]}o${'rstv'[index % 4]}u${index}x`,
    );
    const drawn = Array.from({ length: 60 }, () =>
      Array.from({ length: 2 + random.below(3) }, () => random.pick(words)),
    ).filter((name) => new Set(name).size === name.length);
    const records = drawn.flatMap((name, index) => [
      { name: `r${index}reversed`, title: [...name].reverse().join(' ') },
      { name: `r${index}more`, title: `${name.join(' ')} ${words[index % words.length]}` },
      { name: `r${index}parts`, title: [name[0], name.slice(1).join(' ')] },
      { name: `r${index}whole`, title: name.join(' ') },
    ]);
    const definition = { ...DEFINITION, searchable_fields: [{ name: 'title', weight: 1 }] };
    const list = await fixtures.add('titles', definition, records);
    for (const [index, name] of drawn.entries()) {
      const { results } = search({ query: name.join(' '), size: 1000 }, list);
      const score = (what: string) => results.find((hit) => hit.name === `r${index}${what}`)?.['@text_score'] ?? 0;
      for (const other of ['reversed', 'more', 'parts']) expect(score('whole')).toBeGreaterThan(score(other));
    }
  });
});

it("counts as much if a phrase of a word's parts matches it as if the word does", async () => {
  const list = await fixtures.add('parts', DEFINITION, [
    { name: 'first_name', text: 'column' },
    { name: 'column', text: 'first_name' },
  ]);
  const { results } = search({ query: 'first name', match: 'phrase' }, list);
  expect(results.map(({ name }) => name)).toEqual(['first_name', 'column']);
  const [inName = 0, inText = 0] = results.map((hit) => hit['@text_score']);
  expect(inName).toBeGreaterThan(inText * 1.2);
});
