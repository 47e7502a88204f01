/**
 * Tests pictures that records link to and that pictures find: read once, searched with filters and in groups, and
 * deleted with their records.
 */
import sharp from 'sharp';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { drawnPicture, jpegOf } from '../support/pictures.js';
import type { ScriptedServer } from '../support/scripted-server.js';
import { startFileServer } from '../support/served-files.js';
import { startTestService, type TestService } from '../support/service.js';
import type { Answer, RequestOptions, ServiceClient } from '../support/client.js';

interface Hit {
  readonly name: string;
  readonly list_name?: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly '@image_score'?: number;
  readonly '@text_score'?: number;
}
interface Found {
  readonly total_count: number;
  readonly results: readonly Hit[];
  readonly facets?: Readonly<Record<string, readonly { readonly value: string; readonly count: number }[]>>;
}
interface ResourcesState {
  readonly read: number;
  readonly pending: number;
  readonly failed: number;
  readonly errors: readonly { readonly error: string }[];
}

const PICTURES = 20;
const DEFINITION = {
  image_model: 'built-in',
  searchable_fields: [{ name: 'title' }],
  facets: [{ name: 'kind', type: 'string', cardinality: 'Single' }],
  resources: [
    { name: 'front', kind: 'image' },
    { name: 'back', kind: 'image' },
  ],
};

/** The content at each path of the server. */
const served = new Map<string, Uint8Array>();
let service: TestService;
let server: ScriptedServer;
let files: readonly Buffer[];
let lists = 0;
let list = '';

beforeAll(async () => {
  files = await Promise.all(Array.from({ length: PICTURES }, (_, seed) => jpegOf(seed)));
  server = await startFileServer(served);
  service = await startTestService({
    env: {
      GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true',
      GANNET_RESOURCES_RETRY_SECONDS: '1',
      GANNET_KERNEL_CHECK_LEASES: '1',
    },
  });
});
afterAll(async () => {
  await service.close();
  await server.close();
});
beforeEach(async () => {
  lists += 1;
  list = `photos-${lists}`;
  served.clear();
  server.asked.splice(0);
  for (const [number, bytes] of files.entries()) served.set(`/${number}.jpg`, bytes);
  const made = await service.client.post('/list/default', { name: list, ...DEFINITION });
  expect(made.status).toBe(201);
  expect(made.body).toMatchObject({ image_model: 'built-in' });
});

const urlOf = (number: number | string) => server.url(`/${number}.jpg`);
const bulk = async (records: readonly object[], into = list) => {
  const { status, body } = await service.client.bulk('default', into, records);
  expect([status, (body as { failed: number }).failed]).toEqual([200, 0]);
};
const fill = () =>
  bulk(
    files.map((_, number) => ({ name: `n${number}`, kind: number % 2 === 0 ? 'even' : 'odd', front: urlOf(number) })),
  );
const stateOf = async (name = list) => {
  const { body } = await service.client.get(`/list/default/${name}`);
  return (body as { resources_state: ResourcesState }).resources_state;
};
const refreshed = async () => {
  const { status } = await service.client.post(`/list/resources-refresh/default/${list}`, undefined);
  expect(status).toBe(202);
};
const settled = (name = list) =>
  eventually(
    () => stateOf(name),
    (state) => state?.pending === 0,
  );
const asked = (path: string, picture: Uint8Array, query: RequestOptions['query'] = {}, client = service.client) =>
  client.send('POST', `/search/image${path}`, { headers: { 'content-type': 'image/jpeg' }, bytes: picture, query });
const find = async (picture: Uint8Array, query: RequestOptions['query'] = {}, path = `/default/${list}/1`) => {
  const { status, body } = await asked(path, picture, query);
  expect(status, JSON.stringify(body)).toBe(200);
  return body as Found;
};
const first = async (picture: Uint8Array, path?: string) => (await find(picture, {}, path)).results[0]?.name;
const problem = ({ status, body }: Answer) => `${status} ${(body as { code: string }).code}`;

