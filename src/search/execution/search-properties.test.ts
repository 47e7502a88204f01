/**
 * Properties of every search, on random small lists with the real kernel. `GANNET_PROPERTY_CASES=10000` runs the full
 * number of cases of each; the number that ran is printed.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kernel } from '../../../native-bindings/index.js';
import { listFixtures, searchTask, type ListFixtures } from '../../../test/support/lists.js';
import { SeededRandom } from '../../../test/support/random.js';
import type { FieldDefinition } from '../../catalog/index.js';
import type { ListIndex } from '../../index/index.js';
import { RecordStoreCache } from '../../records/index.js';
import { ResponseWriter } from '../response/response-writer.js';
import type { MatchMode, SearchOptions } from '../types.js';
import { StoreRecordReader } from './record-reader.js';
import { SearchExecutor } from './search-executor.js';

const CASES = Number(process.env['GANNET_PROPERTY_CASES'] ?? 300);
const SEED = Number(process.env['GANNET_PROPERTY_SEED'] ?? 3);
const LISTS = 12;
const RECORDS_MAX = 60;
const TIMEOUT_MS = 3_600_000;

const DEFINITION: FieldDefinition = {
  searchable_fields: [
    { name: 'title', weight: 3 },
    { name: 'text', weight: 1 },
  ],
  facets: [
    { name: 'colour', type: 'string', cardinality: 'Single' },
    { name: 'tags', type: 'string', cardinality: 'Many' },
    { name: 'price', type: 'number', cardinality: 'Single' },
  ],
  resources: [],
  location_field: null,
  inferred: 'no',
  language: 'en',
};
/** Words that are stems, typos, spellings and synonyms of each other. */
const WORDS = `run runs running runner house houses housing horse horses mouse receive received receives relieve believe
  the of and what is where were when then than xr 500 xr500 xr-500 b2 b 2 e-mail email mail wi-fi wifi new york nyc big
  apple sofa couch tablet ipad network networks netwrok recieve beleive houze runing`.split(/\s+/);
const COLOURS = ['red', 'green', 'blue'];
const TAGS = ['a', 'b', 'c', 'd'];
const SYNONYMS = [
  { kind: 'equivalent', terms: ['new york', 'nyc', 'big apple'] },
  { kind: 'equivalent', terms: ['sofa', 'couch'] },
  { kind: 'rewrite', terms: ['tablet', 'running horse'], replace_with: ['ipad'] },
  { kind: 'equivalent', terms: ['york', 'house mouse'] },
];
const FILTERS = ["colour = 'red'", "tags in ('a', 'b')", 'price > 5', "not colour = 'blue'", 'price = null'];

interface Response {
  total_count: number;
  results: { name: string; list_name?: string; '@text_score': number; fields: Record<string, unknown> }[];
  facets: Record<string, { value: string | number; count: number }[]>;
}

const random = new SeededRandom(SEED);
const stores = new RecordStoreCache();
const reader = new StoreRecordReader(stores);
const executor = new SearchExecutor(kernel, reader);
let fixtures: ListFixtures;
const lists: ListIndex[] = [];
/** Lists of the same records in which only titles are searchable. */
const listsOfTitles: ListIndex[] = [];

beforeAll(async () => {
  fixtures = await listFixtures();
  for (let number = 0; number < LISTS; number += 1) {
    const records = Array.from({ length: 1 + random.below(RECORDS_MAX) }, (_, index) => ({
      name: `l${number}r${index}`,
      title: words(1 + random.below(3)),
      text: words(random.below(12)),
      ...(random.below(5) === 0 ? {} : { colour: random.pick(COLOURS), price: random.below(10) }),
      tags: TAGS.filter(() => random.below(3) === 0),
    }));
    const rules = number % 3 === 0 ? [] : SYNONYMS;
    lists.push(await fixtures.add(`list${number}`, DEFINITION, records, { synonym_rules: rules }));
    const titles = { ...DEFINITION, searchable_fields: [{ name: 'title', weight: 1 }] };
    listsOfTitles.push(await fixtures.add(`titles${number}`, titles, records, { synonym_rules: rules }));
  }
});
afterAll(async () => {
  await stores.close();
  await fixtures.close();
});

