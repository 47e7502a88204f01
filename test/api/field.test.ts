import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { startTestService, type TestService } from '../support/service.js';

interface ListBody {
  readonly current_version: number;
  readonly versions: readonly { readonly state: string }[];
  readonly facets: readonly { readonly name: string }[];
  readonly searchable_fields: readonly { readonly name: string }[];
}

let service: TestService;
let listNumber = 0;
let list = '';
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());
beforeEach(async () => {
  list = `films-${++listNumber}`;
  await service.client.post('/list/default', {
    name: list,
    searchable_fields: [{ name: 'title' }, { name: 'genre' }],
    facets: [{ name: 'genre', type: 'string' }],
  });
  await service.client.post(`/search-result/default/${list}`, {
    name: 'a',
    title: 'gannet',
    genre: 'drama',
    year: 1983,
  });
});

function settled(): Promise<ListBody> {
  return eventually(
    async () => (await service.client.get(`/list/default/${list}`)).body as ListBody,
    (body) => body.versions.every(({ state }) => state === 'ready'),
  );
}

async function count(filter: string): Promise<unknown> {
  const { current_version } = await settled();
  const { body } = await service.client.post(`/search/default/${list}/${current_version}`, { filter, size: 0 });
  return (body as { total_count?: number }).total_count;
}

describe.each([
  [
    'facet',
    'facets',
    { name: 'year', type: 'number' },
    { name: 'year', type: 'number', cardinality: 'Single' },
    { cardinality: 'Many' },
  ],
  ['searchable-field', 'searchable_fields', { name: 'plot' }, { name: 'plot', weight: 1 }, { weight: 3 }],
  ['resource', 'resources', { name: 'poster', kind: 'image' }, { name: 'poster', kind: 'image' }, { kind: 'video' }],
])('/%s/{account}/{list}', (resource, member, input, added, change) => {
  it('adds, reads, changes, renames and removes a field', async () => {
    const path = `/${resource}/default/${list}`;
    expect(await service.client.post(path, input)).toMatchObject({ status: 201, body: added });
    expect(await service.client.post(path, input)).toMatchObject({ status: 409, body: { code: 'name-exists' } });
    const fields = (await service.client.get(path)).body as Record<string, unknown[]>;
    expect(fields[member]).toContainEqual(added);

    const changed = { ...added, ...change };
    expect(await service.client.put(`${path}/${added.name}`, change)).toMatchObject({ status: 200, body: changed });
    const renamed = { ...changed, name: 'other name' };
    expect(await service.client.put(`${path}/${added.name}`, { name: 'other name' })).toMatchObject({
      status: 200,
      body: renamed,
    });
    expect((await service.client.put(`${path}/${added.name}`, change)).status).toBe(404);
    expect((await service.client.delete(`${path}/other%20name`)).status).toBe(204);
    expect(await service.client.delete(`${path}/other%20name`)).toMatchObject({
      status: 404,
      body: { code: 'field-not-found' },
    });
    await settled();
  });

  it('refuses bodies that describe no field', async () => {
    const path = `/${resource}/default/${list}`;
    for (const body of [
      {},
      { ...input, name: '@x' },
      { ...input, name: '__proto__' },
      { ...input, name: 1 },
      { ...input, colour: 'red' },
      [],
    ]) {
      expect((await service.client.post(path, body)).status, JSON.stringify(body)).toBe(400);
    }
  });
});

