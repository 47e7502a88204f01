import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.js';

interface RecordBody {
  readonly id: string;
  readonly name: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly as_of: string;
  readonly created_utc: string;
  readonly modified_utc: string;
}

const PATH = '/search-result/default/films';
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const MISSING_ID = '01900000-0000-7000-8000-000000000000';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  await service.client.post('/list/default', {
    name: 'films',
    searchable_fields: [{ name: 'title' }, { name: 'tags' }],
    facets: [
      { name: 'year', type: 'number' },
      { name: 'genre', type: 'string', cardinality: 'Many' },
      { name: 'seen', type: 'boolean' },
      { name: 'premiere', type: 'date' },
    ],
    resources: [{ name: 'poster', kind: 'image' }],
    location_field: 'cinema',
  });
});
afterAll(() => service.close());

async function put(body: unknown): Promise<RecordBody> {
  return (await service.client.post(PATH, body)).body as RecordBody;
}

/** Reads, replaces, changes and deletes a record by this id, and returns the answers. */
async function asked(id: string, client = service.client) {
  const path = `${PATH}/${id}`;
  const [replaced, changed] = [await client.put(path, { title: 'y' }), await client.patch(path, { title: 'y' })];
  return [await client.get(path), replaced, changed, await client.delete(path)];
}

async function count(options: Record<string, unknown>): Promise<number> {
  const { body } = await service.client.post('/search/default/films/1', { size: 0, ...options });
  return (body as { total_count: number }).total_count;
}

describe('half of a surrogate pair, as of a text that was cut in an emoji', () => {
  it('becomes U+FFFD in values, so that every JSON parser takes the answers', async () => {
    const cut = { title: 'cut \ud83d', genre: ['\udc00drama'], note: '\ud83d' };
    const whole = { title: 'cut \ufffd', genre: ['\ufffddrama'], note: '\ufffd' };
    const one = await put({ name: 'cut-1', fields: cut });
    const changed = await service.client.patch(`${PATH}/${one.id}`, { fields: { note: 'x\ud800' } });
    const line = JSON.stringify({ name: 'cut-2', fields: cut });
    const bulk = await service.client.send('POST', `${PATH}/bulk`, {
      bytes: line,
      headers: { 'Content-Type': 'application/x-ndjson' },
    });
    expect(line).toContain('\\ud83d');
    expect([changed.status, bulk.body]).toMatchObject([200, { created: 1, failed: 0 }]);
    const found = await service.client.post('/search/default/films/1', { query: 'cut \ud83d' });
    expect(found.text).not.toMatch(/\\ud[89a-f]/i);
    const { results } = found.body as { results: { id: string; name: string; fields: object; highlights: object }[] };
    expect(Object.fromEntries(results.map(({ name, fields }) => [name, fields]))).toEqual({
      'cut-1': { ...whole, note: 'x\ufffd' },
      'cut-2': whole,
    });
    expect(results[0]?.highlights).toEqual({ title: '<em>cut</em> \ufffd' });
    for (const { id } of results) await service.client.delete(`${PATH}/${id}`);
  });
});

