/** Tests searches of groups, which rank lists with different fields, languages and rules together. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ServiceClient } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { startTestService, type TestService } from '../support/service.js';

interface Hit {
  readonly name: string;
  readonly list_name: string;
  readonly '@text_score': number;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly highlights: Readonly<Record<string, string>>;
  readonly distance?: number;
}
interface GroupBody {
  readonly total_count: number;
  readonly version: number;
  readonly results: readonly Hit[];
  readonly facets?: Readonly<Record<string, readonly { readonly value: unknown; readonly count: number }[]>>;
  readonly facet_ranges?: Readonly<Record<string, unknown>>;
}

let service: TestService;
let client: ServiceClient;
beforeAll(async () => {
  service = await startTestService();
  client = service.client;
  await client.post('/list/default', {
    name: 'films',
    language: 'en',
    searchable_fields: [{ name: 'title', weight: 2 }, { name: 'plot' }],
    facets: [
      { name: 'year', type: 'number' },
      { name: 'genre', type: 'string', cardinality: 'Many' },
    ],
  });
  await client.post('/list/default', {
    name: 'livres',
    language: 'fr',
    searchable_fields: [{ name: 'titre' }],
    facets: [
      { name: 'year', type: 'number' },
      { name: 'genre', type: 'string', cardinality: 'Many' },
      { name: 'pages', type: 'number' },
    ],
    location_field: 'place',
  });
  await client.bulk('default', 'films', [
    { name: 'f1', title: 'The gannet', plot: 'A bird dives', year: 1983, genre: ['Drama', 'nature'] },
    { name: 'f2', title: 'Deep sea', plot: 'A gannet and a scanner', year: 2001, genre: ['nature'] },
    { name: 'f3', title: 'City', plot: 'A tomograph', year: 1990, genre: ['drama'] },
  ]);
  await client.bulk('default', 'livres', [
    {
      name: 'l1',
      titre: 'Le gannet et les chevaux',
      year: 1995,
      genre: ['nature'],
      pages: 90,
      place: { latitude: 48.85, longitude: 2.35 },
    },
    {
      name: 'l2',
      titre: 'Un tomograph',
      year: 1970,
      genre: ['roman'],
      pages: 300,
      place: { latitude: 43.3, longitude: 5.37 },
    },
  ]);
  await client.post('/list-group/default', { name: 'all', lists: [{ list: 'films' }, { list: 'livres' }] });
});
afterAll(() => service.close());

async function search(options: object, version: string | number = 'latest'): Promise<GroupBody> {
  const answer = await client.post(`/search/group/default/all/${version}`, options);
  expect(answer.status, answer.text).toBe(200);
  return answer.body as GroupBody;
}
const places = ({ results }: GroupBody) => results.map(({ list_name, name }) => `${list_name}/${name}`);

describe('a search of a group', () => {
  it('ranks hits of all lists together by score, and names the list of each', async () => {
    const body = await search({ query: 'gannet' });
    expect(places(body).sort()).toEqual(['films/f1', 'films/f2', 'livres/l1']);
    const scores = body.results.map((hit) => hit['@text_score']);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    // A hit has the same score as in a search of its list, so that a minimum score means the same in both.
    for (const list of ['films', 'livres']) {
      const alone = (await client.get(`/search/default/${list}/1`, { query: 'gannet' })).body as GroupBody;
      for (const hit of alone.results) {
        expect(body.results.find(({ name }) => name === hit.name)?.['@text_score']).toBe(hit['@text_score']);
      }
    }
  });

  it('pages through the merged ranking', async () => {
    const all = places(await search({ query: 'gannet tomograph', size: 10 }));
    const pages = [];
    for (let skip = 0; skip < all.length; skip += 2)
      pages.push(...places(await search({ query: 'gannet tomograph', skip, size: 2 })));
    expect(pages).toEqual(all);
  });

  it('applies the synonyms of each list only to that list', async () => {
    await client.put('/list/synonyms/default/films', {
      rules: [{ kind: 'equivalent', terms: ['scanner', 'tomograph'] }],
    });
    expect(places(await search({ query: 'scanner' })).sort()).toEqual(['films/f2', 'films/f3']);
    await client.put('/list/synonyms/default/livres', {
      rules: [{ kind: 'rewrite', terms: ['scanner'], replace_with: ['tomograph'] }],
    });
    expect(places(await search({ query: 'scanner' })).sort()).toEqual(['films/f2', 'films/f3', 'livres/l2']);
    await client.put('/list/synonyms/default/films', { rules: [] });
    await client.put('/list/synonyms/default/livres', { rules: [] });
  });

  it('applies the query rules of each list only to that list', async () => {
    const rule = { name: 'year', pattern: String.raw`\b(\d{4})\b`, filter: 'year = $1' };
    expect((await client.put('/list/default/films', { query_rules: [rule] })).status).toBe(200);
    expect(places(await search({ query: 'gannet 2001', match: 'all' }))).toEqual(['films/f2']);
    await client.put('/list/default/livres', { query_rules: [{ ...rule, filter: 'year > $1' }] });
    expect(places(await search({ query: 'gannet 1983', match: 'all' })).sort()).toEqual(['films/f1', 'livres/l1']);
    for (const list of ['films', 'livres']) await client.put(`/list/default/${list}`, { query_rules: [] });
  });

  it('stems words in the language of each list', async () => {
    // "cheval" and "chevaux" have the same stem in French, and only there.
    expect(places(await search({ query: 'cheval', typo_tolerance: false }))).toEqual(['livres/l1']);
    expect(places(await search({ query: 'dive', typo_tolerance: false }))).toEqual(['films/f1']);
  });

  it('merges facets: adds up counts, compares values without case, and widens ranges', async () => {
    const { facets, facet_ranges } = await search({ facets: ['genre', 'year', 'pages'] });
    const genres = (facets?.['genre'] ?? []).map(({ value, count }) => [String(value).toLowerCase(), count]);
    expect(genres).toEqual([
      ['nature', 3],
      ['drama', 2],
      ['roman', 1],
    ]);
    expect(facet_ranges).toMatchObject({ year: { min: 1970, max: 2001 }, pages: { min: 90, max: 300 } });
    const few = await search({ facets: ['genre'], facet_size: 1 });
    expect(few.facets?.['genre']).toMatchObject([{ count: 3 }]);
  });

  it('filters by facets of all lists, and by those that only one list has', async () => {
    expect(places(await search({ filter: "genre = 'NATURE' and year > 1990" })).sort()).toEqual([
      'films/f2',
      'livres/l1',
    ]);
    expect(places(await search({ filter: 'pages > 100' }))).toEqual(['livres/l2']);
    expect((await client.post('/search/group/default/all/latest', { filter: 'colour = 1' })).status).toBe(400);
  });

  it('sorts across lists', async () => {
    expect(places(await search({ order_by: 'year asc' }))).toEqual([
      'livres/l2',
      'films/f1',
      'films/f3',
      'livres/l1',
      'films/f2',
    ]);
    expect(places(await search({ order_by: 'year desc', size: 2, skip: 1 }))).toEqual(['livres/l1', 'films/f3']);
    expect(places(await search({ order_by: 'name desc' }))).toEqual([
      'livres/l2',
      'livres/l1',
      'films/f3',
      'films/f2',
      'films/f1',
    ]);
    // Records without a value come last in both directions.
    for (const direction of ['asc', 'desc']) {
      const sorted = places(await search({ order_by: `pages ${direction}` }));
      expect(sorted.slice(0, 2).sort()).toEqual(['livres/l1', 'livres/l2']);
      expect(sorted.slice(2).sort()).toEqual(['films/f1', 'films/f2', 'films/f3']);
    }
    expect((await client.post('/search/group/default/all/latest', { order_by: 'genre asc' })).status).toBe(400);
  });

  it('searches around a point in the lists that have a location field', async () => {
    const body = await search({ radius: '48.8,2.3,50km', order_by: 'distance asc' });
    expect(places(body)).toEqual(['livres/l1']);
    expect(body.results[0]?.distance).toBeGreaterThan(0);
  });

  it('accepts a minimum score, no ranking and every match mode', async () => {
    expect((await search({ query: 'gannet', minimum_text_score: 1.0 })).total_count).toBeLessThan(3);
    expect(places(await search({ ranking: 'none' }))).toEqual([
      'films/f1',
      'films/f2',
      'films/f3',
      'livres/l1',
      'livres/l2',
    ]);
    expect(places(await search({ query: 'gannet scanner', match: 'all' }))).toEqual(['films/f2']);
    expect(places(await search({ query: 'deep sea', match: 'phrase' }))).toEqual(['films/f2']);
  });

  it('follows its lists with version latest, and keeps members and their versions with a number', async () => {
    await client.post('/list-group/default', { name: 'moving', lists: [{ list: 'films' }, { list: 'livres' }] });
    const count = async (version: string | number) =>
      ((await client.get(`/search/group/default/moving/${version}`, { query: 'gannet' })).body as GroupBody)
        .total_count;
    expect([await count('latest'), await count(1)]).toEqual([3, 3]);
    await client.put('/list-group/default/moving', { lists: [{ list: 'films' }] });
    expect([await count('latest'), await count(1), await count(2)]).toEqual([2, 3, 2]);
    await client.post('/facet/default/films', { name: 'colour', type: 'string' });
    await eventually(
      async () => (await client.get('/list/default/films')).body as { current_version: number },
      (list) => list.current_version === 2,
    );
    await client.post('/search-result/default/films', { name: 'f4', title: 'Another gannet' });
    expect([await count('latest'), await count(1), await count(2)]).toEqual([3, 3, 2]);
  });
});
