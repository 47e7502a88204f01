/** The order of records that differ in the signs beside a word, on real lists with the real kernel. */
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
  facets: [],
  resources: [],
  location_field: null,
  inferred: 'no',
  language: 'en',
};
const TEXTS = {
  c: 'C for beginners, by C experts',
  cSharp: 'Learning C# for beginners',
  cPlusPlus: 'Learning C++ for beginners',
  both: 'C and C++ developer wanted',
  net: 'A net for fishing on the net',
  dotNet: 'Learning .NET in a week',
  aspNet: 'The ASP.NET handbook of today',
  service: 'The Disney service and Disney park',
  plus: 'The Disney+ service this week',
  pages: 'A test of B pages',
  letters: 'An A/B test of the pages',
  usa: 'A report about the U.S. economy',
  pronoun: 'A report about us',
};

interface Response {
  readonly total_count: number;
  readonly results: readonly { readonly name: string; readonly '@text_score': number }[];
  readonly applied: { readonly synonyms: readonly unknown[] };
}

let fixtures: ListFixtures;
let list: ListIndex;
let ruled: ListIndex;
const stores = new RecordStoreCache();
const reader = new StoreRecordReader(stores);
const executor = new SearchExecutor(kernel, reader);

beforeAll(async () => {
  fixtures = await listFixtures();
  const records = Object.entries(TEXTS).map(([name, text]) => ({ name, text }));
  const synonym_rules = [{ kind: 'equivalent' as const, terms: ['cpp', 'C++'] }];
  list = await fixtures.add('texts', DEFINITION, records);
  ruled = await fixtures.add('ruled', DEFINITION, records, { synonym_rules });
});
afterAll(async () => {
  await stores.close();
  await fixtures.close();
});

function search(options: SearchOptions, of = list): Response {
  const writer = new ResponseWriter();
  executor.execute(searchTask({ list: of }, options), writer);
  reader.release();
  return JSON.parse(Buffer.from(writer.take()).toString()) as Response;
}
const names = (query: string, options: SearchOptions = {}, of = list) =>
  search({ query, ...options }, of).results.map(({ name }) => name);

describe('a word with signs', () => {
  it.each(['any', 'all', 'phrase'] as const)('ranks first with match=%s, and loses no record without them', (match) => {
    expect(names('C#', { match })[0]).toBe('cSharp');
    expect(names('c++', { match }).slice(0, 2).sort()).toEqual(['both', 'cPlusPlus']);
    expect(names('.net', { match })[0]).toBe('dotNet');
    expect(names('Disney+', { match })[0]).toBe('plus');
    for (const [plain, signed] of [
      ['c', 'c#'],
      ['net', '.NET'],
      ['disney', 'disney+'],
    ] as const) {
      expect(names(signed, { match }).sort()).toEqual(names(plain, { match }).sort());
    }
  });

  it('is neither a typo nor a completion of the word without them', () => {
    const alone = search({ query: 'disney', explain: true });
    expect(JSON.stringify(alone)).not.toContain('disney+');
    expect(JSON.stringify(search({ query: 'disne', prefix: true, explain: true }))).not.toContain('disney+');
  });

  it('ranks first within a phrase, which also finds the word without them', () => {
    const found = names('C++ for beginners', { match: 'phrase' });
    expect([found[0], ...found.slice(1).sort()]).toEqual(['cPlusPlus', 'c', 'cSharp']);
  });

  it('has synonyms of its own, which the word without them has not', () => {
    expect(names('cpp', {}, ruled).sort()).toEqual(['both', 'cPlusPlus']);
    expect(search({ query: 'C' }, ruled).applied.synonyms).toEqual([]);
    expect(search({ query: 'C++' }, ruled).applied.synonyms).toHaveLength(1);
  });

  it('does not score above 1, though both words are at one position', () => {
    for (const query of ['C#', 'C C# C++', 'c++ c', '.net net']) {
      for (const { '@text_score': score } of search({ query }).results) expect(score).toBeLessThanOrEqual(1);
    }
  });
});

describe('an abbreviation', () => {
  it('ranks letters that a mark joins before letters apart', () => {
    expect(names('A/B', { typo_tolerance: false })[0]).toBe('letters');
  });

  it('of two letters finds itself with points', () => {
    expect(names('US economy')[0]).toBe('usa');
    expect(names('us', { match: 'all' }).sort()).toEqual(['pronoun', 'usa']);
    expect(names('U.S.', { match: 'all' }).sort()).toEqual(['pronoun', 'usa']);
  });
});
