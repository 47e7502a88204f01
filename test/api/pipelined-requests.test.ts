import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.js';

const LIST = '/search/default/late/1?query=blue&highlight=false';
const CLIENTS = 8;
/** Of a hundred such clients, one or two met the moment at which the service used to crash (docs/decisions/0284). */
const ROUNDS = 20;
/** More characters than an answer has. */
const END_CHARACTERS = 16_384;
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

interface Answered {
  /** The id of the request; undefined if the library answered by itself. */
  readonly id: string | undefined;
  readonly query: string | undefined;
}

/** Returns the answers that arrived completely. */
function answersOf(text: string): readonly Answered[] {
  const answers: Answered[] = [];
  for (let begin = 0; ;) {
    const bodyBegin = text.indexOf('\r\n\r\n', begin) + 4;
    const head = text.slice(begin, bodyBegin);
    const bytes = Number(/^Content-Length: (\d+)\r$/m.exec(head)?.[1] ?? Number.NaN);
    if (bodyBegin < 4 || !(bodyBegin + bytes <= text.length)) return answers;
    const [, query] = /^\{"query_id":"([0-9a-f-]{36})"/.exec(text.slice(bodyBegin, bodyBegin + 60)) ?? [];
    answers.push({ id: /^X-Request-Id: (.*)\r$/m.exec(head)?.[1], query });
    begin = bodyBegin + bytes;
  }
}

const askedFor = (count: number) => Array.from({ length: count }, (_, index) => `asked-${index}`);

/**
 * Sends this number of requests at once and reads with pauses, until the last answer has arrived or the connection
 * ends.
 */
async function askedAndRead(count: number, fitMs: () => number): Promise<readonly Answered[]> {
  const { hostname, port } = new URL(service.address);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const chunks: string[] = [];
  await new Promise<void>((resolve) => {
    const lastId = askedFor(count).at(-1) ?? '';
    let end = '';
    let pieces = 0;
    socket
      // The service closes the connection of a client that sends more than it reads.
      .on('error', () => undefined)
      .once('close', () => resolve())
      .setEncoding('latin1')
      .on('data', (chunk: string) => {
        chunks.push(chunk);
        end = (end + chunk).slice(-END_CHARACTERS);
        const last = end.slice(end.lastIndexOf('HTTP/1.1 '));
        if (last.includes(`: ${lastId}\r`) && answersOf(last).length === 1) resolve();
        else if (++pieces % 3 === 0) readLater();
      });
    const readLater = () => {
      socket.pause();
      setTimeout(() => socket.resume(), fitMs());
    };
    readLater();
    socket.write(requests(count, LIST, service.client.key));
  });
  socket.destroy();
  return answersOf(chunks.join(''));
}

it('Requests that arrive in one piece are answered in order, each with its own query_id', async () => {
  await service.client.get(LIST);
  const count = 256;
  const answers = await askedAndRead(count, () => 0);
  expect(answers.map(({ id }) => id)).toEqual(askedFor(count));
  expect(new Set(answers.map(({ query }) => query)).size).toBe(count);
});

it('The service survives clients that send more than they read, and mixes up no answers', async () => {
  await service.client.get(LIST);
  const { pid } = service;
  for (let round = 0; round < ROUNDS; ++round) {
    let turn = round;
    const fitMs = () => ((turn += 7) * 13) % 40;
    const clients = await Promise.all(Array.from({ length: CLIENTS }, () => askedAndRead(REQUESTS, fitMs)));
    for (const answers of clients) {
      // The library itself answers a request line that arrived in two pieces, without an id (docs/http.md).
      const own = answers.filter(({ id }) => id !== undefined);
      expect(own.length).toBeGreaterThan(0);
      expect(own.map(({ id }) => id)).toEqual(askedFor(own.length));
      expect(new Set(own.map(({ query }) => query)).size).toBe(own.length);
    }
  }
  expect((await service.clientWith(undefined).get('/health')).status).toBe(200);
  expect(service.pid).toBe(pid);
});
