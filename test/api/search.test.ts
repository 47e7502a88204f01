import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/client.js';
import { startTestService, type TestService } from '../support/service.js';

interface Hit {
  readonly name: string;
  readonly '@text_score': number;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly highlights?: Readonly<Record<string, string>>;
}
interface SearchBody {
  readonly query_id: string;
  readonly total_count: number;
  readonly results: readonly Hit[];
  readonly facets?: Readonly<Record<string, readonly { readonly value: unknown; readonly count: number }[]>>;
}

const BIRDS = [
  {
    name: 'gannet',
    title: 'The northern gannet',
    text: 'The gannet dives at full speed',
    family: 'sulidae',
    mass: 3000,
    sea: true,
    places: ['iceland', 'wales'],
  },
  {
    name: 'booby',
    title: 'The blue-footed booby',
    text: 'A relative of the gannet with blue feet',
    family: 'sulidae',
    mass: 1500,
    sea: true,
    places: ['ecuador'],
  },
  {
    name: 'puffin',
    title: 'The Atlantic puffin',
    text: 'Nests in burrows & carries <sand eels>',
    family: 'alcidae',
    mass: 400,
    sea: true,
    places: ['iceland'],
  },
  { name: 'wren', title: 'The wren', text: 'Small and loud', family: 'troglodytidae', mass: 9, sea: false, places: [] },
  { name: 'hen', title: 'The hen', text: 'Full of speed when fed', family: 'phasianidae', mass: 2500, sea: false },
];

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ env: { GANNET_SEARCH_THREADS: '2' } });
  await service.client.post('/list/default', {
    name: 'birds',
    searchable_fields: [{ name: 'title', weight: 3 }, { name: 'text' }],
    facets: [
      { name: 'family', type: 'string' },
      { name: 'mass', type: 'number' },
      { name: 'sea', type: 'boolean' },
      { name: 'places', type: 'string', cardinality: 'Many' },
    ],
  });
  await service.client.bulk('default', 'birds', BIRDS);
});
afterAll(() => service.close());

const PATH = '/search/default/birds/1';

async function search(options: Record<string, unknown>): Promise<SearchBody> {
  const answer = await service.client.post(PATH, options);
  expect(answer.status, answer.text).toBe(200);
  return answer.body as SearchBody;
}

async function names(options: Record<string, unknown>): Promise<string[]> {
  return (await search(options)).results.map(({ name }) => name);
}

function withoutTimes({ body }: Answer): unknown {
  const { query_id: _id, took_ms: _took, ...rest } = body as Record<string, unknown>;
  return rest;
}

