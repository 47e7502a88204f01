/**
 * Tests picture models of lists: words and pictures that find pictures, and lists whose model changes, fails or is
 * replaced.
 */
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RequestOptions } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { COLOURS, pictureOf, writePictureFolder, type Colour } from '../support/picture-folder.js';
import type { ScriptedServer } from '../support/scripted-server.js';
import { startFileServer } from '../support/served-files.js';
import { startTestService, type TestService } from '../support/service.js';

interface Hit {
  readonly name: string;
  readonly list_name?: string;
  readonly '@text_score'?: number;
  readonly '@image_score'?: number;
  readonly explain?: {
    readonly sources?: readonly { readonly kind: string; readonly score: number; readonly cosine?: number }[];
    readonly pictures?: { readonly floor: number };
  };
}
interface Found {
  readonly total_count: number;
  readonly results: readonly Hit[];
  readonly facets?: Readonly<Record<string, readonly { readonly value: string; readonly count: number }[]>>;
  readonly applied: { readonly meaning: string };
}
interface ListResource {
  readonly image_model: string | null;
  readonly resources_state?: {
    readonly read: number;
    readonly pending: number;
    readonly failed: number;
    readonly errors: readonly { readonly error: string; readonly detail: string }[];
  };
}

const DEFINITION = {
  searchable_fields: [{ name: 'title' }],
  facets: [{ name: 'shop', type: 'string', cardinality: 'Single' }],
  resources: [{ name: 'photo', kind: 'image' }],
};
const COLOURED = Object.keys(COLOURS) as Colour[];

const served = new Map<string, Buffer>();
let folder: string;
let service: TestService;
let server: ScriptedServer;
let lists = 0;
let list = '';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-picture-models-'));
  writePictureFolder(join(folder, 'colours'));
  writePictureFolder(join(folder, 'shades'), { readsTexts: false });
  for (const colour of COLOURED) served.set(`/${colour}.png`, await pictureOf(COLOURS[colour]));
  server = await startFileServer(served);
  service = await startTestService({
    env: {
      GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true',
      GANNET_RESOURCES_RETRY_SECONDS: '1',
      GANNET_KERNEL_CHECK_LEASES: '1',
      GANNET_MODELS_DIR: folder,
      // A busy machine starts processes slowly, which must not change what a search finds.
      GANNET_MODELS_QUERY_MS: '60000',
    },
  });
  for (const name of ['colours', 'shades'])
    expect((await service.control().post('/model/default', { name, provider: 'onnx' })).status).toBe(201);
});
afterAll(async () => {
  await service.close();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  lists += 1;
  list = `goods-${lists}`;
  server.asked.splice(0);
});

const readList = async (name = list) => (await service.client.get(`/list/default/${name}`)).body as ListResource;
const settled = (name = list) =>
  eventually(
    async () => (await readList(name)).resources_state,
    (state) => state?.pending === 0 && state.read + state.failed > 0,
  );
const create = async (image_model: string | null, name = list) => {
  const made = await service.client.post('/list/default', { name, image_model, ...DEFINITION });
  expect([made.status, (made.body as ListResource).image_model]).toEqual([201, image_model]);
};
/** Writes a record for each colour, whose title does not name it, and one whose title does and which has no picture. */
const fill = async (name = list) => {
  const { body } = await service.client.bulk('default', name, [
    ...COLOURED.map((colour, at) => {
      return {
        name: `p-${colour}`,
        title: `Article ${at}`,
        shop: at % 2 === 0 ? 'a' : 'b',
        photo: server.url(`/${colour}.png`),
      };
    }),
    { name: 'word', title: 'red', shop: 'a' },
  ]);
  expect(body).toMatchObject({ failed: 0 });
};
const search = async (query: RequestOptions['query'], name = list) => {
  const { status, body } = await service.client.get(`/search/default/${name}/1`, query);
  expect(status, JSON.stringify(body)).toBe(200);
  return body as Found;
};
const names = ({ results }: Found) => results.map(({ name }) => name);
const byPicture = (bytes: Buffer, path = `/default/${list}/1`) =>
  service.client.send('POST', `/search/image${path}`, { headers: { 'content-type': 'image/png' }, bytes });