describe('a search by a picture', () => {
  it('finds the record of the same picture, also resized, in grey and compressed, with an image score', async () => {
    await fill();
    expect(await settled()).toMatchObject({ read: PICTURES, failed: 0 });
    const same = await find(files[3] as Buffer);
    expect(same.results[0]).toMatchObject({ name: 'n3', '@image_score': 1 });
    expect(same.results.every((hit) => hit['@text_score'] === undefined)).toBe(true);
    const scores = same.results.map((hit) => hit['@image_score'] ?? 0);
    expect(scores).toEqual(scores.toSorted((left, right) => right - left));
    for (const [number, file] of files.entries()) {
      const small = await sharp(file).resize({ width: 70 }).greyscale().webp({ quality: 40 }).toBuffer();
      expect(await first(small)).toBe(`n${number}`);
    }
    expect((await find(files[3] as Buffer, { minimum_image_score: 0.999 })).total_count).toBe(1);
  });

  it('takes filters, facets, order, pages, selected fields and explanations', async () => {
    await fill();
    await settled();
    const all = await find(files[4] as Buffer, { size: 100, facets: 'kind', exact: true });
    const even = await find(files[4] as Buffer, { size: 100, filter: "kind = 'even'", exact: true });
    const kinds = new Map(all.facets?.['kind']?.map(({ value, count }) => [value, count]));
    expect([...kinds.values()].reduce((sum, count) => sum + count, 0)).toBe(all.total_count);
    expect([even.total_count, even.results[0]?.name]).toEqual([kinds.get('even'), 'n4']);
    expect((await find(files[4] as Buffer, { filter: "kind = 'odd'" })).results.map(({ name }) => name)).not.toContain(
      'n4',
    );
    const names = all.results.map(({ name }) => name);
    const rest = await find(files[4] as Buffer, { skip: 1, size: 100, exact: true });
    expect(rest.results.map(({ name }) => name)).toEqual(names.slice(1));
    const ordered = await find(files[4] as Buffer, { order_by: 'name asc', size: 100, select: 'kind', explain: true });
    expect(ordered.results.map(({ name }) => name)).toEqual(names.toSorted());
    expect(Object.keys(ordered.results[0]?.fields ?? {})).toEqual(['kind']);
    expect(ordered.results[0]).toHaveProperty('explain.pictures.floor');
    expect(ordered.results[0]).not.toHaveProperty('explain.meaning');
  });

  it('accepts any picture of a record, from a media store or the web, and refuses other bodies', async () => {
    await bulk([
      { name: 'two', front: urlOf(1), back: urlOf(2) },
      { name: 'one', front: urlOf(5) },
    ]);
    await settled();
    expect([await first(files[1] as Buffer), await first(files[2] as Buffer)]).toEqual(['two', 'two']);
    const path = `/search/image/default/${list}/1`;
    const png = await drawnPicture(5).png().toBuffer();
    await service.client.send('PUT', '/media/default/default/x/5.png', { bytes: png });
    const given = [{ url: urlOf(5) }, { media: 'default/x/5.png' }, { media: 'media:default/x/5.png', size: 1 }];
    for (const body of given) {
      const answer = await service.client.post(path, body);
      expect((answer.body as Found).results[0]?.name).toBe('one');
    }
    const reader = await service.clientFor({ access: 'search-and-read' });
    expect(problem(await reader.post(path, { media: 'default/x/5.png' }))).toBe('403 missing-permission');
    expect((await reader.post(path, { url: urlOf(5) })).status).toBe(200);
    const unclear = [{}, { url: urlOf(1), media: 'a/b' }, { url: 7 }, { media: 'default/x/5.png', query: 'words' }];
    for (const body of unclear) expect(problem(await service.client.post(path, body))).toBe('400 invalid-parameter');
    expect((await service.client.post(path, { media: 'default/a.png', sise: 1 })).body).toMatchObject({
      detail: "/sise: Unknown member 'sise'. Did you mean 'size'?",
    });
    for (const body of [{ url: urlOf('none') }, { url: 'http://10.0.0.1/a.png' }, { media: 'default/none.png' }])
      expect(problem(await service.client.post(path, body))).toBe('422 picture-unreadable');
    expect(problem(await asked(`/default/${list}/1`, Buffer.from('%PDF-1.7')))).toBe('422 picture-unreadable');
    expect(problem(await asked(`/default/${list}/1`, Buffer.alloc(0)))).toBe('422 picture-unreadable');
    expect(problem(await asked(`/default/${list}/9`, files[0] as Buffer))).toBe('404 version-not-found');
    expect((await asked(`/default/${list}/1`, files[0] as Buffer, { query: 'words' })).status).toBe(400);
  });

  it('with a key of a list or group takes from a media store only files that records link to', async () => {
    const png = await drawnPicture(5).png().toBuffer();
    for (const path of ['x/linked.png', 'x/secret.png'])
      await service.client.send('PUT', `/media/default/default/${path}`, { bytes: png });
    await bulk([
      { name: 'one', front: 'media:default/x/linked.png' },
      { name: 'lost', back: 'media:default/x/lost.png' },
    ]);
    await eventually(
      async () => stateOf(list),
      ({ read, failed }) => read === 1 && failed === 1,
    );
    const group = `linked-${lists}`;
    await service.client.post('/list-group/default', { name: group, lists: [{ list }] });
    const permissions = ['search-result:read', 'media:read'];
    const ofList = await service.clientFor({ permissions, scope: 'list', scope_target: list });
    const ofGroup = await service.clientFor({ permissions, scope: 'group', scope_target: group });
    for (const [client, path] of [
      [ofList, `/search/image/default/${list}/1`],
      [ofGroup, `/search/image/group/default/${group}/latest`],
    ] as const) {
      const { status, body } = await client.post(path, { media: 'default/x/linked.png' });
      expect([status, (body as Found).results[0]?.name]).toEqual([200, 'one']);
      expect(problem(await client.post(path, { media: 'default/x/lost.png' }))).toBe('422 picture-unreadable');
      const told = async (media: string) => {
        const answer = await client.post(path, { media });
        return [problem(answer), answer.body];
      };
      const nothing = await told('default/x/none.png');
      expect(nothing[0]).toBe('403 out-of-scope');
      expect(await told('default/x/secret.png')).toEqual(nothing);
      expect(await told('default/x/linked.pn')).toEqual(nothing);
      expect(await told('none/x/linked.png')).toEqual(nothing);
      expect(problem(await client.post(path, { url: 'media:default/x/secret.png' }))).toBe('403 out-of-scope');
    }
    expect(
      (await service.client.post(`/search/image/default/${list}/1`, { media: 'default/x/secret.png' })).status,
    ).toBe(200);
  });

  it('needs a list with a picture model, and leaves out other lists of a group', async () => {
    await fill();
    await settled();
    const other = `plain-${lists}`;
    await service.client.post('/list/default', { ...DEFINITION, name: other, image_model: null });
    await bulk([{ name: 'n3', kind: 'even', front: urlOf(3) }], other);
    expect(problem(await asked(`/default/${other}/1`, files[3] as Buffer))).toBe('422 image-model-required');
    const group = `all-${lists}`;
    await service.client.post('/list-group/default', { name: group, lists: [{ list }, { list: other }] });
    const found = await find(files[3] as Buffer, {}, `/group/default/${group}/latest`);
    expect(found.results[0]).toMatchObject({ name: 'n3', list_name: list, '@image_score': 1 });
    expect(found.results.every(({ list_name: of }) => of === list)).toBe(true);
    expect(await stateOf(other)).toBeUndefined();
  });

  it('needs permission to search the list, is counted, and uses up the limit on searches', async () => {
    await fill();
    await settled();
    const limited = (scope_target: string): Promise<ServiceClient> =>
      service.clientFor({ access: 'search-and-read', scope: 'list', scope_target });
    const other = `other-${lists}`;
    await service.client.post('/list/default', { ...DEFINITION, name: other });
    const path = `/default/${list}/1`;
    expect((await asked(path, files[0] as Buffer, {}, await limited(list))).status).toBe(200);
    expect((await asked(path, files[0] as Buffer, {}, await limited(other))).status).toBe(403);
    const writer = await service.clientFor({ access: 'custom', permissions: ['search-result:create'] });
    expect(problem(await asked(path, files[0] as Buffer, {}, writer))).toBe('403 missing-permission');
    expect((await asked(path, files[0] as Buffer, {}, service.clientWith(undefined))).status).toBe(401);
    await find(files[1] as Buffer, { skip: 1 });
    expect((await asked(path, Buffer.from('none'))).status).toBe(422);
    const report = await eventually(
      async () => (await service.client.get(`/analytics/list/default/${list}`)).body as { total_searches: number },
      ({ total_searches: total }) => total > 0,
    );
    expect(report).toMatchObject({ total_searches: 1, zero_result_searches: 0, top_searches: [] });
  });
});

