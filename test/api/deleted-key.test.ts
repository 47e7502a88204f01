/**
 * Tests what becomes of a request whose key is deleted, expires or no longer reaches the list while the body is on its
 * way.
 */
import { request, type ClientRequest } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { startTestService, type CreatedKey, type TestService } from '../support/service.js';

let service: TestService;
beforeAll(async () => {
  // Each record is committed by itself, which shows when a piece has arrived.
  service = await startTestService({ clock: 'jumping', env: { GANNET_INGEST_BATCH_RECORDS_MAX: '1' } });
});
afterAll(() => service.close());

interface Upload {
  readonly sending: ClientRequest;
  readonly answer: Promise<{ readonly status: number; readonly text: string }>;
}

function begin(method: string, path: string, { key }: CreatedKey, contentType: string): Upload {
  const headers = { 'x-api-key': key, 'content-type': contentType };
  const sending = request(new URL(path, service.address), { method, headers });
  const answer = new Promise<{ status: number; text: string }>((resolve, reject) => {
    sending.on('error', reject).on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, text });
      });
    });
  });
  sending.flushHeaders();
  return { sending, answer };
}

const countOf = async (list: string) =>
  ((await service.client.get(`/list/default/${list}`)).body as { record_count: number }).record_count;
const line = (name: string) => `${JSON.stringify({ name, title: 'x' })}\n`;
const remove = async ({ id }: CreatedKey) => {
  expect((await service.control().delete(`/api-key/default/${id}`)).status).toBe(204);
};

it('A bulk call is refused from the next piece on once its key is deleted, and what was written stays', async () => {
  await service.client.post('/list/default', { name: 'films' });
  const key = await service.createKey({ access: 'full' });
  const { sending, answer } = begin('POST', '/search-result/default/films/bulk', key, 'application/x-ndjson');
  sending.write(line('a') + line('b'));
  await eventually(
    () => countOf('films'),
    (count) => count >= 1,
  );
  await remove(key);
  sending.end(line('c') + line('d'));
  expect(await answer).toMatchObject({ status: 401, text: expect.stringContaining('invalid-key') as string });
  expect(await countOf('films')).toBeLessThanOrEqual(2);
});

it('A bulk call is refused once its key has expired', async () => {
  await service.client.post('/list/default', { name: 'books' });
  const expires_at = new Date(Date.now() + 3_600_000).toISOString();
  const key = await service.createKey({ access: 'full', expires_at });
  const { sending, answer } = begin('POST', '/search-result/default/books/bulk', key, 'application/x-ndjson');
  sending.write(line('a') + line('b'));
  await eventually(
    () => countOf('books'),
    (count) => count >= 1,
  );
  service.jumpADay();
  await eventually(
    async () => (await service.clientWith(key.key).get('/account')).status,
    (status) => status === 401,
  );
  sending.end(line('c'));
  expect((await answer).status).toBe(401);
});

it('A record is not written if the key was deleted before its body was there', async () => {
  await service.client.post('/list/default', { name: 'games' });
  const key = await service.createKey({ access: 'full' });
  const { sending, answer } = begin('POST', '/search-result/default/games', key, 'application/json');
  sending.write('{"name": "a",');
  // The key was looked at when it is known to be used.
  const used = async () => {
    const { keys } = (await service.control().get('/api-key/default')).body as {
      keys: readonly { readonly id: string; readonly last_used_utc: string | null }[];
    };
    return keys.find(({ id }) => id === key.id)?.last_used_utc;
  };
  await eventually(used, (at) => typeof at === 'string');
  await remove(key);
  sending.end('"fields": {}}');
  expect((await answer).status).toBe(401);
  expect(await countOf('games')).toBe(0);
});

it('A bulk call with the key of a group is refused once the list has left the group', async () => {
  await service.client.post('/list/default', { name: 'maps' });
  await service.client.post('/list-group/default', { name: 'all', lists: [{ list: 'maps' }] });
  const key = await service.createKey({ access: 'full', scope: 'group', scope_target: 'all' });
  const { sending, answer } = begin('POST', '/search-result/default/maps/bulk', key, 'application/x-ndjson');
  sending.write(line('a') + line('b'));
  await eventually(
    () => countOf('maps'),
    (count) => count >= 1,
  );
  expect((await service.client.put('/list-group/default/all', { lists: [] })).status).toBe(200);
  sending.end(line('c'));
  expect(await answer).toMatchObject({ status: 403, text: expect.stringContaining('out-of-scope') as string });
  expect(await countOf('maps')).toBeLessThanOrEqual(2);
});
