/**
 * Tests a return to this release after a later one has stored kinds that this release does not know: only what has
 * such a kind fails.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { open } from '../../src/platform/lmdb.js';
import { startTestService, type TestService } from '../support/service.js';

const BUCKET = { kind: 's3', endpoint: 'https://s3.example.com', bucket: 'pictures', access_key_id: 'id' };
const LISTED = { name: 'texts', model: 'vectors', searchable_fields: [{ name: 'title' }] };
const STORE = '/media-store/default/bucket';
let service: TestService;

/** Rewrites the rows of a collection of a stopped service. */
async function rewrite<Row>(dataDir: string, collection: string, change: (row: Row) => Row): Promise<void> {
  const root = open({ path: join(dataDir, 'system'), noSubdir: false, maxDbs: 64 });
  const rows = root.openDB<Row, string>({ name: collection });
  for (const { key, value } of Array.from(rows.getRange())) rows.putSync(key, change(value));
  await root.close();
}

beforeAll(async () => {
  const before = await startTestService();
  const made = [
    await before.control().post('/model/default', { name: 'vectors', provider: 'own', dimensions: 2 }),
    await before.control().post('/media-store/default', { name: 'bucket', ...BUCKET, secret_access_key: 'secret' }),
    await before.client.post('/list/default', LISTED),
  ];
  expect(made.map(({ status }) => status)).toEqual([201, 201, 201]);
  await before.client.bulk('default', 'texts', [{ name: 'one', title: 'gannet' }]);
  await before.stop();
  const { dataDir } = before;
  await rewrite<object>(dataDir, 'models', (row) => ({ ...row, provider: 'oracle' }));
  type Store = { readonly settings: object };
  await rewrite<Store>(dataDir, 'media-stores', (row) => ({ ...row, settings: { ...row.settings, kind: 'tape' } }));
  service = await startTestService({ dataDir });
});
afterAll(() => service.close());

/**
 * Reads without the check of answers that other clients of tests do: this release's schemas do not know these values.
 */
async function read(path: string): Promise<unknown> {
  const { key } = await service.createKey({ access: 'full' });
  const answer = await fetch(`${service.address}${path}`, { headers: { 'X-API-Key': key } });
  expect(answer.status).toBe(200);
  return answer.json();
}

it('The service starts, and searches by words a list whose model has an unknown provider', async () => {
  const found = await service.client.post('/search/default/texts/1', { query: 'gannet' });
  expect(found).toMatchObject({ status: 200, body: { total_count: 1 } });
  expect(await read('/model/default/vectors')).toMatchObject({ provider: 'oracle' });
  const tested = await service.control().send('POST', '/model/default/vectors/test');
  expect([tested.status, tested.text]).toEqual([
    422,
    expect.stringContaining("This release knows no embedding model of the provider 'oracle'."),
  ]);
});

it('A media store of an unknown kind is listed, and every use of it is refused with the reason', async () => {
  const listed = (await read('/media-store/default')) as { media_stores: unknown[] };
  expect(listed.media_stores[1]).toMatchObject({ name: 'bucket', kind: 'tape', bytes_used: null });
  expect(JSON.stringify(listed)).not.toContain('sealed');
  const uses = [
    await service.control().get('/media/default/bucket'),
    await service.control().put(STORE, { bucket: 'sounds' }),
  ];
  for (const { status, text } of uses)
    expect([status, text]).toEqual([
      503,
      expect.stringContaining("is of the kind 'tape', which this release does not"),
    ]);
  expect(await service.control().delete(STORE)).toMatchObject({ status: 204 });
  expect(service.output).not.toMatch(/TypeError|Could not seal secrets/);
});
