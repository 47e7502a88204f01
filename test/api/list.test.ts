import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { startTestService, type TestService } from '../support/service.js';

interface ListBody {
  readonly name: string;
  readonly fields_inferred: string;
  readonly facets: readonly { readonly name: string; readonly type: string; readonly cardinality: string }[];
  readonly searchable_fields: readonly { readonly name: string; readonly weight: number }[];
  readonly current_version: number;
  readonly versions: readonly { readonly version: number; readonly state: string; readonly record_count: number }[];
  readonly record_count: number;
  readonly modified_utc: string;
}

const FILMS = {
  searchable_fields: [{ name: 'title', weight: 2 }, { name: 'plot' }],
  facets: [{ name: 'year', type: 'number' }],
};

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

async function read(name: string): Promise<ListBody> {
  return (await service.client.get(`/list/default/${name}`)).body as ListBody;
}

describe('POST /list/{account}', () => {
  it('creates a list with default settings', async () => {
    const { status, body } = await service.client.post('/list/default', { name: 'films', ...FILMS });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      name: 'films',
      account: 'default',
      engine: 'managed',
      language: 'en',
      searchable_fields: [
        { name: 'title', weight: 2 },
        { name: 'plot', weight: 1 },
      ],
      facets: [{ name: 'year', type: 'number', cardinality: 'Single' }],
      resources: [],
      location_field: null,
      fields_inferred: 'no',
      query_rules: [],
      synonym_rules: [],
      model: null,
      reranker: null,
      suggestions: { require_click: false },
      current_version: 1,
      record_count: 0,
      versions: [{ version: 1, state: 'ready', record_count: 0 }],
    });
    expect((await service.client.get('/list/default/films')).body).toEqual(body);
  });

  it('refuses a name that exists, also for simultaneous requests', async () => {
    expect(await service.client.post('/list/default', { name: 'films' })).toMatchObject({
      status: 409,
      body: { code: 'name-exists' },
    });
    const make = () => service.client.post('/list/default', { name: 'twice' });
    const statuses = (await Promise.all([make(), make(), make()])).map(({ status }) => status);
    expect(statuses.sort()).toEqual([201, 409, 409]);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['a bad name', { name: 'Films!' }, '/name'],
    ['no name', { name: undefined }, '/name'],
    ['an unknown member', { searchable_feilds: [] }, '/searchable_feilds'],
    ['an unknown facet type', { facets: [{ name: 'a', type: 'strin' }] }, '/facets/0/type'],
    ['a facet without a type', { facets: [{ name: 'a' }] }, '/facets/0/type'],
    [
      'a field twice',
      {
        facets: [
          { name: 'a', type: 'string' },
          { name: 'a', type: 'string' },
        ],
      },
      '/facets/1/name',
    ],
    ['a weight of nothing', { searchable_fields: [{ name: 'a', weight: 0 }] }, '/searchable_fields/0/weight'],
    ['too much weight', { searchable_fields: [{ name: 'a', weight: 101 }] }, '/searchable_fields/0/weight'],
    ['a field that starts with @', { searchable_fields: [{ name: '@text_score' }] }, '/searchable_fields/0/name'],
    ['a field with a comma', { facets: [{ name: 'a,b', type: 'string' }] }, '/facets/0/name'],
    ['a long field name', { facets: [{ name: 'a'.repeat(129), type: 'string' }] }, '/facets/0/name'],
    ['a synonym of nothing', { synonym_rules: [{ kind: 'equivalent', terms: ['a'] }] }, '/synonym_rules/0/terms'],
    ['a location that is a facet', { facets: [{ name: 'a', type: 'string' }], location_field: 'a' }, '/location_field'],
    ['a language that is none', { language: 'english' }, '/language'],
  ])('refuses %s', async (_what, members, pointer) => {
    const { status, body } = await service.client.post('/list/default', { name: 'refused', ...members });
    expect({ status, body }).toMatchObject({ status: 400, body: { errors: [{ pointer }] } });
  });

  it('suggests the member that was probably meant', async () => {
    const { text } = await service.client.post('/list/default', { name: 'x', searchable_feilds: [] });
    expect(text).toContain('searchable_fields');
  });

  it('refuses unknown engines, models and rerankers', async () => {
    for (const member of ['engine', 'model', 'reranker']) {
      expect((await service.client.post('/list/default', { name: 'x', [member]: 'other' })).status).toBe(422);
    }
  });
});

