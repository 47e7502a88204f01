/** Searches of real lists with the real kernel, from task to response. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kernel } from '../../../native-bindings/index.js';
import { listFixtures, searchTask, type ListFixtures } from '../../../test/support/lists.js';
import type { FieldDefinition } from '../../catalog/index.js';
import type { ListIndex } from '../../index/index.js';
import { ServiceError } from '../../platform/index.js';
import { RecordStoreCache } from '../../records/index.js';
import { filterPlan } from '../delete-plan.js';
import { ResponseWriter } from '../response/response-writer.js';
import type { SearchOptions } from '../types.js';
import { StoreRecordReader } from './record-reader.js';
import { SearchExecutor } from './search-executor.js';

const SHOP: FieldDefinition = {
  searchable_fields: [
    { name: 'title', weight: 2 },
    { name: 'text', weight: 1 },
    { name: 'name', weight: 1 },
  ],
  facets: [
    { name: 'brand', type: 'string', cardinality: 'Single' },
    { name: 'tags', type: 'string', cardinality: 'Many' },
    { name: 'price', type: 'number', cardinality: 'Single' },
    { name: 'sold', type: 'boolean', cardinality: 'Single' },
    { name: 'since', type: 'date', cardinality: 'Single' },
  ],
  resources: [],
  location_field: 'place',
  inferred: 'no',
};
const BOOKS: FieldDefinition = {
  searchable_fields: [{ name: 'title', weight: 1 }],
  facets: [
    { name: 'brand', type: 'string', cardinality: 'Single' },
    { name: 'pages', type: 'number', cardinality: 'Single' },
  ],
  resources: [],
  location_field: null,
  inferred: 'no',
};
const LONDON = { latitude: 51.5, longitude: -0.12 };
const PARIS = { latitude: 48.85, longitude: 2.35 };
const GOODS = [
  { name: 'shoe-red', title: 'Red shoes', text: 'Shoes in red <b>leather</b>', brand: 'Acme', tags: ['sale', 'Leather'], price: 50, sold: true, since: '2024-01-01', place: LONDON }, // prettier-ignore
  { name: 'shoe-blue', title: 'Blue shoes', text: 'Canvas', brand: 'acme', tags: ['canvas'], price: 30, sold: false, since: '2025-06-01T12:00:00.000Z', place: PARIS }, // prettier-ignore
  { name: 'hat', title: 'Red hat', text: 'A hat for red shoes', brand: 'Zoo', price: 10, extra: 'not defined' },
  { name: 'scarf', title: 'Scarf', text: 'Wool', brand: 'Zoo', tags: ['wool', 'sale'], price: 20, sold: true },
  { name: 'sushi', title: '寿司レストラン', text: '東京の寿司' },
];

interface Result {
  id: string;
  name: string;
  '@text_score': number;
  as_of: string;
  distance?: number;
  location?: object;
  fields: Record<string, unknown>;
  highlights?: Record<string, string>;
  list_name?: string;
  explain?: object;
}
interface Response {
  query_id: string;
  list_name?: string;
  group_name?: string;
  version: number;
  total_count: number;
  results: Result[];
  facets?: Record<string, { value: unknown; count: number }[]>;
  facet_ranges?: Record<string, object>;
  took_ms: number;
  applied: object;
}

let fixtures: ListFixtures;
let shop: ListIndex;
let books: ListIndex;
let empty: ListIndex;
const stores = new RecordStoreCache();
const reader = new StoreRecordReader(stores);
const executor = new SearchExecutor(kernel, reader);

beforeAll(async () => {
  fixtures = await listFixtures();
  shop = await fixtures.add('shop', SHOP, GOODS);
  books = await fixtures.add('books', BOOKS, [
    { name: 'book-red', title: 'The red book', brand: 'Zoo', pages: 300 },
    { name: 'book-shoe', title: 'A history of shoes', brand: 'Penguin', pages: 100 },
  ]);
  empty = await fixtures.add('empty', SHOP, []);
});
afterAll(async () => {
  await stores.close();
  await fixtures.close();
});

function search(options: SearchOptions, lists: Readonly<Record<string, ListIndex>> = { shop }): Response {
  const writer = new ResponseWriter();
  const total = executor.execute(searchTask(lists, options), writer);
  reader.release();
  const response = JSON.parse(Buffer.from(writer.take()).toString()) as Response;
  expect(response.total_count).toBe(total);
  return response;
}
const names = (response: Response) => response.results.map(({ name }) => name);
const group = () => ({ shop, books });

describe('a response', () => {
  it('has its members in one fixed order, first those in which equal searches differ', () => {
    const response = search({ query: 'red shoes', facets: ['price'] });
    expect(Object.keys(response)).toEqual([
      'query_id',
      'took_ms',
      'list_name',
      'version',
      'total_count',
      'results',
      'facets',
      'facet_ranges',
      'applied',
    ]);
    expect(response).toMatchObject({
      query_id: 'query',
      list_name: 'shop',
      version: 1,
      applied: { query_rules: [], synonyms: [], typos: [{ word: 'shoes', terms: ['shoe'] }] },
    });
    expect(Object.keys(response.results[0] ?? {})).toEqual([
      'id',
      'name',
      '@text_score',
      'as_of',
      'fields',
      'highlights',
    ]);
  });

  it('gives facet fields as arrays and includes fields that are not defined', () => {
    const [hat] = search({ query: 'hat' }).results;
    expect(hat?.fields).toEqual({
      title: 'Red hat',
      text: 'A hat for red shoes',
      brand: ['Zoo'],
      price: [10],
      extra: 'not defined',
    });
  });
});

describe('matching', () => {
  it('finds any word, all words, or the phrase, by the match option', () => {
    expect(names(search({ query: 'red shoes' })).sort()).toEqual(['hat', 'shoe-blue', 'shoe-red']);
    expect(names(search({ query: 'red shoes', match: 'all' })).sort()).toEqual(['hat', 'shoe-red']);
    expect(names(search({ query: 'red shoes', match: 'phrase' })).sort()).toEqual(['hat', 'shoe-red']);
    expect(names(search({ query: 'shoes red', match: 'phrase' }))).toEqual([]);
  });

  it('ranks by a score that lies in 0..1', () => {
    const { results } = search({ query: 'red shoes' });
    expect(results[0]?.name).toBe('shoe-red');
    const scores = results.map((result) => result['@text_score']);
    expect(scores).toEqual([...scores].sort((left, right) => right - left));
    for (const score of scores) {
      expect(score).toBeGreaterThan(0);
      expect(score).toBeLessThanOrEqual(1);
    }
  });

  it('matches every record without a query, and none if the query has no words', () => {
    const all = search({});
    expect(all.total_count).toBe(GOODS.length);
    expect(names(all)).toEqual(GOODS.map(({ name }) => name));
    expect(all.results.map((result) => result['@text_score'])).toEqual([1, 1, 1, 1, 1]);
    expect(search({ query: '?!', facets: ['brand'] })).toMatchObject({
      total_count: 0,
      results: [],
      facets: { brand: [] },
    });
  });

  it('finds words of scripts without spaces', () => {
    expect(names(search({ query: '寿司', match: 'all' }))).toEqual(['sushi']);
    expect(search({ query: '寿司' }).results[0]?.highlights).toMatchObject({ text: '東京の<em>寿司</em>' });
  });

  it('leaves out hits below the minimum score, in the count as well', () => {
    const scores = search({ query: 'red shoes' }).results.map((result) => result['@text_score']);
    const floor = ((scores[0] ?? 0) + (scores[1] ?? 0)) / 2;
    expect(search({ query: 'red shoes', minimum_text_score: floor })).toMatchObject({ total_count: 1 });
    for (const [rank, shown] of scores.entries()) {
      expect(names(search({ query: 'red shoes', minimum_text_score: shown }))).toHaveLength(rank + 1);
    }
    expect(search({ query: 'red shoes', minimum_image_score: 0.9 })).toMatchObject({ total_count: 3 });
  });
});

describe('filters, orders, pages', () => {
  it.each<[string, string[]]>([
    ["brand = 'ACME'", ['shoe-red', 'shoe-blue']],
    ["tags = 'leather' or tags = 'wool'", ['shoe-red', 'scarf']],
    ["tags != 'sale'", ['shoe-blue', 'hat', 'sushi']],
    ['price >= 20 and price < 50', ['shoe-blue', 'scarf']],
    ['price in (10, 50)', ['shoe-red', 'hat']],
    ['sold = true', ['shoe-red', 'scarf']],
    ['sold = null', ['hat', 'sushi']],
    ['not sold = null and not sold = true', ['shoe-blue']],
    ['since > 2024-01-01', ['shoe-blue']],
    ["brand > 'acme'", ['hat', 'scarf']],
  ])('matches the records that fit the filter %s', (filter, expected) => {
    const response = search({ filter });
    expect(names(response)).toEqual(expected);
    expect(response.total_count).toBe(expected.length);
  });

  it('orders by columns, with missing values last', () => {
    expect(names(search({ order_by: 'price' }))).toEqual(['hat', 'scarf', 'shoe-blue', 'shoe-red', 'sushi']);
    expect(names(search({ order_by: 'price desc' }))).toEqual(['shoe-red', 'shoe-blue', 'scarf', 'hat', 'sushi']);
    expect(names(search({ order_by: 'brand, name desc' }))).toEqual(['shoe-red', 'shoe-blue', 'scarf', 'hat', 'sushi']);
    expect(names(search({ query: 'shoes', order_by: 'name' }))).toEqual(['hat', 'shoe-blue', 'shoe-red']);
    expect(names(search({ query: 'shoes', ranking: 'none' }))).toEqual(['shoe-red', 'shoe-blue', 'hat']);
  });

  it('answers each page, and an empty one beyond the end', () => {
    expect(names(search({ order_by: 'price', skip: 1, size: 2 }))).toEqual(['scarf', 'shoe-blue']);
    expect(search({ skip: 100 })).toMatchObject({ total_count: 5, results: [] });
    expect(search({ skip: 2 ** 31, size: 1000 })).toMatchObject({ total_count: 5, results: [] });
    expect(search({ size: 0 })).toMatchObject({ total_count: 5, results: [] });
  });

  it('finds records within a radius, and gives their distance and location', () => {
    const response = search({ radius: '51.5,-0.12,10km' });
    expect(response.results).toMatchObject([{ name: 'shoe-red', distance: 0, location: LONDON }]);
    const both = search({ radius: { ...LONDON, distance: 400_000 }, order_by: 'distance desc' });
    expect(names(both)).toEqual(['shoe-blue', 'shoe-red']);
    expect(both.results[0]?.distance).toBeGreaterThan(340_000);
    expect(Object.keys(both.results[0] ?? {}).slice(0, 6)).toEqual([
      'id',
      'name',
      '@text_score',
      'as_of',
      'distance',
      'location',
    ]);
  });

  it('collects the record numbers that match a filter, as a deletion by filter needs', () => {
    const numbers = kernel.collectRecordNumbers(shop.lease().handle, filterPlan("brand = 'zoo'", SHOP));
    expect(numbers).toHaveLength(2);
    expect(() => filterPlan(' ', SHOP)).toThrow(ServiceError);
  });
});

describe('facets', () => {
  it('counts values over all hits, not only those on the page', () => {
    const { facets, facet_ranges } = search({ facets: ['brand', 'tags', 'price', 'sold', 'since'], size: 1 });
    expect(facets).toEqual({
      brand: [{ value: 'Acme', count: 2 }, { value: 'Zoo', count: 2 }], // prettier-ignore
      tags: [{ value: 'sale', count: 2 }, { value: 'canvas', count: 1 }, { value: 'Leather', count: 1 }, { value: 'wool', count: 1 }], // prettier-ignore
      price: [10, 20, 30, 50].map((value) => ({ value, count: 1 })),
      sold: [{ value: true, count: 2 }, { value: false, count: 1 }], // prettier-ignore
      since: [{ value: '2024-01-01T00:00:00.000Z', count: 1 }, { value: '2025-06-01T12:00:00.000Z', count: 1 }], // prettier-ignore
    });
    expect(facet_ranges).toEqual({
      price: { min: 10, max: 50 },
      since: { min: '2024-01-01T00:00:00.000Z', max: '2025-06-01T12:00:00.000Z' },
    });
  });

  it('counts only what the filter matches, and as many values as facet_size', () => {
    expect(search({ facets: ['tags'], facet_size: 1, filter: 'price > 10' }).facets).toEqual({
      tags: [{ value: 'sale', count: 2 }],
    });
  });

  it('names the facets even if the list has no records', () => {
    expect(search({ facets: ['brand', 'price'] }, { empty })).toMatchObject({
      total_count: 0,
      results: [],
      facets: { brand: [], price: [] },
    });
    expect(names(search({ query: 'red', filter: 'price > 1', order_by: 'price', radius: '0,0,1' }, { empty }))).toEqual(
      [],
    );
  });
});

describe('results', () => {
  it('highlights words in escaped HTML, unless highlight is false', () => {
    const [red] = search({ query: 'red leather' }).results;
    expect(red?.highlights).toEqual({
      title: '<em>Red</em> shoes',
      text: 'Shoes in <em>red</em> &lt;b&gt;<em>leather</em>&lt;/b&gt;',
      name: 'shoe-<em>red</em>',
    });
    expect(search({ query: 'red', highlight: false }).results[0]).not.toHaveProperty('highlights');
    expect(search({}).results[0]?.highlights).toEqual({});
  });

  it('have only the selected fields', () => {
    const [hat] = search({ query: 'hat', select: ['price', 'nothing'] }).results;
    expect(hat?.fields).toEqual({ price: [10] });
    expect(hat?.highlights).toHaveProperty('title');
  });

  it('have an explanation of their score if explain is true', () => {
    const { results } = search({ query: 'red shoes', explain: true });
    expect(results).toHaveLength(3);
    for (const { explain } of results) expect(explain).toHaveProperty('groups');
  });
});

describe('records that fill several pages', () => {
  const PARTS = 12;
  /** Records of which four fit on a page; their fillers differ, so that a mix-up would be seen. */
  const LONG = Array.from({ length: PARTS }, (_, part) => ({
    name: `part-${part}`,
    title: `Chapter ${part} tern`,
    pages: part,
    filler: String.fromCharCode(0x61 + part).repeat(15_000),
  }));

  it('have each their own highlights, in the order of the response', async () => {
    const long = await fixtures.add('long', BOOKS, LONG);
    const { results } = search({ query: 'tern', order_by: 'pages asc', size: PARTS }, { long });
    expect(results.map(({ highlights }) => highlights)).toEqual(
      LONG.map(({ title }) => ({ title: title.replace('tern', '<em>tern</em>') })),
    );
    expect(results.map(({ fields }) => fields['filler'])).toEqual(LONG.map(({ filler }) => filler));
    const mixed = search({ query: 'tern shoes', size: 20 }, { long, books }).results;
    expect(mixed).toHaveLength(PARTS + 1);
    for (const { name, highlights } of mixed) {
      const title = LONG.find((each) => each.name === name)?.title.replace('tern', '<em>tern</em>');
      expect(highlights).toEqual({ title: title ?? 'A history of <em>shoes</em>' });
    }
  });
});

