/** Tests the progress of jobs as events over real connections. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { startTestService, type TestService } from '../support/service.js';

let service: TestService;
let key: string;
beforeAll(async () => {
  // A stream that delayed the stop would be given longer than the test waits for it.
  service = await startTestService({ env: { GANNET_SERVER_SHUTDOWN_SECONDS: '600' } });
  ({ key } = await service.createKey({ access: 'full' }));
  await service.client.post('/list/default', { name: 'birds', searchable_fields: [{ name: 'title' }] });
  const records = Array.from({ length: 20_000 }, (_, index) => ({ name: `b${index}`, title: `bird no. ${index}` }));
  await service.client.bulk('default', 'birds', records);
  await untilNothingRuns();
});
afterAll(async () => {
  await service.close();
});

const untilNothingRuns = () =>
  eventually(
    async () => (await service.client.get('/progress/default')).body as { readonly jobs: readonly Job[] },
    ({ jobs }) => jobs.length === 0,
  );

interface Job {
  readonly kind: string;
  readonly name: string;
  readonly done?: number;
}

/** Yields the jobs of each event until the stream ends. */
async function* events(signal: AbortSignal, by = key): AsyncGenerator<readonly Job[]> {
  const response = await fetch(`${service.address}/progress/default/events`, {
    headers: { 'X-API-Key': by },
    signal,
  });
  expect(response.headers.get('Content-Type')).toBe('text/event-stream');
  expect(response.headers.get('Cache-Control')).toBe('no-store');
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    const parts = text.split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) {
      const data = /^event: jobs\ndata: (.*)$/m.exec(part)?.[1];
      if (data !== undefined) yield (JSON.parse(data) as { jobs: Job[] }).jobs;
    }
  }
}

it('Events report a version that is built, and that it is finished', async () => {
  const ended = new AbortController();
  const told: (readonly Job[])[] = [];
  for await (const jobs of events(ended.signal)) {
    told.push(jobs);
    if (told.length === 1) {
      const answer = await service.client.post('/facet/default/birds', { name: 'kind', type: 'string' });
      expect(answer.status).toBe(201);
    }
    if (told.length > 1 && jobs.length === 0) break;
  }
  expect(told[0]).toEqual([]);
  expect(told[1]).toMatchObject([{ kind: 'version', name: 'birds' }]);
});

it('Events report an import by any caller, until no more of it comes', async () => {
  await untilNothingRuns();
  const told: (readonly Job[])[] = [];
  for await (const jobs of events(new AbortController().signal)) {
    told.push(jobs);
    if (told.length === 1) {
      const piece = Array.from({ length: 500 }, (_, index) => ({ name: `piece-${index}`, title: 'piece' }));
      await service.client.bulk('default', 'birds', piece);
    } else if (jobs.length === 0) {
      break;
    }
  }
  expect(told[0]).toEqual([]);
  expect(told[1]).toMatchObject([{ kind: 'import', name: 'birds', total: null }]);
  expect(told.at(-2)).toMatchObject([{ kind: 'import', name: 'birds', done: 500 }]);
});

it('The stream of events ends, and tells nothing more, once its key is deleted', async () => {
  await untilNothingRuns();
  const deleted = await service.createKey({ access: 'full' });
  const stream = events(new AbortController().signal, deleted.key);
  expect((await stream.next()).value).toEqual([]);
  expect(await service.control().delete(`/api-key/default/${deleted.id}`)).toMatchObject({ status: 204 });
  await service.client.bulk('default', 'birds', [{ name: 'late', title: 'late' }]);
  expect(await stream.next()).toEqual({ done: true, value: undefined });
});

it('The stream of events needs an API key, and HEAD answers without a body', async () => {
  expect((await fetch(`${service.address}/progress/default/events`)).status).toBe(401);
  const head = await fetch(`${service.address}/progress/default/events`, {
    method: 'HEAD',
    headers: { 'X-API-Key': key },
  });
  expect([head.status, await head.text()]).toEqual([200, '']);
});

it('Streams of disconnected clients free their places, a thousand are served at once, and more are refused', async () => {
  const leaving = new AbortController();
  // A response that is not referenced would be collected, and its connection closed.
  const held: Response[] = [];
  const open = async (signal: AbortSignal) => {
    const response = await fetch(`${service.address}/progress/default/events`, {
      headers: { 'X-API-Key': key },
      signal,
    });
    held.push(response);
    return response.status;
  };
  const statuses = await Promise.all(Array.from({ length: 1_000 }, () => open(leaving.signal)));
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(await open(new AbortController().signal)).toBe(503);
  expect((await service.client.post('/search/default/birds/2', { query: 'bird' })).status).toBe(200);
  leaving.abort();
  await expect.poll(() => open(AbortSignal.timeout(60_000)).catch(() => 0)).toBe(200);
  expect(held.length).toBeGreaterThan(1_000);
});

it('An open stream of events does not delay a stop', async () => {
  // An import by a client that has gone is told of for some seconds.
  await untilNothingRuns();
  const stream = events(new AbortController().signal);
  expect((await stream.next()).value).toEqual([]);
  expect(await service.stop()).toBe(0);
  await expect(stream.next()).rejects.toThrow();
  await service.start();
});

it('The metrics count the segments and versions of open lists', async () => {
  // After a start, a list is open once it was searched.
  expect((await service.client.post('/search/default/birds/2', { query: 'bird' })).status).toBe(200);
  const before = await service.metric('gannet_list_versions');
  expect(before).toBeGreaterThanOrEqual(1);
  expect(await service.metric('gannet_list_segments')).toBeGreaterThanOrEqual(1);
  await service.client.post('/list/default', { name: 'fish', searchable_fields: [{ name: 'title' }] });
  await service.client.bulk('default', 'fish', [{ name: 'cod', title: 'cod' }]);
  expect(await service.metric('gannet_list_versions')).toBe(before + 1);
  await expect.poll(() => service.metric('gannet_list_versions_building')).toBe(0);
});