describe('a search', () => {
  it('answers the same to GET and POST, with fresh ids and the time taken', async () => {
    const query = {
      query: 'gannet speed',
      match: 'any',
      facets: 'family,sea',
      select: 'title',
      highlight: false,
      size: 3,
    };
    const got = await service.client.get(PATH, query);
    const posted = await service.client.post(PATH, { ...query, facets: ['family', 'sea'], select: ['title'] });
    expect(got.status).toBe(200);
    expect(withoutTimes(got)).toEqual(withoutTimes(posted));
    expect((got.body as SearchBody).query_id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    expect((got.body as SearchBody).query_id).not.toBe((posted.body as SearchBody).query_id);
    expect(got.headers['server-timing']).toMatch(/dur=/);
    expect(got.headers['content-type']).toBe('application/json');
  });

  it('matches any word, all words, or the phrase', async () => {
    expect((await names({ query: 'gannet speed' })).sort()).toEqual(['booby', 'gannet', 'hen']);
    expect(await names({ query: 'speed full', match: 'all' })).toHaveLength(2);
    expect(await names({ query: 'full speed', match: 'phrase' })).toEqual(['gannet']);
    expect((await search({ query: '' })).total_count).toBe(BIRDS.length);
    expect((await search({})).total_count).toBe(BIRDS.length);
  });

  it('matches words as typed without typo tolerance, and always in a phrase', async () => {
    expect(await names({ query: 'ganet', typo_tolerance: false })).toEqual([]);
    expect(await names({ query: 'northern ganet', match: 'phrase' })).toEqual([]);
  });

  it('scores from 0 to 1, best first, and the same on every page', async () => {
    const all = await search({ query: 'the gannet' });
    const scores = all.results.map((hit) => hit['@text_score']);
    expect(scores.every((score) => score > 0 && score <= 1)).toBe(true);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    const second = await search({ query: 'the gannet', skip: 1, size: 1 });
    expect(second.results[0]).toMatchObject({ name: all.results[1]?.name, '@text_score': scores[1] });
    expect(second.total_count).toBe(all.total_count);
    const floor = (scores[0] ?? 0) - 1e-9;
    expect(await names({ query: 'the gannet', minimum_text_score: floor })).toEqual([all.results[0]?.name]);
  });

  it('filters by every part of the filter language', async () => {
    const cases: [string, string[]][] = [
      ["family = 'SULIDAE'", ['booby', 'gannet']],
      ['mass >= 1500 and not sea = false', ['booby', 'gannet']],
      ['mass lt 10 or mass gt 2900', ['gannet', 'wren']],
      ["places in ('iceland', 'ecuador')", ['booby', 'gannet', 'puffin']],
      ["family != 'sulidae' and (sea = true or mass < 10)", ['puffin', 'wren']],
      ['places = null', ['hen', 'wren']],
    ];
    for (const [filter, expected] of cases) expect((await names({ filter })).sort(), filter).toEqual(expected);
  });

  it('sorts, selects, pages and counts', async () => {
    expect(await names({ order_by: 'mass desc' })).toEqual(['gannet', 'hen', 'booby', 'puffin', 'wren']);
    expect(await names({ order_by: 'sea asc, name desc', size: 3 })).toEqual(['wren', 'hen', 'puffin']);
    expect(await names({ order_by: 'name', skip: 3 })).toEqual(['puffin', 'wren']);
    expect(await names({ skip: 1000 })).toEqual([]);
    expect(await search({ size: 0, skip: Number.MAX_SAFE_INTEGER })).toMatchObject({ total_count: 5, results: [] });
    const [hit] = (await search({ query: 'wren', select: ['mass'] })).results;
    expect(hit?.fields).toEqual({ mass: [9] });
    const { facets } = await search({ facets: ['family', 'places'], size: 0 });
    expect(facets?.['family']?.[0]).toEqual({ value: 'sulidae', count: 2 });
    expect(facets?.['places']?.[0]).toEqual({ value: 'iceland', count: 2 });
    expect((await search({ facets: ['mass'], size: 0 })) as unknown).toMatchObject({
      facet_ranges: { mass: { min: 9, max: 3000 } },
    });
  });

  it('highlights the matches in escaped text', async () => {
    const [hit] = (await search({ query: 'sand eels' })).results;
    expect(hit?.highlights?.['text']).toContain('&lt;<em>sand</em> <em>eels</em>&gt;');
    const [plain] = (await search({ query: 'sand', highlight: false })).results;
    expect(plain).not.toHaveProperty('highlights');
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['an unknown option, with the one that was meant', { querry: 'x' }, 'query'],
    ['an unknown match', { match: 'every' }, 'any'],
    ['too large a size', { size: 1001 }, '1000'],
    ['a negative skip', { skip: -1 }, '0'],
    ['a score floor above 1', { minimum_text_score: 1.1 }, '1'],
    ['a facet that is none', { facets: ['familly'] }, 'family'],
    ['an order by a Many facet', { order_by: 'places' }, 'Many'],
    ['an order by an unknown field', { order_by: 'weight' }, 'mass'],
    ['five keys to order by', { order_by: 'name,name,name,name,name' }, '4'],
    ['a filter that breaks off', { filter: 'mass >' }, 'position'],
    ['a filter on no facet', { filter: 'titel = 1' }, 'family'],
    ['a radius without a location field', { radius: '51.5,-0.12,10km' }, 'location_field'],
    ['a box without a location field', { box: '51,-1,52,1' }, 'location_field'],
    ['a boolean that is none', { highlight: 'yes' }, 'true'],
    ['an unknown ranking', { ranking: 'best' }, 'none'],
  ])('refuses %s', async (_what, options, hint) => {
    const [option = ''] = Object.keys(options);
    const posted = await service.client.post(PATH, options);
    const detail = expect.any(String) as string;
    expect(posted).toMatchObject({ status: 400, body: { errors: [{ pointer: `/${option}`, detail }] } });
    expect(posted.text).toContain(hint);
    const query = Object.fromEntries(Object.entries(options).map(([name, value]) => [name, String(value)]));
    const asked = await service.client.get(PATH, query);
    expect(asked).toMatchObject({ status: 400, body: { errors: [{ parameter: option, detail }] } });
  });

  it('says that options in the query string of a POST are in the wrong place', async () => {
    const answer = await service.client.send('POST', PATH, { json: {}, query: { size: 5 } });
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ parameter: 'size' }] } });
  });

  it('accepts booleans in every spelling in the query string', async () => {
    for (const value of ['true', 'TRUE', '1', 'false', 'False', '0']) {
      const answer = await service.client.get(PATH, {
        highlight: value,
        cache: value,
        reranker: value,
        vector_search: value,
      });
      expect(answer.status, value).toBe(200);
    }
  });

  it('refuses unknown and malformed versions', async () => {
    const at = (version: string) => service.client.get(`/search/default/birds/${version}`);
    const latest = await at('latest');
    expect(latest).toMatchObject({ status: 400, body: { errors: [{ parameter: 'version' }] } });
    expect(latest.text).toContain('groups only');
    for (const version of ['-1', '1.0', 'x', '01', '1e0']) expect((await at(version)).status, version).toBe(400);
    for (const version of ['0', '2', '999999999', '9'.repeat(20), '9'.repeat(400)]) {
      expect(await at(version), version).toMatchObject({ status: 404, body: { code: 'version-not-found' } });
    }
    expect(await service.client.get('/search/default/missing/1')).toMatchObject({
      status: 404,
      body: { code: 'list-not-found' },
    });
  });
});

describe('the limit on searches per minute', () => {
  it('is shared by the API keys of an account and says when to retry', async () => {
    const limited = await startTestService({ env: { GANNET_SEARCH_RATE_PER_MINUTE: '5' } });
    try {
      await limited.client.post('/list/default', { name: 'birds' });
      await limited.client.post('/list-group/default', { name: 'all', lists: [{ list: 'birds' }] });
      const other = await limited.clientFor({});
      const beganMs = performance.now();
      const answers = [
        await limited.client.get(PATH),
        await limited.client.post(PATH, {}),
        await limited.client.get('/search/group/default/all/latest'),
        await other.get(PATH),
        await other.get(PATH),
        await other.get(PATH),
        await limited.client.post('/search/group/default/all/latest', {}),
      ];
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429, 429]);
      const seconds = Number(answers[5]?.headers['retry-after']);
      expect(seconds).toBeGreaterThanOrEqual(59 - (performance.now() - beganMs) / 1000);
      expect(seconds).toBeLessThanOrEqual(60);
      expect(answers[5]?.body).toMatchObject({ code: 'rate-limited', retry_after_seconds: seconds });
      expect((await other.get('/search-result/default/birds')).status).toBe(200);
    } finally {
      await limited.close();
    }
  });
});