function words(count: number): string {
  return Array.from({ length: count }, () => random.pick(WORDS)).join(' ');
}

function search(options: SearchOptions, searched: Readonly<Record<string, ListIndex>>): Response {
  const writer = new ResponseWriter();
  executor.execute(searchTask(searched, { highlight: false, ...options }), writer);
  reader.release();
  return JSON.parse(Buffer.from(writer.take()).toString()) as Response;
}

interface Case {
  readonly list: ListIndex;
  readonly query: string;
  readonly match: MatchMode;
  readonly find: (options: SearchOptions) => Response;
}

/** Runs a property over random lists and queries, and prints over how many. */
function property(name: string, check: (drawn: Case) => void): void {
  it(
    name,
    () => {
      for (let number = 0; number < CASES; number += 1) {
        const list = random.pick(lists);
        const query = words(1 + random.below(4));
        const match = random.pick<MatchMode>(['any', 'all', 'phrase']);
        const find = (options: SearchOptions) => search({ query, match, size: 1000, ...options }, { list });
        try {
          check({ list, query, match, find });
        } catch (error) {
          throw new Error(`case ${number} of seed ${SEED}, ${match} "${query}": ${String(error)}`, { cause: error });
        }
      }
      process.stdout.write(`${name}: held in ${CASES} cases\n`);
    },
    TIMEOUT_MS,
  );
}

const found = (response: Response) => new Set(response.results.map(({ name }) => name));
function expectWithin(inner: Response, outer: Response): void {
  const all = found(outer);
  expect([...found(inner)].filter((name) => !all.has(name))).toEqual([]);
  expect(inner.total_count).toBeLessThanOrEqual(outer.total_count);
}

