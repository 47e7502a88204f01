/** Tests `DELETE /list/{account}/{list}?untouched_since=…`. */
import { request } from 'node:http';
import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { startTestService, type TestService } from '../support/service.js';

const LIST = '/list/default/touched';
const RECORDS = '/search-result/default/touched';
const WRITTEN = 'records or fields were written to it, or are being written';

let service: TestService;
let created = '';
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());
beforeEach(create);

async function create(): Promise<void> {
  const { status, body } = await service.client.post('/list/default', { name: 'touched' });
  expect(status).toBe(201);
  created = (body as { readonly created_utc: string }).created_utc;
}

const remove = (since = created) => service.client.delete(LIST, { untouched_since: since });

/** Expects that the list stays, and deletes it. */
async function expectKept(reason: string): Promise<void> {
  expect(await remove()).toMatchObject({
    status: 409,
    body: { code: 'conflict', detail: `The list 'touched' was not deleted: ${reason}.` },
  });
  expect((await service.client.delete(LIST)).status).toBe(204);
}

async function ok(answer: Promise<{ readonly status: number }>): Promise<void> {
  expect((await answer).status).toBeLessThan(300);
}

it('deletes a list to which nothing has happened', async () => {
  await ok(service.client.get(LIST));
  expect((await remove()).status).toBe(204);
  expect((await service.client.get(LIST)).status).toBe(404);
  expect((await remove()).status).toBe(404);
});

it.each<[string, () => Promise<void>]>([
  [
    WRITTEN,
    async () => {
      const { body } = await service.client.post(RECORDS, { name: 'a', text: 'x' });
      await ok(service.client.delete(`${RECORDS}/${(body as { readonly id: string }).id}`));
    },
  ],
  [WRITTEN, () => ok(service.client.post('/facet/default/touched', { name: 'year', type: 'number' }))],
  [
    'its settings were changed',
    async () => {
      // In another millisecond than the creation.
      await eventually(
        () => Promise.resolve(new Date().toISOString()),
        (now) => now > created,
      );
      await ok(service.client.put(LIST, { suggestions: { require_click: true } }));
    },
  ],
  [
    'a group has it as a member',
    () => ok(service.client.post('/list-group/default', { name: 'of-it', lists: [{ list: 'touched' }] })),
  ],
  [
    'an API key has it as its scope',
    async () => void (await service.clientFor({ scope: 'list', scope_target: 'touched' })),
  ],
  [
    'it imports from a source of records',
    () => ok(service.client.post(`${LIST}/source`, { media_store: 'default', path: 'a.csv' })),
  ],
  [
    'it was created at another time',
    async () => {
      const before = created;
      await ok(service.client.delete(LIST));
      await create();
      created = before;
    },
  ],
])('deletes no list if %s', async (reason, touch) => {
  await touch();
  await expectKept(reason);
});

it('deletes no list into which a bulk call is writing', async () => {
  const { hostname, port } = new URL(service.address);
  const headers = { 'X-API-Key': service.client.key, 'Content-Type': 'application/x-ndjson' };
  const call = request({ host: hostname, port, method: 'POST', path: `${RECORDS}/bulk`, headers });
  call.write('{"name":"a","text":"x"}\n');
  await eventually(
    async () => (await service.client.get('/progress/default')).text,
    (text) => text.includes('import'),
  );
  expect((await remove()).status).toBe(409);
  const answered = once(call, 'response') as Promise<[{ readonly statusCode: number; resume(): void }]>;
  call.end();
  const [{ statusCode }] = await answered;
  expect(statusCode).toBe(200);
  expect((await service.client.get(LIST)).body).toMatchObject({ record_count: 1 });
  await expectKept(WRITTEN);
});
