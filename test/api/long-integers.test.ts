/**
 * Tests integers that are too long for a JavaScript number, such as ids of posts: they keep their digits however they
 * are written.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.js';

const [FIRST, SECOND] = ['1453429999999999991', '1453429999999999992'];

let service: TestService;
let listNumber = 0;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

async function newList(definition: object): Promise<string> {
  const name = `posts-${++listNumber}`;
  await service.client.post('/list/default', { name, ...definition });
  return name;
}

async function stored(list: string): Promise<{ id: string; name: string; fields: Record<string, unknown> }[]> {
  const { body } = await service.client.get(`/search-result/default/${list}`);
  return (body as { results: { id: string; name: string; fields: Record<string, unknown> }[] }).results;
}

describe('long integers', () => {
  it.each([
    ['application/x-ndjson', `{"post":${FIRST},"title":"a"}\n{"post":${SECOND},"title":"b"}\n`],
    ['application/json', `[{"post":${FIRST},"title":"a"},{"fields":{"post":${SECOND},"title":"b"}}]`],
    ['text/csv', `post,title\n${FIRST},a\n${SECOND},b\n`],
  ])('in %s are stored as text and usable as names, unless the field is a number facet', async (type, bytes) => {
    for (const definition of [{ searchable_fields: [{ name: 'title' }] }, {}]) {
      const list = await newList(definition);
      const send = () =>
        service.client.send('POST', `/search-result/default/${list}/bulk`, {
          query: { name_from: 'post' },
          bytes,
          headers: { 'Content-Type': type },
        });
      expect((await send()).body).toMatchObject({ created: 2, updated: 0, failed: 0 });
      expect((await send()).body).toMatchObject({ created: 0, updated: 2, failed: 0 });
      const records = await stored(list);
      expect(records.map(({ name }) => name)).toEqual([FIRST, SECOND]);
      expect(records.map(({ fields }) => [fields['post']].flat())).toEqual([[FIRST], [SECOND]]);
    }
  });

  it('in single writes are stored as text, also beside other numbers in an array', async () => {
    const list = await newList({ searchable_fields: [{ name: 'title' }] });
    const send = (method: string, path: string, bytes: string) =>
      service.client.send(method, path, { bytes, headers: { 'Content-Type': 'application/json' } });
    const created = await send('POST', `/search-result/default/${list}`, `{"name":"x","title":"a","post":${FIRST}}`);
    expect(created.status).toBe(201);
    const [{ id } = { id: '' }] = await stored(list);
    const path = `/search-result/default/${list}/${id}`;
    expect((await send('PATCH', path, `{"fields":{"replies":[1,${SECOND}]}}`)).status).toBe(200);
    expect((await stored(list))[0]?.fields).toEqual({ title: 'a', post: FIRST, replies: [1, SECOND] });
  });

  it('in a number facet are rounded to numbers', async () => {
    const list = await newList({
      searchable_fields: [{ name: 'title' }],
      facets: [{ name: 'at', type: 'number', cardinality: 'Many' }],
    });
    const lines = `{"name":"x","title":"a","at":${FIRST}}\n{"name":"y","title":"b","at":[1,${SECOND}]}\n`;
    expect((await service.client.bulk('default', list, lines)).body).toMatchObject({ created: 2, failed: 0 });
    const csv = await service.client.bulk('default', list, `name,title,at\nz,c,${FIRST}\n`, 'text/csv');
    expect(csv.body).toMatchObject({ created: 1, failed: 0 });
    const at = Number(FIRST);
    expect((await stored(list)).map(({ fields }) => fields['at'])).toEqual([[at], [1, at], [at]]);
    const found = await service.client.post(`/search/default/${list}/1`, { filter: 'at > 1453429999999990000' });
    expect(found.body).toMatchObject({ total_count: 3 });
    const text = await service.client.bulk('default', list, '{"name":"q","at":"17"}\n');
    expect(text.body).toMatchObject({ failed: 1 });
  });
});