describe('every search', () => {
  property('counts what it finds', ({ find }) => {
    const response = find({});
    expect(response.results).toHaveLength(response.total_count);
    for (const { '@text_score': score } of response.results) {
      expect(score).toBeGreaterThan(0);
      expect(score).toBeLessThanOrEqual(1);
    }
  });

  property('finds with any what it finds with all, and with all what it finds as a phrase', ({ find }) => {
    const [any, all, phrase] = (['any', 'all', 'phrase'] as const).map((match) => find({ match })) as [
      Response,
      Response,
      Response,
    ];
    expectWithin(all, any);
    expectWithin(phrase, all);
  });

  property('finds with typo tolerance what it finds without', ({ find }) => {
    expectWithin(find({ typo_tolerance: false }), find({}));
  });

  property('finds with an unfinished last word what it finds without', ({ find }) => {
    const [plain, unfinished] = [find({}), find({ prefix: true })];
    expectWithin(plain, unfinished);
    expectWithin(find({ prefix: true, typo_tolerance: false }), unfinished);
  });

  property('never finds more with a filter', ({ find }) => {
    const filter = random.pick(FILTERS);
    const narrower = `${filter} and ${random.pick(FILTERS)}`;
    const [wide, filtered, narrow] = [find({}), find({ filter }), find({ filter: narrower })];
    expectWithin(filtered, wide);
    expectWithin(narrow, filtered);
    const scores = new Map(wide.results.map((result) => [result.name, result['@text_score']]));
    for (const result of filtered.results) expect(result['@text_score']).toBe(scores.get(result.name));
  });

  property('has on two pages what it has on one of double size', ({ find }) => {
    const size = 1 + random.below(5);
    const skip = random.below(3) * size;
    const order = random.pick([{}, { order_by: 'price desc' }, { order_by: 'name' }]);
    const [first, second, double] = [
      find({ ...order, skip, size }),
      find({ ...order, skip: skip + size, size }),
      find({ ...order, skip, size: 2 * size }),
    ];
    const hits = ({ results }: Response) => results.map((result) => [result.name, result['@text_score']]);
    expect([...hits(first), ...hits(second)]).toEqual(hits(double));
    expect(first.total_count).toBe(double.total_count);
  });

  property('counts in a facet what a filter for its value finds', ({ find }) => {
    const facet = random.pick(['colour', 'tags', 'price']);
    const counted = find({ facets: [facet], facet_size: 1000 }).facets[facet] ?? [];
    for (const { value, count } of counted) {
      const literal = typeof value === 'number' ? String(value) : `'${value}'`;
      expect(find({ filter: `${facet} = ${literal}` }).total_count).toBe(count);
    }
  });

  property('counts in a facet without its own conditions what the rest of the filter finds', ({ find }) => {
    const own = random.pick([
      "colour in ('red', 'blue')",
      "(tags = 'a' or not tags = 'b')",
      'price > 3 and price <= 8',
    ]);
    const facet = own.match(/[a-z]+/g)?.find((word) => ['colour', 'tags', 'price'].includes(word)) ?? '';
    const others = ['colour', 'tags', 'price'].filter((name) => name !== facet);
    const rest = random.pick([`not ${others[0]} = null`, `(${others[0]} = null or ${facet} != null)`]);
    const facets = ['colour', 'tags', 'price'];
    const alone = find({ filter: `${own} and ${rest}`, facets, disjunctive_facets: true, size: 3 });
    const [narrow, wide] = [find({ filter: `${own} and ${rest}`, facets }), find({ filter: rest, facets })];
    expect(alone.results).toEqual(narrow.results.slice(0, 3));
    expect(alone.total_count).toBe(narrow.total_count);
    expect(Object.keys(alone.facets)).toEqual(facets);
    for (const name of facets) expect(alone.facets[name]).toEqual((name === facet ? wide : narrow).facets[name]);
  });

  // native-bindings/test/narrowed_generation_test.cc shows that scores are those of a list of these fields alone.
  property('in one field finds what a list finds that has no other', ({ list, find, query, match }) => {
    const alone = listsOfTitles[lists.indexOf(list)]!;
    const options = { typo_tolerance: false, facets: ['colour'] };
    const narrowed = find({ search_fields: ['title'], ...options });
    // The narrowed search finds more, because its words are expanded by what the whole list knows of them.
    expectWithin(search({ query, match, size: 1000, ...options }, { list: alone }), narrowed);
    expect(found(narrowed).size).toBe(narrowed.total_count);
    expectWithin(narrowed, find({ typo_tolerance: false }));
    expectWithin(find({ search_fields: ['title'] }), find({}));
    const shown = ({ total_count: total, results, facets }: Response) => ({
      total,
      facets,
      results: results.map((result) => [result.name, result['@text_score']]),
    });
    expect(shown(find({ search_fields: ['text', 'title'] }))).toEqual(shown(find({})));
  });

  property('tells of a facet the values that have what is looked for in them', ({ find }) => {
    const text = random.pick(['r', 'RE', 'bl', 'gree', 'b r', 'lue', '']);
    const all = find({ facets: ['colour', 'tags'] }).facets;
    const some = find({ facets: ['colour', 'tags'], facet_query: text }).facets;
    for (const [facet, values] of Object.entries(all)) {
      const wanted = text.toLowerCase().split(' ');
      const holds = (value: string) => wanted.every((word) => value.startsWith(word));
      expect(some[facet]).toEqual(values.filter(({ value }) => holds(String(value))));
    }
  });

  property('with one hit per value has the first hit of each value, and counts these', ({ list, query, match }) => {
    const other = random.pick(lists);
    const members = other === list || random.below(2) === 0 ? { list } : { list, other };
    const distinct = random.pick(['colour', 'price']);
    const order = random.pick<SearchOptions>([
      {},
      { order_by: 'name desc' },
      { order_by: 'price' },
      { ranking: 'none' },
    ]);
    const options = { query, match, size: 1000, ...order, filter: random.pick(['', ...FILTERS]) };
    const run = (more: SearchOptions) => search({ ...options, ...more }, members);
    const [all, once] = [run({}), run({ distinct })];
    const values = new Set<string>();
    const expected = all.results.filter(({ fields }) => {
      const value = JSON.stringify(fields[distinct]);
      return value === undefined || (!values.has(value) && values.add(value));
    });
    const having = all.results.map(({ fields }) => JSON.stringify(fields[distinct]));
    const shown = expected.map((hit) => {
      const value = JSON.stringify(hit.fields[distinct]);
      return { ...hit, distinct_count: value === undefined ? 1 : having.filter((each) => each === value).length };
    });
    expect(once.results).toEqual(shown);
    expect(once.total_count).toBe(expected.length);
    const [skip, size] = [random.below(4), random.below(6)];
    expect(run({ distinct, skip, size }).results).toEqual(shown.slice(skip, skip + size));
    const facet = random.pick(['colour', 'tags', 'price']);
    const counted = run({ distinct, facets: [facet], size: 0 }).facets[facet] ?? [];
    const { value, count } = counted[random.below(Math.max(1, counted.length))] ?? {};
    const literal = `${facet} = ${value === undefined ? 'null' : typeof value === 'number' ? value : `'${value}'`}`;
    const narrower = run({ distinct, filter: options.filter === '' ? literal : `${options.filter} and ${literal}` });
    if (value !== undefined) expect(narrower.total_count).toBe(count);
    const own = `${facet} in (${facet === 'price' ? '1, 2' : "'red', 'a'"})`;
    const alone = run({ distinct, filter: own, facets: [facet], disjunctive_facets: true, size: 0 });
    expect(alone.facets).toEqual(run({ distinct, filter: '', facets: [facet], size: 0 }).facets);
  });

  property('of a group is the merge of the searches of its lists', ({ query, match }) => {
    const names = [random.below(LISTS), random.below(LISTS)].map((number) => `list${number}`);
    const members = Object.fromEntries([...new Set(names)].map((name) => [name, lists[Number(name.slice(4))]!]));
    const options: SearchOptions = { query, match, size: 1000 };
    const apart = Object.entries(members).map(([name, list]) => ({ name, ...search(options, { [name]: list }) }));
    const together = search(options, members);
    expect(together.total_count).toBe(apart.reduce((sum, { total_count }) => sum + total_count, 0));
    const counted = { ...options, facets: ['colour'], size: 0 };
    const alone = search({ ...counted, filter: "colour = 'red'", disjunctive_facets: true }, members);
    expect(alone.facets).toEqual(search(counted, members).facets);
    const scores = together.results.map((result) => result['@text_score']);
    expect(scores).toEqual([...scores].sort((left, right) => right - left));
    if (apart.length === 1) return;
    for (const { name: list, results } of apart) {
      const own = together.results.filter(({ list_name }) => list_name === list);
      expect(own).toEqual(results.map((result) => ({ ...result, list_name: list })));
    }
  });
});

