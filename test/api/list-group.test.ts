import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { startTestService, type TestService } from '../support/service.js';

interface SearchBody {
  readonly total_count: number;
  readonly group_name: string;
  readonly version: number;
  readonly results: readonly { readonly name: string; readonly list_name: string }[];
}

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  for (const name of ['films', 'books', 'games']) {
    await service.client.post('/list/default', { name, searchable_fields: [{ name: 'title' }] });
    await service.client.post(`/search-result/default/${name}`, { name: `${name}-1`, title: 'the gannet dives' });
  }
});
afterAll(() => service.close());

async function search(group: string, version: string | number): Promise<SearchBody> {
  return (await service.client.get(`/search/group/default/${group}/${version}`, { query: 'gannet' }))
    .body as SearchBody;
}

describe('/list-group', () => {
  it('creates, reads, lists and deletes groups', async () => {
    const created = await service.client.post('/list-group/default', {
      name: 'media',
      lists: [{ list: 'films' }, { list: 'books', version: 1 }],
    });
    expect(created).toMatchObject({
      status: 201,
      body: {
        name: 'media',
        account: 'default',
        lists: [{ list: 'films' }, { list: 'books', version: 1 }],
        current_version: 1,
        reranker: null,
        versions: [
          {
            version: 1,
            lists: [
              { list: 'films', version: 1 },
              { list: 'books', version: 1 },
            ],
          },
        ],
      },
    });
    expect((await service.client.get('/list-group/default/media')).body).toEqual(created.body);
    expect((await service.client.get('/list-group/default')).body).toEqual({ groups: [created.body] });
    expect((await service.client.post('/list-group/default', { name: 'media' })).status).toBe(409);
    const client = await service.clientFor({ scope: 'group', scope_target: 'media' });
    expect((await service.client.delete('/list-group/default/media')).status).toBe(204);
    expect(await service.client.get('/list-group/default/media')).toMatchObject({
      status: 404,
      body: { code: 'group-not-found' },
    });
    expect((await client.get('/account')).status).toBe(401);
  });

  it.each<[string, unknown, number]>([
    ['a list that is missing', [{ list: 'missing' }], 404],
    ['a version that is missing', [{ list: 'films', version: 9 }], 404],
    ['a list twice', [{ list: 'films' }, { list: 'films', version: 1 }], 400],
    ['names instead of objects', ['films'], 400],
    ['an unknown member', [{ list: 'films', versoin: 1 }], 400],
    ['a version of 0', [{ list: 'films', version: 0 }], 400],
  ])('refuses %s', async (_what, lists, status) => {
    expect((await service.client.post('/list-group/default', { name: 'refused', lists })).status).toBe(status);
  });

  it('creates a new version only if the members change', async () => {
    await service.client.post('/list-group/default', { name: 'changing', lists: [{ list: 'films' }] });
    const put = (body: unknown) => service.client.put('/list-group/default/changing', body);
    expect((await put({ lists: [{ list: 'films' }] })).body).toMatchObject({ current_version: 1 });
    const changed = await put({ lists: [{ list: 'films' }, { list: 'books' }] });
    expect(changed.body).toMatchObject({ current_version: 2, versions: [{ version: 1 }, { version: 2 }] });
    expect((await put(changed.body)).body).toMatchObject({ current_version: 2 });
    expect((await search('changing', 'latest')).total_count).toBe(2);
    expect((await search('changing', 1)).total_count).toBe(1);
    expect((await put({ name: 'other' })).status).toBe(400);
    expect((await put({ reranker: 'big' })).status).toBe(422);
    expect((await service.client.put('/list-group/default/missing', {})).status).toBe(404);
  });
});

describe('a search of a group', () => {
  it('searches all its lists as one, and names the list of each hit', async () => {
    await service.client.post('/list-group/default', {
      name: 'all',
      lists: [{ list: 'films' }, { list: 'books' }, { list: 'games' }],
    });
    const body = await search('all', 'latest');
    expect(body).toMatchObject({ group_name: 'all', version: 1, total_count: 3 });
    expect(body.results.map(({ list_name }) => list_name).sort()).toEqual(['books', 'films', 'games']);
    expect(body).not.toHaveProperty('list_name');
    const { body: posted } = await service.client.post('/search/group/default/all/1', {
      query: 'gannet',
      size: 1,
      skip: 2,
    });
    expect(posted).toMatchObject({ total_count: 3, results: [{ list_name: expect.any(String) as string }] });
  });

  it("uses the lists' versions of that time with a number, and the current ones with latest", async () => {
    await service.client.post('/list/default', { name: 'moving', searchable_fields: [{ name: 'title' }] });
    await service.client.post('/search-result/default/moving', { name: 'old', title: 'gannet' });
    await service.client.post('/list-group/default', { name: 'pinned', lists: [{ list: 'moving' }] });
    await service.client.post('/facet/default/moving', { name: 'year', type: 'number' });
    await eventually(
      async () => (await service.client.get('/list/default/moving')).body as { current_version: number },
      (list) => list.current_version === 2,
    );
    await service.client.post('/search-result/default/moving', { name: 'new', title: 'gannet' });
    expect((await search('pinned', 'latest')).total_count).toBe(2);
    expect((await search('pinned', 1)).total_count).toBe(1);
  });

  it('has no hits in an empty group', async () => {
    await service.client.post('/list-group/default', { name: 'empty' });
    expect(await search('empty', 'latest')).toMatchObject({ total_count: 0, results: [] });
  });

  it('refuses unknown versions and groups', async () => {
    expect(await service.client.get('/search/group/default/all/9')).toMatchObject({
      status: 404,
      body: { code: 'version-not-found' },
    });
    expect((await service.client.get('/search/group/default/all/newest')).status).toBe(400);
    expect(await service.client.get('/search/group/default/missing/latest')).toMatchObject({
      status: 404,
      body: { code: 'group-not-found' },
    });
  });
});

describe('an API key of a group', () => {
  it("reaches the group's lists and nothing else, and cannot add lists", async () => {
    await service.client.post('/list-group/default', { name: 'mine', lists: [{ list: 'films' }] });
    const client = await service.clientFor({ access: 'full', scope: 'group', scope_target: 'mine' });
    expect((await client.get('/search/group/default/mine/latest')).status).toBe(200);
    expect((await client.get('/search/default/films/1')).status).toBe(200);
    for (const path of [
      '/search/default/books/1',
      '/search/default/missing/1',
      '/list/default',
      '/list-group/default/all',
      '/list-group/default/missing',
    ]) {
      expect(await client.get(path), path).toMatchObject({ status: 403, body: { code: 'out-of-scope' } });
    }
    const widened = await client.put('/list-group/default/mine', { lists: [{ list: 'films' }, { list: 'books' }] });
    expect(widened).toMatchObject({ status: 403, body: { code: 'wider-than-caller' } });
    expect((await client.put('/list-group/default/mine', { lists: [] })).status).toBe(200);
    expect((await client.get('/search/default/films/1')).status).toBe(403);
  });
});
