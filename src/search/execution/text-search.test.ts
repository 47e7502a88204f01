/** Words, rules and their expansions, on real lists with the real kernel. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kernel } from '../../../native-bindings/index.js';
import { listFixtures, searchTask, type ListFixtures } from '../../../test/support/lists.js';
import type { FieldDefinition } from '../../catalog/index.js';
import type { ListIndex } from '../../index/index.js';
import { RecordStoreCache } from '../../records/index.js';
import { ResponseWriter } from '../response/response-writer.js';
import type { SearchOptions } from '../types.js';
import { StoreRecordReader } from './record-reader.js';
import { SearchExecutor } from './search-executor.js';

const DEFINITION: FieldDefinition = {
  searchable_fields: [{ name: 'text', weight: 1 }],
  facets: [
    { name: 'postcode', type: 'string', cardinality: 'Single' },
    { name: 'order', type: 'number', cardinality: 'Single' },
  ],
  resources: [],
  location_field: null,
  inferred: 'no',
  language: 'en',
};
const GOODS = [
  { name: 'receive', text: 'receive a parcel' },
  { name: 'received', text: 'received a parcel' },
  { name: 'relieve', text: 'relieve a sentry' },
  { name: 'dashed', text: 'printer XR-500 black' },
  { name: 'joined', text: 'printer XR500 black' },
  { name: 'spaced', text: 'printer XR 500 black' },
  { name: 'other', text: 'printer XR-600 black' },
  { name: 'apple', text: 'hotel in Big Apple' },
  { name: 'york', text: 'hotel in New York' },
  { name: 'nyc', text: 'hotel in NYC' },
  { name: 'jorvik', text: 'hotel in Jorvik' },
  { name: 'ipad', text: 'a new ipad' },
  { name: 'tablet', text: 'a stone tablet' },
  { name: 'printed', text: 'a printed page' },
  { name: 'email', text: 'send an email' },
  { name: 'wi-fi', text: 'the Wi-Fi at home' },
  { name: 'wifi', text: 'the wifi at home' },
  { name: 'wi fi', text: 'the Wi Fi at home' },
  { name: 'node.js', text: 'a book on Node.js' },
  { name: 'nodejs', text: 'a book on NodeJS' },
  { name: 'node js', text: 'a book on Node JS' },
  { name: 'U.S.A.', text: 'made in the U.S.A.' },
  { name: 'USA', text: 'made in the USA' },
  { name: 'Ph.D.', text: 'her Ph.D. thesis' },
  { name: '1,000', text: 'some 1,000 stamps' },
  { name: '1000', text: 'some 1000 stamps' },
  { name: 'v1.2.3', text: 'new in v1.2.3' },
  { name: 'london', text: 'pizza', postcode: 'SW1A 1AA', order: 7 },
  { name: 'paris', text: 'pizza', postcode: '75001', order: 8 },
];
const SYNONYMS = [
  { kind: 'equivalent', terms: ['new york', 'nyc', 'big apple'] },
  { kind: 'equivalent', terms: ['york', 'jorvik'] },
  { kind: 'rewrite', terms: ['tablet'], replace_with: ['ipad'] },
];
const RULES = [
  { name: 'postcode', pattern: String.raw`\b([A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2})\b`, filter: 'postcode = $1' },
  { name: 'order', pattern: String.raw`\border (?P<number>\S+)`, filter: 'order = ${number}' },
];

interface Response {
  total_count: number;
  results: {
    name: string;
    '@text_score': number;
    highlights: Record<string, string>;
    explain: {
      score: number;
      groups: { word: string; contribution: number; terms: { term: string; kind: string }[] }[];
      nearby?: { contribution: number }[];
      whole_field?: { contribution: number };
    };
  }[];
  applied: {
    query_rules: string[];
    synonyms: object[];
    typos: { word: string; terms: string[]; list_name?: string }[];
  };
}

let fixtures: ListFixtures;
let goods: ListIndex;
let plain: ListIndex;
const stores = new RecordStoreCache();
const reader = new StoreRecordReader(stores);
const executor = new SearchExecutor(kernel, reader);

beforeAll(async () => {
  fixtures = await listFixtures();
  goods = await fixtures.add('goods', DEFINITION, GOODS, { synonym_rules: SYNONYMS, query_rules: RULES });
  plain = await fixtures.add('plain', DEFINITION, GOODS);
});
afterAll(async () => {
  await stores.close();
  await fixtures.close();
});

function search(options: SearchOptions, lists: Readonly<Record<string, ListIndex>> = { goods }): Response {
  const writer = new ResponseWriter();
  executor.execute(searchTask(lists, options), writer);
  reader.release();
  return JSON.parse(Buffer.from(writer.take()).toString()) as Response;
}
const names = (options: SearchOptions, lists?: Readonly<Record<string, ListIndex>>) =>
  search(options, lists).results.map(({ name }) => name);
const sorted = (options: SearchOptions) => names(options).sort();

describe('typos', () => {
  it('are tolerated with match=any and match=all, and the intended word ranks first', () => {
    expect(names({ query: 'recieve' })).toEqual(['receive', 'received', 'relieve']);
    expect(names({ query: 'recieve parcle', match: 'all' })).toEqual(['receive', 'received']);
    expect(names({ query: 'recieve', typo_tolerance: false })).toEqual([]);
    expect(names({ query: 'recieve parcel', match: 'phrase' })).toEqual([]);
  });

  it('rank behind the word as typed', () => {
    const { results } = search({ query: 'printed' });
    expect(results.map(({ name }) => name)).toEqual(['printed', 'joined', 'dashed', 'spaced', 'other']);
    expect(results[0]?.['@text_score']).toBeGreaterThan((results[1]?.['@text_score'] ?? 1) * 2);
  });

  it('are reported and highlighted', () => {
    const { applied, results } = search({ query: 'recieve' });
    expect(applied.typos).toEqual([{ word: 'recieve', terms: ['receive', 'relieve'] }]);
    expect(results[0]?.highlights).toEqual({ text: '<em>receive</em> a parcel' });
    expect(results[1]?.highlights).toEqual({ text: '<em>received</em> a parcel' });
  });
});

describe('model numbers', () => {
  it.each(['XR-500', 'XR500', 'XR 500', 'xr500'])('match all of their spellings: %s', (query) => {
    const found = ['dashed', 'joined', 'spaced'];
    expect(sorted({ query, match: 'all' })).toEqual(found);
    expect(sorted({ query, match: 'phrase' })).toEqual(found);
    expect(sorted({ query })).toEqual(query.length === 6 ? ['dashed', 'joined', 'other', 'spaced'] : found);
    expect(sorted({ query: `${query} black`, match: 'phrase' })).toEqual(found);
  });

  it('are highlighted in each spelling', () => {
    const { results } = search({ query: 'XR500' });
    expect(results.map(({ highlights }) => highlights['text']).sort()).toEqual([
      'printer <em>XR500</em> black',
      'printer <em>XR</em> <em>500</em> black',
      'printer <em>XR</em>-<em>500</em> black',
    ]);
  });

  it('have spellings like words with a hyphen', () => {
    expect(names({ query: 'e-mail', match: 'all' })).toEqual(['email']);
    expect(names({ query: 'send an e-mail', match: 'phrase' })).toEqual(['email']);
  });
});

describe('words with several spellings (wifi, wi-fi, wi fi)', () => {
  it.each(['any', 'all', 'phrase'] as const)('match each other: match=%s', (match) => {
    const options = { match, typo_tolerance: false };
    for (const query of ['wifi', 'wi-fi', 'wi fi', 'Wi-Fi at home'])
      expect(sorted({ ...options, query }).slice(0, 3), query).toEqual(['wi fi', 'wi-fi', 'wifi']);
    for (const query of ['node.js', 'nodejs', 'node js'])
      expect(sorted({ ...options, query }), query).toEqual(['node js', 'node.js', 'nodejs']);
  });

  it.each(['any', 'all', 'phrase'] as const)(
    'match with and without points, and numbers with and without thousands separators: match=%s',
    (match) => {
      const options = { match, typo_tolerance: false };
      for (const query of ['usa', 'U.S.A.']) expect(sorted({ ...options, query }), query).toEqual(['U.S.A.', 'USA']);
      expect(names({ ...options, query: 'phd' })).toEqual(['Ph.D.']);
      for (const query of ['1000', '1,000', '1000 stamps'])
        expect(sorted({ ...options, query }), query).toEqual(['1,000', '1000']);
      expect(names({ ...options, query: '1.2.3' })).toEqual(['v1.2.3']);
      expect(
        search({ query: 'usa' })
          .results.map(({ highlights }) => highlights['text'])
          .sort(),
      ).toEqual(['made in the <em>U.S.A</em>.', 'made in the <em>USA</em>']);
    },
  );

  it('are highlighted in each spelling', () => {
    const { results } = search({ query: 'wifi' });
    expect(results.map(({ highlights }) => highlights['text']).sort()).toEqual([
      'the <em>Wi</em> <em>Fi</em> at home',
      'the <em>Wi</em>-<em>Fi</em> at home',
      'the <em>wifi</em> at home',
    ]);
  });

  it('rank behind the word as typed', () => {
    expect(names({ query: 'wifi' })[0]).toBe('wifi');
    expect(names({ query: 'nodejs' })[0]).toBe('nodejs');
  });
});

describe('synonyms', () => {
  it.each(['any', 'all', 'phrase'] as const)('match with match=%s', (match) => {
    for (const query of ['nyc', 'new york', 'big apple']) {
      const found = sorted({ query, match });
      for (const name of ['apple', 'nyc', 'york']) expect(found, query).toContain(name);
      expect(found, query).not.toContain('jorvik');
    }
    expect(sorted({ query: 'hotel in nyc', match: match === 'any' ? 'all' : match })).toEqual(['apple', 'nyc', 'york']);
  });

  it('of a single word apply if no rule for the phrase does', () => {
    expect(sorted({ query: 'york', match: 'all' })).toEqual(['jorvik', 'york']);
  });

  it('of a rewrite rule apply in one direction', () => {
    expect(sorted({ query: 'tablet' })).toEqual(['ipad', 'tablet']);
    expect(sorted({ query: 'ipad' })).toEqual(['ipad']);
  });

  it('are reported and highlighted, and apply only to their own list in a group', () => {
    const { applied, results } = search({ query: 'nyc', match: 'phrase' });
    expect(applied.synonyms).toEqual([{ word: 'nyc', terms: ['new york', 'big apple'], rules: [0] }]);
    const marked = Object.fromEntries(results.map(({ name, highlights }) => [name, highlights['text']]));
    expect(marked['apple']).toMatch(/<em>Big Apple<\/em>|<em>Big<\/em> <em>Apple<\/em>/);
    expect(names({ query: 'nyc' }, { plain })).toEqual(['nyc']);
    const both = search({ query: 'nyc' }, { goods, plain });
    expect(both.applied.synonyms).toMatchObject([{ word: 'nyc', list_name: 'goods' }]);
    expect(both.total_count).toBe(4);
  });
});

describe('query rules', () => {
  it('turn a part of the query into a filter', () => {
    expect(search({ query: 'pizza SW1A 1AA' })).toMatchObject({
      total_count: 1,
      results: [{ name: 'london' }],
      applied: { query_rules: ['postcode'] },
    });
    expect(search({ query: 'order 8' })).toMatchObject({
      total_count: 1,
      results: [{ name: 'paris', '@text_score': 1 }],
    });
    expect(names({ query: 'order 8', filter: 'order < 8' })).toEqual([]);
    expect(search({ query: 'order eight' }).applied.query_rules).toEqual([]);
  });

  it('are reported in a group if only one of its lists has them', () => {
    const both = search({ query: 'order 8' }, { goods, plain });
    expect(both.applied.query_rules).toEqual(['order']);
    expect(both.total_count).toBe(1);
  });
});

describe('explain', () => {
  it('adds up to the score with every kind of alternative', () => {
    for (const query of ['recieve parcel', 'XR500 printer', 'hotel nyc', 'relieve the sentry', 'printers']) {
      const { results } = search({ query, explain: true });
      expect(results.length).toBeGreaterThan(0);
      for (const { explain } of results) {
        const { groups, nearby = [], whole_field: whole } = explain;
        const parts = [...groups, ...nearby, ...(whole === undefined ? [] : [whole])].map(
          ({ contribution }) => contribution,
        );
        expect(parts.reduce((sum, part) => sum + part, 0)).toBeCloseTo(explain.score, 4);
      }
    }
  });

  it('says why each term is searched', () => {
    const kinds = (query: string, name: string) =>
      search({ query, explain: true })
        .results.find((result) => result.name === name)
        ?.explain.groups.map(({ word, terms }) => [word, ...terms.map(({ kind, term }) => `${kind} ${term}`)]);
    expect(kinds('recieve parcels', 'received')).toEqual([
      ['recieve', 'typo received'],
      ['parcels', 'stem parcel'],
    ]);
    expect(kinds('hotel nyc', 'apple')).toEqual([
      ['hotel', 'typed hotel'],
      ['nyc', 'synonym big apple'],
    ]);
    expect(kinds('printers XR500', 'dashed')).toEqual([
      ['printers', 'stem printer'],
      ['xr500', 'spelling xr 500'],
    ]);
  });
});