describe('hits by words and hits by pictures', () => {
  beforeEach(async () => {
    await create('colours');
    await fill();
    expect(await settled()).toMatchObject({ read: COLOURED.length, failed: 0 });
  });

  it('are ranked together, each with the score of its kind', async () => {
    const found = await search({ query: 'red' });
    expect(names(found).toSorted()).toEqual(['p-red', 'word']);
    const [picture, word] = ['p-red', 'word'].map((name) => found.results.find((hit) => hit.name === name));
    expect(picture?.['@image_score']).toBeCloseTo(1, 2);
    expect(picture?.['@text_score']).toBeUndefined();
    expect(word?.['@text_score']).toBeGreaterThan(0.5);
    expect(word?.['@image_score']).toBeUndefined();
    expect(found).toMatchObject({ total_count: 2, applied: { meaning: 'used' } });
    for (const colour of COLOURED)
      expect(names(await search({ query: colour })).filter((name) => name !== 'word')).toEqual([`p-${colour}`]);
    // A record that both find has both scores.
    await service.client.patch(`/search-result/default/${list}/${await idOf('p-red')}`, { fields: { title: 'red' } });
    const both = (await search({ query: 'red' })).results.find(({ name }) => name === 'p-red');
    expect([both?.['@text_score'], both?.['@image_score']].every((score) => (score ?? 0) > 0.5)).toBe(true);
  });

  it('take minimum scores, filters, facets, order, pages and explanations', async () => {
    expect(names(await search({ query: 'red', minimum_text_score: 1.0 }))).toContain('p-red');
    expect(names(await search({ query: 'red', minimum_image_score: 1 }))).toEqual(['word']);
    expect(names(await search({ query: 'red', filter: "shop = 'b'" }))).toEqual([]);
    const counted = await search({ query: 'red', facets: 'shop', size: 0 });
    expect([counted.total_count, counted.facets?.['shop']]).toEqual([2, [{ value: 'a', count: 2 }]]);
    const ordered = ['name desc', 'name asc'].map((order_by) => search({ query: 'red', order_by }));
    expect((await Promise.all(ordered)).map(names)).toEqual([
      ['word', 'p-red'],
      ['p-red', 'word'],
    ]);
    const all = names(await search({ query: 'red' }));
    expect(names(await search({ query: 'red', skip: 1, size: 1 }))).toEqual(all.slice(1));
    const explained = (await search({ query: 'red', explain: true })).results.find(({ name }) => name === 'p-red');
    const source = explained?.explain?.sources?.find(({ kind }) => kind === 'image');
    expect(source?.cosine).toBeCloseTo(1, 2);
    expect(source?.score).toBeCloseTo(explained?.['@image_score'] ?? NaN, 5);
    expect(explained?.explain?.pictures?.floor).toBe(0.5);
  });

  it('are by words alone for match all and phrase, and with vector_search=false', async () => {
    for (const query of [{ match: 'all' }, { match: 'phrase' }, { vector_search: false }])
      expect(names(await search({ query: 'red', ...query }))).toEqual(['word']);
    expect((await search({ query: 'red', vector_search: false })).applied.meaning).toBe('off');
    expect((await search({})).total_count).toBe(COLOURED.length + 1);
  });

  it('are found in groups with lists without pictures, and the search is counted once', async () => {
    const plain = `${list}-plain`;
    await create(null, plain);
    await fill(plain);
    const group = `${list}-all`;
    await service.client.post('/list-group/default', { name: group, lists: [{ list }, { list: plain }] });
    const { body } = await service.client.get(`/search/group/default/${group}/latest`, { query: 'red' });
    const found = (body as Found).results.map(({ name, list_name: of }) => [of, name]).toSorted();
    expect(found).toEqual([
      [list, 'p-red'],
      [list, 'word'],
      [plain, 'word'],
    ]);
    const report = await eventually(
      async () => (await service.client.get(`/analytics/group/default/${group}`)).body as { total_searches: number },
      ({ total_searches: total }) => total > 0,
    );
    expect(report).toMatchObject({ total_searches: 1, top_searches: [{ term: 'red', count: 1 }] });
  });

  it('are found by pictures as well, in each list by its own model', async () => {
    const other = `${list}-other`;
    await create('shades', other);
    await fill(other);
    await settled(other);
    // A model that reads no text finds nothing by the query.
    expect(names(await search({ query: 'red' }, other))).toEqual(['word']);
    const group = `${list}-all`;
    await service.client.post('/list-group/default', { name: group, lists: [{ list }, { list: other }] });
    const wide = await pictureOf([250, 10, 5], { width: 300, height: 20 });
    for (const path of [`/default/${list}/1`, `/default/${other}/1`]) {
      const { body } = await byPicture(wide, path);
      expect(names(body as Found)[0]).toBe('p-red');
    }
    const { body } = await byPicture(wide, `/group/default/${group}/latest`);
    expect(names(body as Found).slice(0, 2)).toEqual(['p-red', 'p-red']);
  });
});

