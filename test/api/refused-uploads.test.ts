/**
 * Tests requests that are refused before their bodies have arrived, with clients that send everything before they
 * read: each gets its complete answer, and the connection is closed afterwards if the answer said so. A connection
 * closed while its client sends would lose the answer to a reset.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { startTestService, type TestService } from '../support/service.js';

const CLIENTS = 8;
const MB = 1_000_000;

/** Longer than the library waits for a client that sends nothing. */
const STALL_MS = 14_000;

let service: TestService;
let key: string;
/** The answer to a client that pauses while it sends, in parallel with all others. */
let stalled: Promise<string>;
beforeAll(async () => {
  service = await startTestService();
  ({ key } = await service.createKey({ access: 'full' }));
  await service.client.post('/list/default', { name: 'films' });
  const type = 'application/x-ndjson';
  const upload = { path: '/nothing/here', type, bytes: 3 * MB, headers: ['Connection: close'] };
  stalled = answerOf({ ...upload, stallMs: STALL_MS });
});
afterAll(() => service.close());

interface Upload {
  readonly path: string;
  readonly type: string;
  readonly bytes: number;
  readonly headers: readonly string[];
  /** How long it pauses before it sends the last megabyte. */
  readonly stallMs?: number;
}

/** Returns what a client reads that looks for an answer only after all is sent, until its connection is closed. */
async function answerOf({ path, type, bytes, headers, stallMs }: Upload): Promise<string> {
  const socket = connect(Number(new URL(service.address).port), '127.0.0.1')
    .setEncoding('utf8')
    .pause();
  const isChunked = headers.includes('Transfer-Encoding: chunked');
  const head = [
    ...[`POST ${path} HTTP/1.1`, 'Host: localhost', `Content-Type: ${type}`, ...headers],
    ...(isChunked ? [] : [`Content-Length: ${bytes}`]),
  ];
  let answer = '';
  socket.on('data', (text: string) => (answer += text)).pause();
  socket.on('error', (error) => (answer += error.message));
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  const piece = Buffer.alloc(MB, 'a');
  for (let sent = 0; sent < bytes; sent += MB) {
    if (stallMs !== undefined && sent + MB === bytes) await wait(stallMs);
    if (isChunked) socket.write(`${MB.toString(16)}\r\n`);
    socket.write(piece);
    if (isChunked) socket.write('\r\n');
  }
  socket.write(isChunked ? '0\r\n\r\n' : '', () => socket.resume());
  await closed;
  return answer;
}

/** Checks that the answer is one problem document; `length` is 0 if it has the announced length. */
function problemOf(answer: string): { readonly code: string; readonly length: number } {
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1\.1 4\d\d /u);
  expect(head).toContain('Connection: close');
  const length = Number(/^content-length: (\d+)$/imu.exec(head)?.[1]);
  const { code } = JSON.parse(body) as { code: string };
  return { code, length: Buffer.byteLength(body) - length };
}

describe.each([
  ['says that it will close the connection', ['Connection: close'], [3 * MB, 40 * MB]],
  ['keeps it, and sends more than is worth that', [], [40 * MB]],
  ['sends chunks, and keeps it', ['Transfer-Encoding: chunked'], [40 * MB]],
] as const)('a client that %s', (_what, headers, sizes) => {
  const cases = sizes.flatMap((bytes) => [
    [bytes, 'has no key', 'invalid-key', '/search-result/default/films/bulk', false],
    [bytes, 'names no operation', 'not-found', '/nothing/here', true],
    [bytes, 'sends more than is taken', 'body-too-large', '/search/default/films/1', true],
    [bytes, 'names no list', 'list-not-found', '/search-result/default/none/bulk', true],
  ] as const); // prettier-ignore
  it.each(cases)('of %i bytes, and that %s, gets the whole refusal', async (bytes, _why, code, path, hasKey) => {
    const type = path === '/search/default/films/1' ? 'application/json' : 'application/x-ndjson';
    const upload = { path, type, bytes, headers: hasKey ? [...headers, `X-API-Key: ${key}`] : headers };
    const answers = await Promise.all(Array.from({ length: CLIENTS }, () => answerOf(upload)));
    for (const answer of answers) expect(problemOf(answer)).toEqual({ code, length: 0 });
  });
});

it('A client that pauses for longer than the library waits gets its answer as well', async () => {
  expect(problemOf(await stalled)).toEqual({ code: 'not-found', length: 0 });
});

describe('a body that stops coming', () => {
  let strict: TestService;
  beforeAll(async () => {
    strict = await startTestService({ env: { GANNET_SERVER_BODY_IDLE_SECONDS_MAX: '1' } });
    await strict.client.post('/list/default', { name: 'films' });
  });
  afterAll(() => strict.close());

  it('is answered 408, even if the client sends more before it reads', async () => {
    const { key: own } = await strict.createKey({ access: 'full' });
    const socket = connect(Number(new URL(strict.address).port), '127.0.0.1')
      .setEncoding('utf8')
      .pause();
    let answer = '';
    socket.on('data', (text: string) => (answer += text)).on('error', (error) => (answer += error.message));
    socket.write(
      `POST /search-result/default/films/bulk HTTP/1.1\r\nHost: x\r\nX-API-Key: ${own}\r\nContent-Type: application/x-ndjson\r\nContent-Length: ${4 * MB}\r\n\r\n{`,
    );
    await eventually(
      async () => (await strict.clientWith(undefined).get('/metrics')).text,
      (text) => /requests_total\{[^}]*status="408"\} 1/.test(text),
    );
    const piece = Buffer.alloc(MB, 'a');
    for (let sent = 0; sent < 3; sent += 1) await new Promise((resolve) => socket.write(piece, resolve));
    socket.resume();
    await once(socket, 'close');
    expect(problemOf(answer)).toEqual({ code: 'body-too-slow', length: 0 });
  });
});

/** Far more than what is discarded, and what fits into buffers. */
const ENDLESS_MB = 1024;

it('A client that never reads and never stops sending is disconnected', async () => {
  const socket = connect(Number(new URL(service.address).port), '127.0.0.1').pause();
  socket.on('error', () => undefined);
  socket.write('POST /nothing/here HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n');
  const chunk = Buffer.concat([Buffer.from(`${MB.toString(16)}\r\n`), Buffer.alloc(MB, 'a'), Buffer.from('\r\n')]);
  let [sent, isOver] = [0, false];
  while (!isOver && sent < ENDLESS_MB) {
    isOver = await new Promise<boolean>((resolve) => {
      socket.write(chunk, (error) => resolve(error instanceof Error));
    });
    sent += 1;
  }
  expect(sent).toBeGreaterThan(250);
  expect(sent).toBeLessThan(ENDLESS_MB);
});
