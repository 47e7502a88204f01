import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.js';

const REINDEX = '/list/default/birds/reindex';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  await service.client.post('/list/default', { name: 'birds', searchable_fields: [{ name: 'name' }] });
  const records = Array.from({ length: 5000 }, (_, index) => ({ name: `gannet ${index}`, fields: {} }));
  expect((await service.client.bulk('default', 'birds', records)).status).toBe(200);
});
afterAll(() => service.close());

it('The rebuild of a list is allowed only for the console and the command line', async () => {
  expect(await service.client.post(REINDEX, undefined)).toMatchObject({ status: 403, body: { code: 'console-only' } });
  expect((await service.control().post('/list/default/missing/reindex', undefined)).status).toBe(404);
});

it('A rebuild lets the service search and write, and misses no record', async () => {
  const control = service.control();
  const reindexed = control.post(REINDEX, undefined);
  const writes = Array.from({ length: 20 }, (_, index) =>
    service.client.post('/search-result/default/birds', { name: `puffin ${index}`, fields: {} }),
  );
  const searched = await service.client.get('/search/default/birds/1', { query: 'gannet' });
  expect(searched).toMatchObject({ status: 200, body: { total_count: 5000 } });
  for (const { status } of await Promise.all(writes)) expect(status).toBe(201);
  const { status, body } = await reindexed;
  expect(status).toBe(200);
  expect((body as { records: number }).records).toBeGreaterThanOrEqual(5000);
  expect((await control.post('/list/default/birds/check', undefined)).body).toMatchObject({ ok: true });
  const { body: list } = await service.client.get('/list/default/birds');
  expect(list).toMatchObject({ record_count: 5020 });
});

it('Repeated rebuilds log no warning of leaked listeners', async () => {
  await service.client.post('/list/default', { name: 'few', searchable_fields: [{ name: 'name' }] });
  await service.client.bulk('default', 'few', [{ name: 'gannet', fields: {} }]);
  for (let time = 0; time < 12; time += 1) {
    expect(await service.control().post('/list/default/few/reindex', undefined)).toMatchObject({
      status: 200,
      body: { records: 1 },
    });
  }
  expect(service.output).not.toContain('MaxListenersExceededWarning');
});
