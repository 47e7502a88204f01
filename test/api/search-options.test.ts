/** Tests every option of a search, each in a test with its name, in the query string of GET and in the body of POST. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/client.js';
import { startTestService, type TestService } from '../support/service.js';

interface Hit {
  readonly name: string;
  readonly distinct_count?: number;
  readonly '@text_score': number;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly fields_left_out?: readonly string[];
  readonly highlights?: Readonly<Record<string, string>>;
  readonly explain?: { readonly score: number; readonly groups: readonly unknown[] };
  readonly distance?: number;
  readonly location?: { readonly latitude: number; readonly longitude: number };
}
interface SearchBody {
  readonly total_count: number;
  readonly results: readonly Hit[];
  readonly facets?: Readonly<Record<string, readonly { readonly value: unknown; readonly count: number }[]>>;
  readonly facet_ranges?: Readonly<Record<string, { readonly min: number; readonly max: number }>>;
  readonly applied: { readonly typos: readonly { readonly word: string }[] };
}

const PLACES = [
  { name: 'london', title: 'London on the river Thames', country: 'uk', people: 8900, at: [51.5074, -0.1278] },
  { name: 'reading', title: 'Reading, a river and a railway', country: 'uk', people: 230, at: [51.4543, -0.9781] },
  { name: 'paris', title: 'Paris on the Seine', country: 'france', people: 2100, at: [48.8566, 2.3522] },
  { name: 'rouen', title: 'Rouen, where the river Seine bends', country: 'france', people: 110, at: [49.4432, 1.0993] },
  { name: 'cologne', title: 'Cologne and its cathedral', country: 'germany', people: 1100, at: [50.9375, 6.9603] },
].map(({ at: [latitude, longitude], ...fields }) => ({ ...fields, location: { latitude, longitude } }));
const PATH = '/search/default/places/1';
const BOOKS = [
  { name: 'gannets', title: 'Gannets', text: 'A book of sea birds by jane.doe', author: 'Jane Doe', year: 2001 },
  {
    name: 'cliffs',
    title: 'Sea cliffs',
    text: 'Gannets nest on them, gannets everywhere',
    author: 'Émile Zola',
    year: 1999,
  },
  { name: 'doe', title: 'The doe', text: 'No bird', author: 'Zoë O’Neill-Smith', year: 2010 },
];
const BOOKS_PATH = '/search/default/books/1';
const SHOP = [
  {
    name: 'coat-s',
    title: 'A red coat of wool',
    product: 'Coat',
    colour: ['red'],
    price: 20,
    new: true,
    sold: '2024-05-01',
  },
  { name: 'coat-m', title: 'A coat in red and more red', product: 'COAT', colour: ['red'], price: 21, new: true },
  { name: 'coat-l', title: 'A blue coat', product: 'coat', colour: ['blue'], price: 21, new: true },
  { name: 'hat-red', title: 'Red', product: 'Hat', colour: ['red', 'blue'], price: 30, new: false, sold: '2024-05-01' },
  { name: 'hat-blue', title: 'A blue hat', product: 'Hat', colour: ['blue'], price: 31, new: false },
  { name: 'gift', title: 'A voucher', colour: ['red'], price: 5 },
  { name: 'boot', title: 'Boots', product: 'Boot', price: 90, new: true, sold: '2024-06-01' },
];
const SHOP_PATH = '/search/default/shop/1';
const POINTS = [
  { name: 'east', fields: {}, vector: [1, 0] },
  { name: 'north', fields: {}, vector: [0, 1] },
];
const POINTS_PATH = '/search/default/points/1';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  await service.client.post('/list/default', {
    name: 'places',
    searchable_fields: [{ name: 'title' }],
    facets: [
      { name: 'country', type: 'string' },
      { name: 'people', type: 'number' },
    ],
    location_field: 'location',
  });
  await service.client.bulk('default', 'places', PLACES);
  await service.client.post('/list/default', {
    name: 'books',
    searchable_fields: [{ name: 'title', weight: 2 }, { name: 'text' }],
    facets: [
      { name: 'author', type: 'string' },
      { name: 'year', type: 'number' },
    ],
  });
  await service.client.bulk('default', 'books', BOOKS);
  await service.client.post('/list/default', { name: 'points', model: 'own', searchable_fields: [{ name: 'title' }] });
  await service.client.bulk('default', 'points', POINTS);
  for (const [name, records] of [
    ['shop', SHOP],
    ['outlet', [{ name: 'boot-2', title: 'Boots', product: 'BOOT', price: 25 }]],
  ] as const) {
    await service.client.post('/list/default', {
      name,
      searchable_fields: [{ name: 'title' }],
      facets: [
        { name: 'product', type: 'string' },
        { name: 'price', type: 'number' },
        { name: 'colour', type: 'string', cardinality: 'Many' },
        { name: 'new', type: 'boolean' },
        { name: 'sold', type: 'date' },
      ],
    });
    await service.client.bulk('default', name, records);
  }
  await service.client.post('/list-group/default', {
    name: 'shops',
    lists: [{ list: 'shop' }, { list: 'outlet' }, { list: 'books' }],
  });
  await service.client.post('/list-group/default', { name: 'both', lists: [{ list: 'books' }, { list: 'places' }] });
});
afterAll(() => service.close());

type Options = Readonly<Record<string, string | number | boolean | readonly number[]>>;
const METHODS: Readonly<Record<string, (options: Options, path: string) => Promise<Answer>>> = {
  GET: (options, path) =>
    service.client.get(path, Object.fromEntries(Object.entries(options).map(([name, value]) => [name, String(value)]))),
  POST: (options, path) => service.client.post(path, options),
};
const tested = new Set<string>();

describe.each(Object.keys(METHODS))('options of a search by %s', (method) => {
  const answer = (options: Options, path = PATH) =>
    (METHODS[method] as (options: Options, path: string) => Promise<Answer>)(options, path);
  async function search(options: Options, path = PATH): Promise<SearchBody> {
    const { status, text, body } = await answer(options, path);
    expect(status, text).toBe(200);
    return body as SearchBody;
  }
  const names = async (options: Options) => (await search(options)).results.map(({ name }) => name);
  const sorted = async (options: Options) => (await names(options)).sort();
  function option(name: string, test: () => Promise<void>): void {
    tested.add(name);
    it(name, test);
  }

  option('query', async () => {
    expect(await sorted({ query: 'seine' })).toEqual(['paris', 'rouen']);
    expect((await search({ query: '' })).total_count).toBe(PLACES.length);
  });

  option('filter', async () => {
    expect(await sorted({ filter: "country = 'France'" })).toEqual(['paris', 'rouen']);
    expect(await names({ query: 'river', filter: 'people > 1000' })).toEqual(['london']);
  });

  option('radius', async () => {
    const { results } = await search({ radius: '51.5,-0.12,70km' });
    expect(results.map(({ name }) => name).sort()).toEqual(['london', 'reading']);
    for (const { distance = -1, location } of results) {
      expect(distance).toBeGreaterThan(0);
      expect(distance).toBeLessThan(70_000);
      expect(location?.latitude).toBeCloseTo(51.5, 0);
    }
  });

  option('box', async () => {
    expect(await sorted({ box: '51.3,-1,51.6,0' })).toEqual(['london', 'reading']);
    const object = JSON.stringify({ south: 51.3, west: -1, north: 51.6, east: 0 });
    expect(await sorted({ box: object, query: 'railway' })).toEqual(['reading']);
    expect(await sorted({ box: '-90,180,90,0' })).toEqual(['london', 'reading']);
  });

  option('match', async () => {
    expect(await sorted({ query: 'river seine', match: 'any' })).toEqual(['london', 'paris', 'reading', 'rouen']);
    expect(await names({ query: 'river seine', match: 'all' })).toEqual(['rouen']);
    expect(await names({ query: 'seine river', match: 'all' })).toEqual(['rouen']);
    expect(await names({ query: 'river seine', match: 'phrase' })).toEqual(['rouen']);
    expect(await names({ query: 'seine river', match: 'phrase' })).toEqual([]);
  });

  option('order_by', async () => {
    expect(await names({ order_by: 'people desc' })).toEqual(['london', 'paris', 'cologne', 'reading', 'rouen']);
    expect(await names({ order_by: 'country asc, name desc' })).toEqual([
      'rouen',
      'paris',
      'cologne',
      'reading',
      'london',
    ]);
    expect(await names({ radius: '50.9,6.9,1000km', order_by: 'distance asc', size: 2 })).toEqual(['cologne', 'paris']);
  });

  option('ranking', async () => {
    const stored = PLACES.map(({ name }) => name);
    expect(await names({ ranking: 'none' })).toEqual(stored);
    expect(await names({ query: 'seine bends river', ranking: 'none' })).toEqual([
      'london',
      'reading',
      'paris',
      'rouen',
    ]);
  });

  option('minimum_text_score', async () => {
    const { results } = await search({ query: 'river seine bends' });
    const floor = results[0]?.['@text_score'] ?? 1;
    expect(results.length).toBeGreaterThan(1);
    const { results: above, total_count: total } = await search({
      query: 'river seine bends',
      minimum_text_score: floor,
    });
    expect(above.map(({ name }) => name)).toEqual(['rouen']);
    expect(total).toBe(1);
  });

  for (const kind of ['image', 'document', 'video', 'audio']) {
    option(`minimum_${kind}_score`, async () => {
      // No attached file matched, so no hit has such a score that could be too low.
      const without = await sorted({ query: 'river' });
      expect(await sorted({ query: 'river', [`minimum_${kind}_score`]: 0 })).toEqual(without);
      expect((await answer({ [`minimum_${kind}_score`]: 1.5 })).status).toBe(400);
    });
  }

  option('select', async () => {
    const [hit] = (await search({ query: 'cathedral', select: 'people,country' })).results;
    expect(hit?.fields).toEqual({ country: ['germany'], people: [1100] });
    expect(hit).toMatchObject({ name: 'cologne', '@text_score': expect.any(Number) as number });
    expect(hit?.highlights?.['title']).toContain('<em>cathedral</em>');
  });

  option('fields_bytes_max', async () => {
    const [hit] = (await search({ query: 'cathedral', fields_bytes_max: 40 })).results;
    expect(hit?.fields).toEqual({ title: 'Cologne and its cathedral' });
    expect(hit?.fields_left_out).toEqual(['country', 'people', 'location']);
    const [whole] = (await search({ query: 'cathedral', fields_bytes_max: 1000 })).results;
    expect(whole).not.toHaveProperty('fields_left_out');
    expect((await answer({ fields_bytes_max: -1 })).status).toBe(400);
  });

  option('prefix', async () => {
    expect(await names({ query: 'cathed' })).toEqual([]);
    expect(await names({ query: 'cathed', prefix: true })).toEqual(['cologne']);
    expect((await search({ query: 'cathed', prefix: true })).results[0]?.highlights).toEqual({
      title: 'Cologne and its <em>cathedral</em>',
    });
    // As each letter is typed.
    for (const query of ['r', 'ri', 'riv', 'rive', 'river'])
      expect(await sorted({ query: `seine ${query}`, match: 'all', prefix: true })).toEqual(['rouen']);
    expect(await names({ query: 'catehd', prefix: true })).toEqual(['cologne']);
    expect(await names({ query: 'catehd', prefix: true, typo_tolerance: false })).toEqual([]);
    // A character behind the word ends it.
    expect(await names({ query: 'cathed.', prefix: true })).toEqual([]);
    expect(await names({ query: 'cathed seine', prefix: true, match: 'all' })).toEqual([]);
    expect(await names({ query: 'cathed', prefix: true, match: 'phrase' })).toEqual([]);
    const { results } = await search({ query: 'read', prefix: true, explain: true });
    expect(results[0]?.explain?.groups).toMatchObject([{ word: 'read' }]);
  });

  option('search_fields', async () => {
    const of = async (options: Options, path = BOOKS_PATH) =>
      (await search({ ...options }, path)).results.map(({ name }) => name).sort();
    expect(await of({ query: 'gannets' })).toEqual(['cliffs', 'gannets']);
    expect(await of({ query: 'gannets', search_fields: 'title' })).toEqual(['gannets']);
    expect(await of({ query: 'gannets', search_fields: 'text' })).toEqual(['cliffs']);
    expect(await of({ query: 'gannets', search_fields: 'text , title' })).toEqual(['cliffs', 'gannets']);
    // Stems, typos and unfinished words match only in these fields as well, and so do parts of words, phrases and all
    // words.
    expect(await of({ query: 'gannet', search_fields: 'title' })).toEqual(['gannets']);
    expect(await of({ query: 'gannests', search_fields: 'title' })).toEqual(['gannets']);
    expect(await of({ query: 'gann', search_fields: 'title', prefix: true })).toEqual(['gannets']);
    expect(await of({ query: 'doe' })).toEqual(['doe', 'gannets']);
    expect(await of({ query: 'doe', search_fields: 'title' })).toEqual(['doe']);
    expect(await of({ query: 'doe', search_fields: 'text' })).toEqual(['gannets']);
    expect(await of({ query: 'sea gannets', match: 'all' })).toEqual(['cliffs', 'gannets']);
    expect(await of({ query: 'sea gannets', match: 'all', search_fields: 'title' })).toEqual([]);
    expect(await of({ query: 'sea birds', match: 'phrase', search_fields: 'text' })).toEqual(['gannets']);
    expect(await of({ query: 'sea birds', match: 'phrase', search_fields: 'title' })).toEqual([]);
    // It has no effect without a query, and a blank names no field.
    expect(await of({ query: '', search_fields: 'title' })).toHaveLength(3);
    expect(await of({ query: 'gannets', search_fields: ' ' })).toEqual(['cliffs', 'gannets']);
    const narrow = await search({ query: 'gannets', search_fields: 'text', facets: 'author' }, BOOKS_PATH);
    expect(narrow).toMatchObject({ total_count: 1, facets: { author: [{ value: 'Émile Zola', count: 1 }] } });
    expect(narrow.results[0]?.highlights).toEqual({
      text: '<em>Gannets</em> nest on them, <em>gannets</em> everywhere',
    });
    const unknown = await answer({ query: 'gannets', search_fields: 'titel' }, BOOKS_PATH);
    expect(unknown.status).toBe(400);
    expect(unknown.body).toMatchObject({
      code: 'invalid-parameter',
      detail: '"titel" is no searchable field. Did you mean \'title\'? Searchable fields are title, text.',
      errors: [method === 'GET' ? { parameter: 'search_fields' } : { pointer: '/search_fields' }],
    });
    // In a group, a list without the field has no hits by it.
    const both = '/search/group/default/both/latest';
    expect(await of({ query: 'gannets thames' }, both)).toEqual(['cliffs', 'gannets', 'london']);
    expect(await of({ query: 'gannets thames', search_fields: 'title' }, both)).toEqual(['gannets', 'london']);
    expect(await of({ query: 'gannets thames no', search_fields: 'text' }, both)).toEqual(['cliffs', 'doe']);
    expect((await answer({ query: 'gannets', search_fields: 'author' }, both)).status).toBe(400);
  });

  option('facet_query', async () => {
    const values = async (text: string, options: Options = {}) => {
      const { facets } = await search({ facets: 'author', facet_query: text, ...options }, BOOKS_PATH);
      return facets!['author']!.map(({ value }) => value).sort();
    };
    expect(await values('')).toHaveLength(3);
    expect(await values('ja')).toEqual(['Jane Doe']);
    expect(await values('doe JA')).toEqual(['Jane Doe']);
    expect(await values('oe')).toEqual([]);
    expect(await values('emile')).toEqual(['Émile Zola']);
    expect(await values('ZO')).toEqual(['Zoë O’Neill-Smith', 'Émile Zola']);
    expect(await values("zoe o'neill")).toEqual(['Zoë O’Neill-Smith']);
    expect(await values('smi')).toEqual(['Zoë O’Neill-Smith']);
    expect(await values('!?')).toEqual([]);
    // The counts are those of the hits, and neither the hits nor other facets change.
    const asked = { facets: 'author', facet_query: 'zo' };
    expect(await search({ ...asked, filter: 'year < 2005' }, BOOKS_PATH)).toMatchObject({
      total_count: 2,
      facets: { author: [{ value: 'Émile Zola', count: 1 }] },
    });
    expect(await values('zo', { filter: "author = 'Jane Doe'", disjunctive_facets: true })).toHaveLength(2);
    expect((await search(asked, '/search/group/default/both/latest')).facets?.['author']).toHaveLength(2);
    expect((await answer({ facet_query: 'zo' }, BOOKS_PATH)).status).toBe(400);
    const refused = await answer({ facets: 'author,year', facet_query: 'zo' }, BOOKS_PATH);
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('is a facet of type number');
  });

  option('analytics', async () => {
    // The hits are the same whether the search is counted or not; analytics.test.ts tests the counting.
    expect(await names({ query: 'thames', analytics: false })).toEqual(['london']);
  });

  option('typo_tolerance', async () => {
    const forgiven = await search({ query: 'cathderal' });
    expect(forgiven.results.map(({ name }) => name)).toEqual(['cologne']);
    expect(forgiven.applied.typos.map(({ word }) => word)).toEqual(['cathderal']);
    expect(await names({ query: 'cathderal', typo_tolerance: false })).toEqual([]);
  });

  for (const name of ['vector_search', 'reranker']) {
    option(name, async () => {
      // The list has neither, so that only the words matter.
      const [on, off] = [await names({ query: 'river', [name]: true }), await names({ query: 'river', [name]: false })];
      expect(on).toHaveLength(3);
      expect(off).toEqual(on);
    });
  }

  option('cache', async () => {
    const query = `river ${method}`;
    expect((await answer({ query })).headers['x-cache']).toBe('miss');
    // Background work on the list is a reason to compute the answer again.
    await expect.poll(async () => (await answer({ query })).headers['x-cache']).toBe('hit');
    expect((await answer({ query, cache: false })).headers['x-cache']).not.toBe('hit');
  });

  option('skip', async () => {
    expect(await names({ order_by: 'name', skip: 3 })).toEqual(['reading', 'rouen']);
    expect(await search({ skip: 1000 })).toMatchObject({ total_count: 5, results: [] });
  });

  option('size', async () => {
    expect(await names({ order_by: 'name', size: 2 })).toEqual(['cologne', 'london']);
    expect(await search({ size: 0 })).toMatchObject({ total_count: 5, results: [] });
    expect((await answer({ size: 1001 })).status).toBe(400);
  });

  option('vector', async () => {
    const { results } = await search({ vector: [0.9, 0.1] }, POINTS_PATH);
    expect(results.map(({ name }) => name)).toEqual(['east']);
    expect((await answer({ vector: [1, 2, 3] }, POINTS_PATH)).status).toBe(400);
    expect((await answer({ vector: [1, 2] })).status).toBe(400);
  });

  option('exact', async () => {
    const { results } = await search({ vector: [0.1, 0.9], exact: true, explain: true }, POINTS_PATH);
    expect(results).toMatchObject([{ name: 'north', explain: { sources: [{ kind: 'meaning', way: 'scan' }] } }]);
  });

  option('facets', async () => {
    const { facets, facet_ranges: ranges } = await search({ query: 'river', facets: 'country,people', size: 1 });
    expect(facets?.['country']).toEqual([
      { value: 'uk', count: 2 },
      { value: 'france', count: 1 },
    ]);
    expect(ranges).toEqual({ people: { min: 110, max: 8900 } });
  });

  option('disjunctive_facets', async () => {
    const asked = { facets: 'country,people', disjunctive_facets: true };
    const counts = ({ facets }: SearchBody) =>
      Object.fromEntries(facets!['country']!.map(({ value, count }) => [value, count]));
    const one = await search({ ...asked, filter: "country = 'uk'" });
    expect(one.total_count).toBe(2);
    expect(counts(one)).toEqual({ uk: 2, france: 2, germany: 1 });
    // Its condition narrows the counts of other facets, and conditions on others narrow its counts.
    expect(one.facet_ranges).toEqual({ people: { min: 230, max: 8900 } });
    const two = await search({ ...asked, filter: "country in ('uk', 'germany') and people > 1000" });
    expect(counts(two)).toEqual({ uk: 1, france: 1, germany: 1 });
    expect(two.facet_ranges).toEqual({ people: { min: 230, max: 8900 } });
    // A condition that names another facet as well belongs to neither.
    expect(counts(await search({ ...asked, filter: "country = 'uk' or people > 8000" }))).toEqual({ uk: 2 });
    expect(counts(await search({ facets: 'country', filter: "country = 'uk'" }))).toEqual({ uk: 2 });
  });

  option('distinct', async () => {
    const asked = { distinct: 'product', order_by: 'price' };
    const of = async (options: Options, path = SHOP_PATH) => {
      const { total_count: total, results } = await search({ ...asked, ...options }, path);
      return [total, results.map(({ name }) => name).join(' ')];
    };
    // The cheapest of each product; case is no difference, and what has no product stays.
    expect(await of({})).toEqual([4, 'gift coat-s hat-red boot']);
    expect(await of({ order_by: 'price desc' })).toEqual([4, 'boot hat-blue coat-m gift']);
    expect(await of({ skip: 1, size: 2 })).toEqual([4, 'coat-s hat-red']);
    expect(await of({ filter: "colour = 'blue'" })).toEqual([2, 'coat-l hat-red']);
    expect(await of({ query: 'red', order_by: '' })).toEqual([2, 'hat-red coat-m']);
    expect(await of({ query: 'red blue wool', match: 'any', order_by: '', ranking: 'none' })).toEqual([
      2,
      'coat-s hat-red',
    ]);
    expect(await of({ distinct: 'price' })).toEqual([6, 'gift coat-s coat-m hat-red hat-blue boot']);
    expect(await of({ distinct: 'new', order_by: 'price desc' })).toEqual([3, 'boot hat-blue gift']);
    expect(await of({ distinct: 'sold', order_by: 'price desc' })).toEqual([
      6,
      'boot hat-blue hat-red coat-m coat-l gift',
    ]);
    expect(await of({ distinct: ' ' })).toEqual([7, 'gift coat-s coat-m coat-l hat-red hat-blue boot']);
    const counts = ({ results }: SearchBody) => results.map(({ distinct_count: count }) => count);
    expect(counts(await search(asked, SHOP_PATH))).toEqual([1, 3, 2, 1]);
    expect(counts(await search({ ...asked, filter: "colour = 'red'", skip: 1 }, SHOP_PATH))).toEqual([2, 1]);
    expect(counts(await search({ order_by: 'price', size: 1 }, SHOP_PATH))).toEqual([undefined]);
    // A facet counts what is found with its value added to the filter.
    const { facets, facet_ranges: ranges } = await search(
      { ...asked, facets: 'colour,price,product', size: 0 },
      SHOP_PATH,
    );
    expect(facets?.['colour']).toEqual([
      { value: 'red', count: 3 },
      { value: 'blue', count: 2 },
    ]);
    expect(facets?.['product']?.map(({ count }) => count)).toEqual([1, 1, 1]);
    expect(ranges).toEqual({ price: { min: 5, max: 90 } });
    const others = { ...asked, facets: 'colour', filter: "colour = 'blue'", disjunctive_facets: true };
    expect((await search(others, SHOP_PATH)).facets).toEqual({ colour: facets?.['colour'] });
    const looked = await search({ ...asked, facets: 'product', facet_query: 'ha' }, SHOP_PATH);
    expect(looked.facets).toEqual({ product: [{ value: 'Hat', count: 1 }] });
    // Over the lists of a group, the same value is the same hit.
    const group = '/search/group/default/shops/latest';
    expect(await of({}, group)).toEqual([7, 'gift coat-s boot-2 hat-red gannets cliffs doe']);
    expect(await of({ skip: 2, size: 2 }, group)).toEqual([7, 'boot-2 hat-red']);
    expect(counts(await search({ ...asked, size: 4 }, group))).toEqual([1, 3, 2, 2]);
    const refused = async (distinct: string, path = SHOP_PATH) => {
      const { status, body } = await answer({ distinct }, path);
      expect(status).toBe(400);
      expect(body).toMatchObject({ errors: [method === 'GET' ? { parameter: 'distinct' } : { pointer: '/distinct' }] });
      return (body as { detail: string }).detail;
    };
    expect(await refused('produkt')).toContain("Did you mean 'product'? Single facets are product, price");
    expect(await refused('colour')).toContain('needs a Single facet, such as product, price');
    expect(await refused('name')).toContain('is no facet');
    expect(await refused('country', group)).toContain('is no facet');
  });

  option('facet_size', async () => {
    const { facets } = await search({ facets: 'country', facet_size: 1 });
    expect(facets?.['country']).toHaveLength(1);
    expect((await search({ facets: 'country', facet_size: 1000 })).facets?.['country']).toHaveLength(3);
  });

  option('highlight', async () => {
    const [marked] = (await search({ query: 'thames' })).results;
    expect(marked?.highlights).toEqual({ title: 'London on the river <em>Thames</em>' });
    const [plain] = (await search({ query: 'thames', highlight: false })).results;
    expect(plain).not.toHaveProperty('highlights');
  });

  option('explain', async () => {
    const [hit] = (await search({ query: 'thames', explain: true })).results;
    expect(hit?.explain?.groups).toHaveLength(1);
    expect(hit?.explain?.score).toBeCloseTo(hit?.['@text_score'] ?? 0, 5);
    expect((await search({ query: 'thames' })).results[0]).not.toHaveProperty('explain');
  });
});

describe('an option given twice in a query string', () => {
  it('has the values of both if it takes several, as many libraries write a list', async () => {
    const joined = await service.client.get(
      `${PATH}?facets=country,people&select=title,people&order_by=people%20desc,name`,
    );
    const repeated = await service.client.get(
      `${PATH}?facets=country&select=title&facets=people&select=people&order_by=people%20desc&order_by=name`,
    );
    expect([joined.status, repeated.status]).toEqual([200, 200]);
    const { results, facets } = repeated.body as SearchBody;
    expect([results, facets]).toEqual([(joined.body as SearchBody).results, (joined.body as SearchBody).facets]);
    expect(Object.keys(facets ?? {})).toEqual(['country', 'people']);
    expect(repeated.headers['x-cache']).toBe('hit');
  });

  it.each(['query', 'filter', 'size', 'explain', 'highlight', 'radius'])('is refused if it is %s', async (name) => {
    const answer = await service.client.get(`${PATH}?${name}=1&${name}=1`);
    expect(answer).toMatchObject({
      status: 400,
      body: { errors: [{ parameter: name, detail: 'The parameter is given more than once, but takes one value.' }] },
    });
  });

  it('is described as such in the OpenAPI document', async () => {
    const document = (await service.client.get('/openapi.json')).body as {
      readonly paths: Readonly<
        Record<string, { readonly get: { readonly parameters: readonly { name: string; description?: string }[] } }>
      >;
    };
    const { parameters = [] } = document.paths['/search/{account}/{list}/{version}']?.get ?? {};
    const repeatable = parameters.filter(({ description = '' }) => description.endsWith('. May be repeated'));
    expect(repeatable.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['facets', 'select', 'search_fields', 'order_by']),
    );
    expect(repeatable.map(({ name }) => name)).not.toContain('query');
  });
});

it('Every search option of the OpenAPI document has a test', async () => {
  const { body } = await service.client.get('/openapi.json');
  const { paths } = body as {
    paths: Record<string, { get: { parameters: { name: string; in: string }[] } }>;
  };
  const { parameters } = (paths['/search/{account}/{list}/{version}'] as (typeof paths)[string]).get;
  const options = parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
  expect([...tested].sort(), "each option has an option('name', …) in this file").toEqual(options.sort());
});