describe('a list created without fields', () => {
  it('infers its fields from the first records and says so', async () => {
    const created = await service.client.post('/list/default', { name: 'inferred' });
    expect((created.body as ListBody).fields_inferred).toBe('pending');
    await service.client.bulk('default', 'inferred', [
      {
        name: 'a',
        title: 'A long enough text to be searched and not filtered by anyone at all',
        pages: 12,
        kind: 'novel',
      },
      { name: 'b', title: 'Another long text that nobody else has, about birds that dive', pages: 30, kind: 'novel' },
    ]);
    const list = await read('inferred');
    expect(list.fields_inferred).toBe('yes');
    expect(list.searchable_fields.map(({ name }) => name)).toContain('title');
    expect(list.facets).toContainEqual({ name: 'pages', type: 'number', cardinality: 'Single' });
    expect(list.record_count).toBe(2);
  });

  it('can be changed like others, whatever the members of its records are called', async () => {
    const { client } = service;
    const status = async (answer: ReturnType<typeof client.get>) => (await answer).status;
    await client.post('/list/default', { name: 'odd' });
    const odd = ['Price, EUR', "author's name", '@type', ' lead'];
    const records = [1, 2, 3].map((number) => ({
      name: `r${number}`,
      ...Object.fromEntries(odd.map((name) => [name, number])),
    }));
    await client.bulk('default', 'odd', records);
    const list = await read('odd');
    expect(list.facets.map(({ name }) => name)).toEqual(odd);
    expect(await status(client.put('/list/default/odd', list))).toBe(200);
    const more = [...list.facets, { name: 'a, b', type: 'string' }];
    expect(await client.put('/list/default/odd', { facets: more })).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/facets/4/name' }] },
    });
    expect(await status(client.delete(`/facet/default/odd/${encodeURIComponent('Price, EUR')}`))).toBe(204);
    expect((await read('odd')).facets).toEqual(list.facets.slice(1));
    for (const fields of [{ facets: more }, { location_field: '@place' }])
      expect(await status(client.post('/list/default', { name: 'odder', ...fields }))).toBe(400);
  });
});

describe('PUT /list/{account}/{list}', () => {
  it('builds a new version only if fields change', async () => {
    await service.client.post('/list/default', { name: 'versions', ...FILMS });
    const records = Array.from({ length: 100 }, (_, n) => ({
      name: `r${n}`,
      title: `title ${n}`,
      year: 1900 + n,
      genre: `g${n % 3}`,
    }));
    await service.client.bulk('default', 'versions', records);

    const same = (await service.client.put('/list/default/versions', FILMS)).body as ListBody;
    expect(same.versions).toHaveLength(1);

    const facets = [...FILMS.facets, { name: 'genre', type: 'string' }];
    const changed = await service.client.put('/list/default/versions', { facets });
    expect(changed.status).toBe(200);
    expect((changed.body as ListBody).versions.map(({ version }) => version)).toContain(2);
    expect((changed.body as ListBody).facets).toHaveLength(2);

    const ready = await eventually(
      () => read('versions'),
      (list) => list.current_version === 2,
    );
    expect(ready.versions).toMatchObject([
      { version: 1, state: 'ready', record_count: 100 },
      { version: 2, state: 'ready', record_count: 100 },
    ]);
    const query = { query: 'title', filter: "genre = 'g1'", size: 0 };
    expect((await service.client.post('/search/default/versions/2', query)).body).toMatchObject({ total_count: 33 });
    expect((await service.client.post('/search/default/versions/1', query)).status).toBe(400);
    expect((await service.client.post('/search/default/versions/1', { query: 'title' })).body).toMatchObject({
      total_count: 100,
    });
  });

  it('keeps the two newest earlier versions', async () => {
    await service.client.post('/list/default', { name: 'frozen', ...FILMS });
    for (let version = 2; version <= 5; version++) {
      await service.client.put('/list/default/frozen', { facets: [{ name: `f${version}`, type: 'string' }] });
      await eventually(
        () => read('frozen'),
        (list) => list.current_version === version,
      );
    }
    const versions = await eventually(
      () => read('frozen'),
      (list) => list.versions.length <= 3,
    );
    expect(versions.versions.map(({ version }) => version)).toEqual([3, 4, 5]);
    // A search of a group tells the same of one of its lists.
    expect(await service.client.get('/search/default/frozen/2')).toMatchObject({
      status: 404,
      body: {
        code: 'version-not-found',
        detail: "The list 'frozen' has no version 2; its current version is 5.",
      },
    });
  });

  it('changes settings without a new version, and accepts the answer of GET unchanged', async () => {
    await service.client.post('/list/default', { name: 'settings', ...FILMS });
    const settings = { suggestions: { require_click: true } };
    const changed = await service.client.put('/list/default/settings', settings);
    expect(changed.body).toMatchObject({ ...settings, current_version: 1, versions: [{ version: 1 }] });
    const list = await read('settings');
    const again = await service.client.put('/list/default/settings', list);
    expect(again.status).toBe(200);
    expect(again.body).toEqual({ ...list, modified_utc: (again.body as ListBody).modified_utc });
  });

  it('builds a new version for another language, as stems are part of the index', async () => {
    await service.client.post('/list/default', { name: 'sprache', searchable_fields: [{ name: 'text' }] });
    await service.client.post('/search-result/default/sprache', { name: 'a', text: 'Die Häuser am Fluss' });
    expect((await service.client.put('/list/default/sprache', { language: 'de' })).status).toBe(200);
    await eventually(
      () => read('sprache'),
      ({ current_version }) => current_version === 2,
    );
    const found = await service.client.get('/search/default/sprache/2?query=haus&typo_tolerance=false');
    expect(found.body).toMatchObject({ total_count: 1 });
  });

  it('refuses a renaming, and what POST refuses', async () => {
    expect((await service.client.put('/list/default/films', { name: 'other' })).status).toBe(400);
    expect((await service.client.put('/list/default/films', { facets: 'year' })).status).toBe(400);
    expect((await service.client.put('/list/default/films', { colour: 'red' })).status).toBe(400);
    expect((await service.client.put('/list/default/missing', {})).status).toBe(404);
  });
});