describe('POST /search-result/{account}/{list}', () => {
  it('adds a record that the next search finds', async () => {
    const { status, body } = await service.client.post(PATH, {
      name: 'film-1',
      fields: {
        title: 'The Gannet',
        year: 1983,
        genre: ['drama', 'nature'],
        seen: false,
        premiere: '1983-05-01',
        poster: 'https://example.com/a.jpg',
        cinema: { latitude: 51.5, longitude: -0.12 },
        tags: ['sea', 'birds'],
        notes: 'in no definition',
        nothing: null,
      },
    });
    expect(status).toBe(201);
    const record = body as RecordBody;
    expect(record.id).toMatch(UUID_V7);
    expect(record.fields).toEqual({
      title: 'The Gannet',
      year: [1983],
      genre: ['drama', 'nature'],
      seen: [false],
      premiere: ['1983-05-01'],
      poster: 'https://example.com/a.jpg',
      cinema: { latitude: 51.5, longitude: -0.12 },
      tags: ['sea', 'birds'],
      notes: 'in no definition',
    });
    expect(await count({ query: 'gannet' })).toBe(1);
    expect(await count({ filter: "genre = 'nature' and year < 1990 and seen = false" })).toBe(1);
  });

  it('replaces a record of the same name and keeps its id', async () => {
    const first = await service.client.post(PATH, { name: 'twice', title: 'puffin' });
    const second = await service.client.post(PATH, { name: 'twice', title: 'cormorant' });
    expect([first.status, second.status]).toEqual([201, 200]);
    const [before, after] = [first.body as RecordBody, second.body as RecordBody];
    expect(after.id).toBe(before.id);
    expect(after.created_utc).toBe(before.created_utc);
    expect(await count({ query: 'puffin', typo_tolerance: false })).toBe(0);
    expect(await count({ query: 'cormorant' })).toBe(1);
  });

  it('accepts flat records, in which id is a field, and gives a record without a name one', async () => {
    const record = await put({ id: 7, title: 'flat' });
    expect(record.fields).toEqual({ id: 7, title: 'flat' });
    expect(record.id).toMatch(UUID_V7);
    expect(record.name).toBe(record.id);
  });

  it('keeps a given as_of', async () => {
    expect((await put({ name: 'dated', fields: {}, as_of: '2020-02-03' })).as_of).toBe('2020-02-03T00:00:00.000Z');
  });

  it.each<[string, unknown, string]>([
    ['an array', [], ''],
    ['a name that is a number', { name: 7 }, '/name'],
    ['an empty name', { name: '' }, '/name'],
    ['a long name', { name: 'x'.repeat(513) }, '/name'],
    ['a facet of the wrong type', { name: 'x', fields: { year: '1983' } }, '/fields/year'],
    ['two values in a Single facet', { name: 'x', year: [1, 2] }, '/fields/year'],
    ['a date that does not exist', { name: 'x', premiere: '2021-02-30' }, '/fields/premiere'],
    ['an object in a text field', { name: 'x', title: { en: 'x' } }, '/fields/title'],
    ['a place off the Earth', { name: 'x', cinema: { latitude: 91, longitude: 0 } }, '/fields/cinema'],
    ['a resource that is no URL', { name: 'x', poster: 'a.jpg' }, '/fields/poster'],
  ])('refuses %s and points at it', async (_what, body, pointer) => {
    const answer = await service.client.post(PATH, body);
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer }] } });
  });

  it('accepts a name of 512 characters, whatever they are', async () => {
    const name = '🐦'.repeat(512);
    expect((await put({ name, title: 'x' })).name).toBe(name);
    expect((await service.client.post(PATH, { name: `${name}x`, title: 'x' })).status).toBe(400);
  });
});

