import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.js';

const LIST = '/search/default/late/1?query=blue&highlight=false';
const ANSWER_BYTES_MIN = 12_000;
const CLIENTS = 8;
const REQUESTS = 3000;
let service: TestService;
beforeAll(async () => {
  service = await startTestService({
    env: { GANNET_SEARCH_THREADS: '2', GANNET_SEARCH_RATE_PER_MINUTE: '1000000000', GANNET_LOG_LEVEL: 'warn' },
  });
  await service.client.post('/list/default', { name: 'late', searchable_fields: [{ name: 'text' }] });
  await service.client.bulk('default', 'late', [{ name: 'long', text: `blue ${'sea '.repeat(3000)}` }]);
});
afterAll(() => service.close());

function requests(count: number, path: string, key?: string): string {
  const withKey = key === undefined ? '' : `X-API-Key: ${key}\r\n`;
  const request = (_: unknown, index: number) =>
    `GET ${path} HTTP/1.1\r\nHost: test\r\n${withKey}X-Request-Id: asked-${index}\r\n\r\n`;
  return Array.from({ length: count }, request).join('');
}

function connected(): Promise<Socket> {
  const { hostname, port } = new URL(service.address);
  const socket = connect(Number(port), hostname);
  return once(socket, 'connect').then(() => socket);
}

interface Answered {
  readonly ids: readonly (string | undefined)[];
  readonly queries: readonly (string | undefined)[];
}

/** The answers that came whole. */
function answersOf(text: string): Answered {
  const ids: (string | undefined)[] = [];
  const queries: (string | undefined)[] = [];
  for (let begin = 0; ;) {
    const bodyBegin = text.indexOf('\r\n\r\n', begin) + 4;
    const head = text.slice(begin, bodyBegin);
    const bytes = Number(/^Content-Length: (\d+)\r$/m.exec(head)?.[1] ?? Number.NaN);
    if (bodyBegin < 4 || !(bodyBegin + bytes <= text.length)) return { ids, queries };
    ids.push(/^X-Request-Id: (.*)\r$/m.exec(head)?.[1]);
    queries.push(/^\{"query_id":"([0-9a-f-]{36})"/.exec(text.slice(bodyBegin, bodyBegin + 60))?.[1]);
    begin = bodyBegin + bytes;
  }
}

const askedFor = (count: number) => Array.from({ length: count }, (_, index) => `asked-${index}`);

it('answers requests that come in one piece in their order, each with a query_id of its own', async () => {
  await service.client.get(LIST);
  const count = 256;
  const socket = await connected();
  socket.write(requests(count, LIST, service.client.key));
  let text = '';
  for await (const chunk of socket.setEncoding('latin1') as AsyncIterable<string>) {
    text += chunk;
    if (answersOf(text.slice(-2 * ANSWER_BYTES_MIN)).ids.length === 0 && text.length < count * ANSWER_BYTES_MIN)
      continue;
    if (answersOf(text).ids.length === count) break;
  }
  socket.destroy();
  const { ids, queries } = answersOf(text);
  expect(ids).toEqual(askedFor(count));
  expect(new Set(queries).size).toBe(count);
});

/** Reads as far as the connection goes, by fits and starts. */
async function readByFits(socket: Socket, asked: string, fit: () => number): Promise<string> {
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk;
    if (text.length % 3 !== 0) return;
    socket.pause();
    setTimeout(() => socket.resume(), fit());
  });
  // The service ends the connection of a client that sends more than it reads.
  socket.on('error', () => undefined);
  socket.pause();
  socket.write(asked);
  await wait(fit());
  socket.resume();
  while (!socket.destroyed && answersOf(text.slice(-3 * ANSWER_BYTES_MIN)).ids.at(-1) !== 'last') {
    const before = text.length;
    await wait(200);
    if (text.length === before && !socket.isPaused()) break;
  }
  socket.destroy();
  return text;
}

it('outlives clients who send more than they read, and mixes up no answers', async () => {
  await service.client.get(LIST);
  const { pid } = service;
  const asked = requests(REQUESTS, LIST, service.client.key);
  for (let round = 0; round < 3; ++round) {
    let turn = round;
    const fit = () => ((turn += 7) * 13) % 40;
    const texts = await Promise.all(
      Array.from({ length: CLIENTS }, async () => readByFits(await connected(), asked, fit)),
    );
    for (const text of texts) {
      // The library answers a request line that came in two pieces by itself, without an id (docs/http.md).
      const { ids, queries } = answersOf(text);
      const own = ids.filter((id) => id !== undefined);
      expect(own.length).toBeGreaterThan(0);
      expect(own).toEqual(askedFor(own.length));
      expect(new Set(queries.slice(0, own.length)).size).toBe(own.length);
    }
  }
  expect((await service.clientWith(undefined).get('/health')).status).toBe(200);
  expect(service.pid).toBe(pid);
});