describe('GET /list/{account}', () => {
  it('returns lists in the order of their names', async () => {
    const { lists } = (await service.client.get('/list/default')).body as { lists: ListBody[] };
    const names = lists.map(({ name }) => name);
    expect(names).toEqual([...names].sort());
    expect(names).toContain('films');
  });
});

describe('POST /list/{account}/{list}/clone', () => {
  it('copies records and fields, and later changes of one list do not affect the other', async () => {
    await service.client.post('/list/default', { name: 'source', ...FILMS, language: 'fr' });
    await service.client.bulk('default', 'source', [
      { name: 'a', title: 'gannet' },
      { name: 'b', title: 'puffin' },
    ]);
    const cloned = await service.client.post('/list/default/source/clone', { name: 'copy' });
    expect(cloned).toMatchObject({ status: 201, body: { name: 'copy', language: 'fr', record_count: 2 } });
    await service.client.post('/search-result/default/copy', { name: 'c', title: 'gannet' });
    expect((await service.client.get('/search/default/copy/1', { query: 'gannet' })).body).toMatchObject({
      total_count: 2,
    });
    expect((await service.client.get('/search/default/source/1', { query: 'gannet' })).body).toMatchObject({
      total_count: 1,
    });
    await service.client.delete('/list/default/source');
    expect((await service.client.get('/search/default/copy/1', { query: 'puffin' })).body).toMatchObject({
      total_count: 1,
    });
  });

  it('refuses a name that exists and a source that does not', async () => {
    expect((await service.client.post('/list/default/films/clone', { name: 'films' })).status).toBe(409);
    expect((await service.client.post('/list/default/missing/clone', { name: 'x' })).status).toBe(404);
  });
});

describe('DELETE /list/{account}/{list}', () => {
  it('deletes the list and its API keys, and removes it from groups', async () => {
    await service.client.post('/list/default', { name: 'gone' });
    await service.client.post('/list-group/default', { name: 'both', lists: [{ list: 'films' }, { list: 'gone' }] });
    const client = await service.clientFor({ scope: 'list', scope_target: 'gone' });
    expect((await service.client.delete('/list/default/gone')).status).toBe(204);
    expect(await service.client.get('/list/default/gone')).toMatchObject({
      status: 404,
      body: { code: 'list-not-found' },
    });
    expect((await service.client.delete('/list/default/gone')).status).toBe(404);
    expect((await client.get('/account')).status).toBe(401);
    expect((await service.client.get('/list-group/default/both')).body).toMatchObject({
      current_version: 2,
      lists: [{ list: 'films' }],
    });
    expect((await service.client.post('/list/default', { name: 'gone' })).body).toMatchObject({ record_count: 0 });
  });
});