describe('a group', () => {
  it('ranks the hits of all its lists together', () => {
    const response = search({ query: 'red shoes' }, group());
    expect(response).toMatchObject({ group_name: 'all', total_count: 5 });
    expect(response).not.toHaveProperty('list_name');
    const scores = response.results.map((result) => result['@text_score']);
    expect(scores).toEqual([...scores].sort((left, right) => right - left));
    expect(new Set(response.results.map(({ list_name }) => list_name))).toEqual(new Set(['shop', 'books']));
  });

  it('gives the same ranking page by page', () => {
    const whole = names(search({ query: 'red shoes' }, group()));
    const pages = [0, 1, 2, 3, 4].flatMap((skip) => names(search({ query: 'red shoes', skip, size: 1 }, group())));
    expect(pages).toEqual(whole);
  });

  it('orders across lists, with records last whose list lacks the field', () => {
    expect(names(search({ order_by: 'pages, name' }, group()))).toEqual([
      'book-shoe',
      'book-red',
      'hat',
      'scarf',
      'shoe-blue',
      'shoe-red',
      'sushi',
    ]);
    expect(names(search({ order_by: 'name desc', size: 3 }, group()))).toEqual(['sushi', 'shoe-red', 'shoe-blue']);
    expect(names(search({ ranking: 'none' }, group()))).toEqual([
      ...GOODS.map(({ name }) => name),
      'book-red',
      'book-shoe',
    ]);
  });

  it('treats a field that a list lacks as missing there', () => {
    expect(names(search({ filter: 'pages > 100' }, group()))).toEqual(['book-red']);
    expect(search({ filter: 'pages = null' }, group()).total_count).toBe(GOODS.length);
    expect(() => search({ filter: 'size = 1' }, group())).toThrow(ServiceError);
  });

  it('adds up facets and counts of its lists', () => {
    const { facets, facet_ranges, total_count } = search({ facets: ['brand', 'pages'], size: 0 }, group());
    expect(total_count).toBe(7);
    expect(facets).toEqual({
      brand: [{ value: 'Zoo', count: 3 }, { value: 'Acme', count: 2 }, { value: 'Penguin', count: 1 }], // prettier-ignore
      pages: [{ value: 100, count: 1 }, { value: 300, count: 1 }], // prettier-ignore
    });
    expect(facet_ranges).toEqual({ pages: { min: 100, max: 300 } });
  });
});