describe('/search-result/{account}/{list}/{id}', () => {
  it('accepts a record as it was read, and refuses it under another id', async () => {
    const { id } = await put({ name: 'there-and-back', title: 'gannet', year: 1983, premiere: '1983-05-01' });
    const read = (await service.client.get(`${PATH}/${id}`)).body as RecordBody;
    const changed = { ...read, fields: { ...read.fields, title: 'puffin' } };
    const { modified_utc: _modified, ...same } = changed;
    for (const method of ['put', 'patch'] as const) {
      expect(await service.client[method](`${PATH}/${id}`, changed)).toMatchObject({ status: 200, body: same });
    }
    expect(await service.client.post(PATH, changed)).toMatchObject({ status: 200, body: same });
    const bulk = await service.client.post(`${PATH}/bulk`, [changed]);
    expect(bulk.body).toMatchObject({ created: 0, updated: 1, failed: 0 });
    expect(await service.client.put(`${PATH}/${id}`, { ...changed, id: MISSING_ID })).toMatchObject({
      status: 400,
      body: { code: 'invalid-record', errors: [{ pointer: '/id' }] },
    });
  });

  it('refuses a record under the id of another, and an id without its name', async () => {
    const { id } = await put({ name: 'there-once', title: 'dunlin' });
    const { id: otherId } = await put({ name: 'there-too', title: 'dunlin' });
    const read = (await service.client.get(`${PATH}/${id}`)).body as RecordBody;
    const { name: _name, ...nameless } = read;
    const refused: [unknown, number, string][] = [
      [{ ...read, name: 'there-renamed' }, 409, "called 'there-once'"],
      [{ ...read, name: 'there-too' }, 409, 'another id'],
      [{ ...read, id: MISSING_ID }, 409, 'another id'],
      [nameless, 400, 'its name too'],
      [{ id: 'c1a3d6f2-5b1e-4b7a-9d0e-3f2a1b4c5d6e', fields: { title: 'dunlin' } }, 400, 'made by the service'],
    ];
    for (const [record, status, sentence] of refused) {
      const answer = await service.client.post(PATH, record);
      expect(answer).toMatchObject({ status, body: { errors: [{ pointer: '/id' }] } });
      expect(answer.text).toContain(sentence);
      const { body } = await service.client.post(`${PATH}/bulk`, [record]);
      const error = { detail: expect.stringContaining(sentence) as string };
      expect(body).toMatchObject({ created: 0, updated: 0, failed: 1, errors: [error] });
    }
    expect(await count({ query: 'dunlin' })).toBe(2);
    // A deleted record can be written again by its name, and a record without a name may get one from a field.
    await service.client.delete(`${PATH}/${otherId}`);
    const back = await service.client.post(PATH, { id: otherId, name: 'there-too', fields: { title: 'dunlin' } });
    expect(back.status).toBe(201);
    const named = { id, fields: { title: 'there-once' } };
    const query = { name_from: 'title' };
    const { body } = await service.client.send('POST', `${PATH}/bulk`, { json: [named], query });
    expect(body).toMatchObject({ created: 0, updated: 1 });
  });

  it('reads, replaces, patches and deletes a record', async () => {
    const { id, created_utc } = await put({ name: 'one', title: 'albatross', year: 2000, seen: true });
    const path = `${PATH}/${id}`;
    expect((await service.client.get(path)).body).toMatchObject({ id, name: 'one', fields: { year: [2000] } });

    const patched = await service.client.patch(path, { fields: { year: 2001, seen: null } });
    expect(patched).toMatchObject({
      status: 200,
      body: { id, name: 'one', fields: { title: 'albatross', year: [2001] }, created_utc },
    });
    expect((patched.body as RecordBody).fields).not.toHaveProperty('seen');
    expect(await count({ filter: 'year = 2000' })).toBe(0);
    expect(await count({ filter: 'year = 2001' })).toBe(1);

    const replaced = await service.client.put(path, { name: 'renamed', title: 'petrel' });
    expect(replaced).toMatchObject({ status: 200, body: { id, name: 'renamed', fields: { title: 'petrel' } } });
    expect((replaced.body as RecordBody).fields).toEqual({ title: 'petrel' });
    expect(await count({ query: 'albatross', typo_tolerance: false })).toBe(0);

    expect((await service.client.delete(path)).status).toBe(204);
    expect(await count({ query: 'petrel' })).toBe(0);
    for (const answer of [
      await service.client.get(path),
      await service.client.delete(path),
      await service.client.patch(path, { title: 'x' }),
      await service.client.put(path, { title: 'x' }),
    ]) {
      expect(answer).toMatchObject({ status: 404, body: { code: 'record-not-found' } });
    }
  });

  it('returns the fields that fit, names the others, and keeps them in a patch', async () => {
    const long = 'x'.repeat(5_000);
    const { id } = await put({ name: 'long', title: long, year: 2000 });
    const path = `${PATH}/${id}`;
    const short = { id, name: 'long', fields: { year: [2000] }, fields_left_out: ['title'] };
    expect((await service.client.get(`${path}?fields_bytes_max=1000`)).body).toMatchObject(short);
    const whole = (await service.client.get(`${path}?fields_bytes_max=10000`)).body as RecordBody;
    expect(whole).not.toHaveProperty('fields_left_out');
    expect(whole.fields).toEqual({ title: long, year: [2000] });
    const patched = (await service.client.patch(`${path}?fields_bytes_max=1000`, { fields: { year: 2001 } })).body;
    expect(patched).toMatchObject({ ...short, fields: { year: [2001] } });
    expect((patched as RecordBody).fields).not.toHaveProperty('title');
    expect((await service.client.get(path)).body).toMatchObject({ fields: { title: long, year: [2001] } });
    expect((await service.client.get(`${path}?fields_bytes_max=-1`)).status).toBe(400);
    expect((await service.client.delete(path)).status).toBe(204);
  });

  it('answers 404 to ids that no record has', async () => {
    for (const id of [MISSING_ID, 'x', '0', '%20', '%00', 'a%00b', '%2F', 'x'.repeat(512)]) {
      for (const answer of await asked(id)) {
        expect(answer, id).toMatchObject({ status: 404, body: { code: 'record-not-found' } });
      }
    }
    for (const id of ['', '%ff', '%ed%a0%80', '%', '%zz', 'x'.repeat(2_000)]) {
      for (const { status } of await asked(id)) expect([400, 404, 405], id).toContain(status);
    }
  });

  it('finds a record by its exact name', async () => {
    const { id } = await put({ name: 'Twins, "A" & B', fields: { title: 'Twins' } });
    await put({ name: 'TWINS, "A" & B', fields: { title: 'Twins' } });
    const named = async (name: string, more = {}) => (await service.client.get(PATH, { name, ...more })).body;
    expect(await named('Twins, "A" & B')).toMatchObject({ results: [{ id }] });
    expect(await named('Twins, "A" & B', { size: 0 })).toMatchObject({ results: [] });
    const none = await named('twins, "a" & b');
    expect(none).toMatchObject({ results: [] });
    expect(none).not.toHaveProperty('next');
    expect(await service.client.get(PATH, { name: 'x', after: '3' })).toMatchObject({
      status: 422,
      body: { detail: expect.stringContaining('leave out after and skip') as string },
    });
    expect(await service.client.delete(PATH, { filter: `name = 'twins, "a" & b'` })).toMatchObject({
      body: { deleted: 2 },
    });
  });

  it('names the id of a record if its name was given instead', async () => {
    for (const name of ['Northern gannet', 'x'.repeat(300)]) {
      const { id } = await put({ name, title: 'x' });
      for (const answer of await asked(encodeURIComponent(name))) {
        const detail = expect.stringContaining(`there is one with this name: its id is ${id}.`) as string;
        expect(answer).toMatchObject({ status: 404, body: { code: 'record-not-found', detail } });
      }
    }
  });

  it('gives no id to an API key that may write records but not read them', async () => {
    const { id } = await put({ name: 'unread', title: 'x' });
    const permissions = ['search-result:update', 'search-result:delete'];
    const { key } = await service.createKey({ access: 'custom', permissions });
    const [, ...written] = await asked('unread', service.clientWith(key));
    expect(written).toHaveLength(3);
    for (const answer of written) {
      expect(answer).toMatchObject({ status: 404, body: { code: 'record-not-found' } });
      expect(JSON.stringify(answer.body)).not.toContain(id);
    }
  });

  it('refuses the name of another record', async () => {
    await put({ name: 'taken', title: 'x' });
    const { id } = await put({ name: 'free', title: 'x' });
    expect(await service.client.put(`${PATH}/${id}`, { name: 'taken', title: 'x' })).toMatchObject({
      status: 409,
      body: { code: 'name-exists' },
    });
  });
});