describe('fields of a list', () => {
  it('that are added by two callers at once are both there', async () => {
    const add = (name: string) => service.client.post(`/facet/default/${list}`, { name, type: 'number' });
    const statuses = (await Promise.all(['a', 'b', 'c'].map(add))).map(({ status }) => status);
    expect(statuses).toEqual([201, 201, 201]);
    const { facets } = await settled();
    expect(facets.map(({ name }) => name).sort()).toEqual(['a', 'b', 'c', 'genre']);
  });

  it('can be filtered by as soon as their version is built', async () => {
    await service.client.post(`/facet/default/${list}`, { name: 'year', type: 'number' });
    expect(await count('year = 1983')).toBe(1);
  });

  it('keep their values in every role after a renaming', async () => {
    await service.client.put(`/facet/default/${list}/genre`, { name: 'kind' });
    const { facets, searchable_fields } = await settled();
    expect(facets.map(({ name }) => name)).toEqual(['kind']);
    expect(searchable_fields.map(({ name }) => name)).toEqual(['title', 'kind']);
    expect(await count("kind = 'drama'")).toBe(1);
    const { results } = (await service.client.get(`/search-result/default/${list}`)).body as {
      results: { fields: unknown }[];
    };
    expect(results[0]?.fields).toMatchObject({ kind: ['drama'] });
  });

  it('are renamed in query rules as soon as the renaming is answered', async () => {
    const rule = (facet: string) => ({
      query_rules: [{ name: 'dramas', pattern: 'dramas', filter: `${facet} = 'drama'` }],
    });
    const path = `/list/default/${list}`;
    expect((await service.client.put(path, rule('genre'))).status).toBe(200);
    await service.client.put(`/facet/default/${list}/genre`, { name: 'kind' });
    expect((await service.client.put(path, rule('kind'))).status).toBe(200);
    const { current_version } = await settled();
    const { body } = await service.client.post(`/search/default/${list}/${current_version}`, { query: 'dramas' });
    expect(body).toMatchObject({ total_count: 1, applied: { query_rules: ['dramas'] } });
  });

  it('cannot take the name of another field', async () => {
    const answer = await service.client.put(`/facet/default/${list}/genre`, { name: 'title' });
    expect(answer).toMatchObject({ status: 409, body: { code: 'name-exists' } });
  });

  it("cannot be renamed to `name`, the field of the records' names, nor can that be renamed", async () => {
    await service.client.post(`/searchable-field/default/${list}`, { name: 'name' });
    for (const [path, name] of [
      [`/facet/default/${list}/genre`, 'name'],
      [`/searchable-field/default/${list}/title`, 'name'],
      [`/searchable-field/default/${list}/name`, 'called'],
    ] as const) {
      expect(await service.client.put(path, { name })).toMatchObject({
        status: 400,
        body: { detail: expect.stringContaining('names of the records') as string, errors: [{ pointer: '/name' }] },
      });
    }
    expect(await service.client.post(`/facet/default/${list}`, { name: 'name', type: 'string' })).toMatchObject({
      status: 400,
      body: { errors: [{ detail: expect.stringContaining('cannot be a facet') as string }] },
    });
  });

  it('are still searched by the stems of the language after one of them was renamed', async () => {
    await service.client.put(`/facet/default/${list}/genre`, { name: 'kind' });
    const { current_version } = await settled();
    const { body } = await service.client.post(`/search/default/${list}/${current_version}`, {
      query: 'gannets',
      typo_tolerance: false,
    });
    expect(body).toMatchObject({ total_count: 1 });
  });

  it('keep their values through several renamings, each of which interrupts the build of the one before', async () => {
    const lines = Array.from({ length: 30_000 }, (_, n) =>
      JSON.stringify({ name: `r${n}`, title: `bird ${n}`, genre: 'x' }),
    );
    await service.client.bulk('default', list, lines.join('\n'));
    await Promise.all([
      service.client.put(`/facet/default/${list}/genre`, { name: 'kind' }),
      service.client.put(`/searchable-field/default/${list}/title`, { name: 'heading' }),
      service.client.post(`/facet/default/${list}`, { name: 'year', type: 'number' }),
      service.client.put(`/searchable-field/default/${list}/heading`, { name: 'headline' }),
    ]);
    expect(await count("kind = 'x' and kind != null")).toBe(30_000);
    const { results } = (await service.client.get(`/search-result/default/${list}?size=1`)).body as {
      results: { fields: unknown }[];
    };
    expect(results[0]?.fields).toEqual({ headline: 'gannet', kind: ['drama'], year: [1983] });
  });
});