describe('a record with the word as typed', () => {
  const LETTERS = 'abcdeilnorst';
  it(
    'outranks one with a typo, all else equal',
    async () => {
      const cases = Math.min(CASES, 10_000);
      const pairs = Array.from({ length: cases }, (_, number) => {
        const word = Array.from({ length: 4 + random.below(8) }, () => LETTERS[random.below(LETTERS.length)]).join('');
        const at = random.below(word.length);
        const slip = random.pick([
          word.slice(0, at) + word.slice(at + 1),
          `${word.slice(0, at)}x${word.slice(at)}`,
          `${word.slice(0, at)}x${word.slice(at + 1)}`,
        ]);
        return { word, slip, number };
      });
      const records = pairs.flatMap(({ word, slip, number }) => [
        { name: `slip${number}`, title: slip, text: 'same' },
        { name: `typed${number}`, title: word, text: 'same' },
      ]);
      const list = await fixtures.add('pairs', DEFINITION, records);
      let compared = 0;
      for (const { word, slip, number } of pairs) {
        const { results } = search({ query: word, size: 1000 }, { pairs: list });
        const score = (name: string) => results.find((result) => result.name === name)?.['@text_score'];
        const [typed, slipped] = [score(`typed${number}`), score(`slip${number}`)];
        expect(typed).toBeDefined();
        if (slipped === undefined) continue;
        compared += 1;
        expect(typed, `${word} and ${slip}`).toBeGreaterThan(slipped);
      }
      expect(compared).toBeGreaterThan(cases / 2);
      process.stdout.write(`the word as typed outranks a typo: held in ${compared} cases\n`);
    },
    TIMEOUT_MS,
  );
});