describe('GET /search-result/{account}/{list}', () => {
  it('returns each record once over all pages', async () => {
    await service.client.post('/list/default', { name: 'pages' });
    await service.client.bulk(
      'default',
      'pages',
      Array.from({ length: 25 }, (_, n) => ({ name: `r${n}`, n })),
    );
    const names: string[] = [];
    for (let skip = 0; skip < 30; skip += 7) {
      const { body } = await service.client.get('/search-result/default/pages', { skip, size: 7 });
      const page = body as { total_count: number; results: RecordBody[] };
      expect(page.total_count).toBe(25);
      names.push(...page.results.map(({ name }) => name));
    }
    expect(names.sort()).toEqual(Array.from({ length: 25 }, (_, n) => `r${n}`).sort());
    expect((await service.client.get('/search-result/default/pages')).body).toMatchObject({ results: { length: 10 } });
    for (const query of [{ size: 1001 }, { size: -1 }, { skip: -1 }, { skip: 'x' }, { limit: 5 }]) {
      expect((await service.client.get('/search-result/default/pages', query as never)).status).toBe(400);
    }
    const beyond = await service.client.get('/search-result/default/pages', { skip: 10_000 });
    expect(beyond).toMatchObject({ status: 200, body: { total_count: 25, results: [] } });
    expect(await service.client.get('/search-result/default/pages', { skip: 10_001 })).toMatchObject({
      status: 422,
      body: { code: 'unprocessable', detail: expect.stringContaining('after') as string },
    });
  });
});

