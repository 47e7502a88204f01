import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RecordStoreCache } from '../../src/records/index.js';
import { startTestService, type TestService } from '../support/service.js';

const CHECK = '/list/default/birds/check';
const NAMES = ['gannet', 'booby', 'puffin'];

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ env: { GANNET_SEARCH_THREADS: '2' } });
  await service.client.post('/list/default', { name: 'birds', searchable_fields: [{ name: 'name' }] });
  await service.client.bulk(
    'default',
    'birds',
    NAMES.map((name) => ({ name, colour: 'white' })),
  );
});
afterAll(() => service.close());

it('The check of a list is allowed only for the console and the command line', async () => {
  expect(await service.client.post(CHECK, undefined)).toMatchObject({ status: 403, body: { code: 'console-only' } });
  expect((await service.control().post('/list/default/missing/check', undefined)).status).toBe(404);
});

it('The check of a list finds no problems while the service searches and writes', async () => {
  const writes = Array.from({ length: 20 }, (_, index) =>
    service.client.post('/search-result/default/birds', { name: `bird ${index}`, fields: {} }),
  );
  const [checked, searched] = await Promise.all([
    service.control().post(CHECK, undefined),
    service.client.get('/search/default/birds/1', { query: 'gannet' }),
  ]);
  expect(checked).toMatchObject({ status: 200, body: { ok: true, problems: [] } });
  expect(searched).toMatchObject({ status: 200, body: { total_count: 1 } });
  for (const { status } of await Promise.all(writes)) expect(status).toBe(201);
});

it('The check of a list reports a record that is indexed and not stored', async () => {
  await service.stop();
  const [list] = readdirSync(join(service.dataDir, 'lists'));
  const stores = new RecordStoreCache();
  const { records, recordNumberOfName } = versionOf(stores, join(service.dataDir, 'lists', list as string));
  await records.remove(recordNumberOfName('booby'));
  await stores.close();
  await service.start();
  const { body } = await service.control().post(CHECK, undefined);
  const { ok, problems } = body as { ok: boolean; problems: string[] };
  expect(ok).toBe(false);
  expect(problems.join('\n')).toMatch(/record \d+ is indexed and not stored/);
});

function versionOf(stores: RecordStoreCache, listPath: string) {
  const version = stores.get(listPath).version(1);
  return {
    records: version.records,
    recordNumberOfName: (name: string) => version.recordNumberOfName(name) as number,
  };
}