describe('pictures of records', () => {
  it('are read once for a thousand records, all of which are found', async () => {
    await bulk(Array.from({ length: 1000 }, (_, number) => ({ name: `r${number}`, front: urlOf(7) })));
    await eventually(
      () => find(files[7] as Buffer, { size: 0 }),
      ({ total_count: total }) => total === 1000,
    );
    expect(server.asked.filter(({ path }) => path === '/7.jpg')).toHaveLength(1);
    expect(await stateOf()).toMatchObject({ read: 1, pending: 0 });
  });

  it('are read again after writes: another link, another file, or a deleted record', async () => {
    await fill();
    await settled();
    await service.client.post(`/search-result/default/${list}`, {
      name: 'n3',
      fields: { kind: 'odd', front: urlOf(4) },
    });
    expect(await first(files[3] as Buffer)).not.toBe('n3');
    expect(
      (await find(files[4] as Buffer, { minimum_image_score: 0.99 })).results.map(({ name }) => name).sort(),
    ).toEqual(['n3', 'n4']);
    served.set('/4.jpg', files[3] as Buffer);
    await refreshed();
    await settled();
    expect((await find(files[3] as Buffer, { minimum_image_score: 0.99 })).total_count).toBe(2);
    await service.client.delete(`/search-result/default/${list}`, { filter: "kind = 'even'" });
    expect((await find(files[3] as Buffer, { minimum_image_score: 0.99 })).results.map(({ name }) => name)).toEqual([
      'n3',
    ]);
    served.set('/1.jpg', Buffer.from('no picture any more'));
    served.delete('/5.jpg');
    await refreshed();
    const state = await settled();
    expect(state.errors.map(({ error }) => error).sort()).toEqual(['not-a-picture', 'not-found']);
    expect((await find(files[1] as Buffer, { minimum_image_score: 0.99 })).total_count).toBe(0);
  });

  it('stay in new versions, copies, rebuilt indexes and after restarts, without being read again', async () => {
    await fill();
    await settled();
    const before = await find(files[3] as Buffer, { size: 100, exact: true });
    const requests = server.asked.length;
    await service.client.post(`/list/default/${list}/clone`, { name: `${list}-copy` });
    expect(await find(files[3] as Buffer, { size: 100, exact: true }, `/default/${list}-copy/1`)).toMatchObject({
      total_count: before.total_count,
      results: before.results.map((hit) => ({ name: hit.name, '@image_score': hit['@image_score'] })),
    });
    await service.client.post(`/facet/default/${list}`, { name: 'title', type: 'string', cardinality: 'Single' });
    await eventually(
      async () => (await service.client.get(`/list/default/${list}`)).body as { current_version: number },
      ({ current_version: version }) => version === 2,
    );
    await settled();
    const scores = ({ results }: Found) => results.map((hit) => [hit.name, hit['@image_score']]);
    const query = { size: 100, exact: true };
    expect(scores(await find(files[3] as Buffer, query, `/default/${list}/2`))).toEqual(scores(before));
    expect(scores(await find(files[3] as Buffer, query))).toEqual(scores(before));
    expect((await service.control().post(`/list/default/${list}/reindex`, undefined)).status).toBeLessThan(300);
    await service.stop('SIGKILL');
    await service.start();
    expect(scores(await find(files[3] as Buffer, query, `/default/${list}/2`))).toEqual(scores(before));
    // A copy checks whether its files have changed.
    const again = server.asked.slice(requests).filter(({ path }) => path === '/3.jpg');
    expect(again.length).toBeLessThanOrEqual(1);
  });

  it('are all read after a kill in the middle of reading', async () => {
    const copies = 4;
    for (const [number, bytes] of files.entries())
      for (let copy = 0; copy < copies; ++copy) served.set(`/${number}-${copy}.jpg`, bytes);
    await bulk(
      Array.from({ length: PICTURES * copies }, (_, at) => {
        return { name: `k${at}`, front: urlOf(`${at % PICTURES}-${Math.floor(at / PICTURES)}`) };
      }),
    );
    await eventually(
      () => stateOf(),
      ({ read }) => read > 0,
    );
    await service.stop('SIGKILL');
    await service.start();
    expect(await settled()).toMatchObject({ read: PICTURES * copies, failed: 0 });
    for (const [number, file] of files.entries()) {
      const found = await find(file, { minimum_image_score: 0.99 });
      const wanted = Array.from({ length: copies }, (_, copy) => `k${copy * PICTURES + number}`);
      expect(found.results.map(({ name }) => name).sort()).toEqual(wanted.sort());
    }
  });

  it('are searched after image_model is set, and discarded after it is removed', async () => {
    const changed = (image_model: string | null) => service.client.put(`/list/default/${list}`, { image_model });
    expect((await changed(null)).body).toMatchObject({ image_model: null });
    await fill();
    expect(server.asked).toEqual([]);
    expect((await changed('built-in')).status).toBe(200);
    await eventually(
      () => stateOf(),
      ({ read }) => read === PICTURES,
    );
    await settled();
    expect(await first(files[8] as Buffer)).toBe('n8');
    expect((await changed(null)).status).toBe(200);
    expect(problem(await asked(`/default/${list}/1`, files[8] as Buffer))).toBe('422 image-model-required');
    expect((await stateOf())?.read ?? 0).toBe(0);
    expect(problem(await changed('another'))).toMatch(/^4/);
  });
});