describe('DELETE /search-result/{account}/{list}?filter=', () => {
  it('deletes the records that match the filter, and nothing without a filter', async () => {
    await service.client.post('/list/default', {
      name: 'purge',
      facets: [{ name: 'n', type: 'number' }],
      searchable_fields: [{ name: 't' }],
    });
    await service.client.bulk(
      'default',
      'purge',
      Array.from({ length: 100 }, (_, n) => ({ name: `r${n}`, n, t: 'gannet' })),
    );
    const path = '/search-result/default/purge';
    expect((await service.client.delete(path)).status).toBe(400);
    expect((await service.client.delete(path, { filter: '' })).status).toBe(400);
    expect((await service.client.delete(path, { filter: ' ' })).status).toBe(400);
    expect(await service.client.delete(path, { filter: 'm < 3' })).toMatchObject({
      status: 400,
      body: { code: 'invalid-filter' },
    });
    expect(await service.client.delete(path, { filter: 'n < 40' })).toMatchObject({
      status: 200,
      body: { deleted: 40 },
    });
    expect((await service.client.get(path)).body).toMatchObject({ total_count: 60 });
    const { body } = await service.client.get('/search/default/purge/1', { query: 'gannet', size: 0 });
    expect(body).toMatchObject({ total_count: 60 });
    expect((await service.client.delete(path, { filter: 'n < 40' })).body).toMatchObject({ deleted: 0 });
  });

  it('deletes by modified_utc what a complete import did not bring again', async () => {
    await service.client.post('/list/default', { name: 'mirror', searchable_fields: [{ name: 't' }] });
    const rows = Array.from({ length: 50 }, (_, n) => ({ name: `r${n}`, t: 'the same' }));
    await service.client.bulk('default', 'mirror', rows);
    const path = '/search-result/default/mirror';
    const { body } = await service.client.post(path, { name: 'r0', fields: { t: 'the same' } });
    const begun = (body as RecordBody).modified_utc;
    await service.client.bulk('default', 'mirror', rows.slice(0, 30));
    expect((await service.client.delete(path, { filter: `modified_utc < '${begun}'` })).body).toMatchObject({
      deleted: 20,
    });
    expect((await service.client.get(path)).body).toMatchObject({ total_count: 30 });
  });
});