describe('a list with a picture model', () => {
  it('accepts only models that read pictures, and keeps them from deletion', async () => {
    const refused = await service.client.post('/list/default', { name: list, image_model: 'nobody', ...DEFINITION });
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([400, expect.stringContaining('/image_model')]);
    await create('colours');
    expect((await service.client.put(`/list/default/${list}`, { model: 'shades' })).status).toBe(422);
    const { status, body } = await service.control().delete('/model/default/colours');
    expect([status, (body as { detail: string }).detail]).toEqual([409, expect.stringContaining(list)]);
    expect((await service.client.get('/model/default/colours')).body).toMatchObject({ inputs: ['text', 'image'] });
  });

  it("has its pictures read again if the model's files change, but not after a restart or another prefix", async () => {
    writePictureFolder(join(folder, 'changing'));
    await service.control().post('/model/default', { name: 'changing', provider: 'onnx' });
    await create('changing');
    await fill();
    await settled();
    const before = server.asked.length;
    await service.stop();
    await service.start();
    expect(names(await search({ query: 'green' }))).toEqual(['p-green']);
    // Regular checks for changed files do not read a picture again; none is due here.
    expect(server.asked).toHaveLength(before);
    await service.control().put('/model/default/changing', { query_prefix: 'a ' });
    expect(names(await search({ query: 'green' }))).toContain('p-green');
    expect(server.asked).toHaveLength(before);
    writePictureFolder(join(folder, 'changing'), { times: 3 });
    expect((await service.control().put('/model/default/changing', { query_prefix: '' })).status).toBe(200);
    await eventually(
      () => Promise.resolve(server.asked.length),
      (asked) => asked >= before + COLOURED.length,
    );
    expect(await settled()).toMatchObject({ read: COLOURED.length, failed: 0 });
    expect(names(await search({ query: 'blue' }))).toEqual(['p-blue']);
  });

  it('says of each picture that the model fails, searches by words, and reads the pictures when it is back', async () => {
    writePictureFolder(join(folder, 'away'));
    await service.control().post('/model/default', { name: 'away', provider: 'onnx' });
    await create('away');
    await service.stop();
    renameSync(join(folder, 'away'), join(folder, 'elsewhere'));
    await service.start();
    await fill();
    const state = await eventually(
      async () => (await readList()).resources_state,
      (now) => now?.failed === COLOURED.length,
    );
    expect(state?.errors[0]).toMatchObject({
      error: 'model-unavailable',
      detail: expect.stringContaining('There is no folder') as string,
    });
    const found = await search({ query: 'red' });
    expect([names(found), found.applied.meaning]).toEqual([['word'], 'unavailable']);
    const { status, body } = await byPicture(served.get('/red.png') as Buffer);
    expect([status, (body as { code: string }).code]).toEqual([503, 'image-model-unavailable']);
    renameSync(join(folder, 'elsewhere'), join(folder, 'away'));
    await eventually(
      async () => {
        await service.client.post(`/list/resources-refresh/default/${list}?failed=true`, undefined);
        return settled();
      },
      (now) => now?.read === COLOURED.length,
    );
    expect(names(await search({ query: 'red', cache: false }))).toContain('p-red');
  });
});

async function idOf(name: string): Promise<string> {
  const { body } = await service.client.get(`/search-result/default/${list}`, { size: 100 });
  const { results } = body as { results: readonly { readonly id: string; readonly name: string }[] };
  return results.find((record) => record.name === name)?.id ?? '';
}
