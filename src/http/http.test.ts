import { mkdtempSync } from 'node:fs';
import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { Type } from 'typebox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Patience } from '../../test/support/patience.js';
import { openAccess, RateLimiter, type NewKey } from '../access/index.js';
import { openCatalog } from '../catalog/index.js';
import {
  createDispatcher,
  defineOperation,
  systemOperations,
  type Operation,
  type Services,
} from '../operations/index.js';
import {
  createRequestMemory,
  memoryBudget,
  openEnvironment,
  ServiceError,
  systemClock,
  type LmdbEnvironment,
  type RequestMemory,
  type Reservation,
  EventCatalogue,
} from '../platform/index.js';
import { createMetrics } from '../platform/metrics.js';
import { loadConfig } from '../platform/config.js';
import { createControlSocket, type ControlSocket } from './control-socket.js';
import { createRequestServer, type RequestServer } from './request-handler.js';
import { ConnectionRoom } from './connection-room.js';
import { ListenError } from './listening.js';
import { createHttpServer, type HttpServer } from './server.js';

const LOOK_INTERVAL_MS = 5;
const FREE = { permission: null, callers: ['key', 'console', 'cli'], target: 'none', params: Type.Object({}) } as const;
const BODY = Type.Object({ text: Type.String(), size: Type.Optional(Type.Integer()) }, { additionalProperties: false });
const OK = { 200: { description: '', schema: Type.Object({}) } };

/** What a stream operation saw, and a way to hold it back. */
let received = { bytes: 0, error: undefined as unknown };
let gate: Promise<void> = Promise.resolve();

const testOperations: readonly Operation[] = [
  defineOperation({
    ...FREE,
    name: 'test.echo',
    summary: '',
    method: 'POST',
    path: '/echo/{name}',
    params: Type.Object({ name: Type.String({ minLength: 1 }) }),
    query: Type.Object({ flag: Type.Optional(Type.Boolean()) }, { additionalProperties: false }),
    body: BODY,
    responses: OK,
    handle: (_context, { params, query, body }) => ({
      status: 200,
      body: { params, query, body },
      headers: { 'Server-Timing': 'worker;dur=1' },
    }),
  }),
  defineOperation({
    ...FREE,
    name: 'test.little',
    summary: '',
    method: 'POST',
    path: '/little',
    bodyBytesMax: 100,
    body: BODY,
    responses: OK,
    handle: () => ({ status: 200, body: {} }),
  }),
  defineOperation({
    ...FREE,
    name: 'test.slow',
    summary: '',
    method: 'GET',
    path: '/slow',
    responses: OK,
    handle: async ({ signal }) => {
      slowStarted += 1;
      let isOpen = false;
      void gate.then(() => (isOpen = true));
      while (!isOpen && !signal.aborted) await sleep(LOOK_INTERVAL_MS, undefined, { ref: false });
      received = { bytes: signal.aborted ? -1 : 0, error: undefined };
      return { status: 200, body: { done: true } };
    },
  }),
  defineOperation({
    ...FREE,
    name: 'test.stream',
    summary: '',
    method: 'POST',
    path: '/stream',
    body: { kind: 'stream', contentTypes: ['application/x-ndjson'] },
    responses: OK,
    handle: async (_context, { stream }) => {
      received = { bytes: 0, error: undefined };
      try {
        for await (const chunk of stream ?? []) {
          await gate;
          received.bytes += chunk.byteLength;
        }
      } catch (error) {
        received.error = error;
        throw error;
      }
      return { status: 200, body: { bytes: received.bytes } };
    },
  }),
  defineOperation({
    ...FREE,
    name: 'test.refuse',
    summary: '',
    method: 'POST',
    path: '/refuse',
    body: { kind: 'stream', contentTypes: ['application/x-ndjson'] },
    responses: OK,
    handle: () => {
      throw new ServiceError('conflict', 'Not now.', { retryAfterSeconds: 7 });
    },
  }),
  defineOperation({
    ...FREE,
    name: 'test.fail',
    summary: '',
    method: 'GET',
    path: '/fail',
    responses: OK,
    handle: () => Promise.reject(new Error('secret internals at /etc/passwd')),
  }),
  defineOperation({
    ...FREE,
    name: 'test.large',
    summary: '',
    method: 'GET',
    path: '/large',
    responses: OK,
    handle: () => ({ status: 200, body: new Uint8Array(20_000_000).fill(0x31) }),
  }),
  defineOperation({
    ...FREE,
    name: 'test.gone',
    summary: '',
    method: 'DELETE',
    path: '/echo/{name}',
    params: Type.Object({ name: Type.String() }),
    responses: { 204: { description: '', schema: null } },
    handle: () => ({ status: 204 }),
  }),
];

/** Calls of `test.slow` that have begun. */
let slowStarted = 0;
let environment: LmdbEnvironment;
let services: Services;
let requestMemory: RequestMemory;
let requests: RequestServer;
let server: HttpServer;
let control: ControlSocket;
let controlPath: string;
let port: number;
let key: string;
let ready: boolean;
let logged: string;

const NEW_KEY: NewKey = {
  account: 'default',
  name: 'tester',
  scope: 'account',
  scope_target: null,
  region: 'eu',
  permissions: [],
  expires_at: null,
};

beforeEach(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-http-'));
  environment = openEnvironment(join(folder, 'system'), { kind: 'system' });
  const catalog = await openCatalog(environment, systemClock);
  const access = await openAccess(environment, systemClock);
  await catalog.createAccount('default', 'eu');
  key = (await access.createKey(NEW_KEY)).secret;
  ready = true;
  slowStarted = 0;
  gate = Promise.resolve();
  logged = '';
  const config = loadConfig({
    argv: [],
    env: { GANNET_LIMITS_JSON_BODY_BYTES_MAX: '1024', GANNET_LIMITS_BULK_BODY_BYTES_MAX: '50000000' },
  });
  const metrics = createMetrics();
  const log = pino(
    { level: 'info' },
    new Writable({ write: (chunk, _encoding, done) => ((logged += String(chunk)), done()) }),
  );
  requestMemory = createRequestMemory(memoryBudget(config));
  services = {
    config,
    log,
    clock: systemClock,
    catalog,
    access,
    permissions: undefined as never,
    events: new EventCatalogue(),
    indexes: undefined as never,
    searchPool: undefined as never,
    answerCache: undefined as never,
    runningChanges: new Map(),
    requestMemory,
    synonymCandidates: undefined as never,
    part: () => undefined as never,
    forget: () => Promise.resolve(true),
    secrets: undefined as never,
    progress: undefined as never,
    searchLimiter: new RateLimiter({ limit: 10, windowMs: 60_000 }, systemClock),
    readOnlyKeyLimiter: new RateLimiter({ limit: 10, windowMs: 60_000 }, systemClock),
    operations: [...systemOperations, ...testOperations],
    metrics: () => metrics.text(),
    ready: () => ready,
    storage: () => Promise.resolve({ kind: 'writable' }),
    databases: () => Promise.resolve({ unreadable: [], setAside: [] }),
  };
  requests = createRequestServer({
    services,
    dispatcher: createDispatcher(services),
    metrics,
    openSite: () => Promise.reject(new Error('There is no site here')),
  });
  server = createHttpServer({
    handle: requests.handle,
    host: '127.0.0.1',
    port: 0,
    answers: requestMemory.answers,
    bodyIdleMsMax: 60_000,
    visitors: { publicUrl: '', trustedProxies: [] },
    connections: new ConnectionRoom(() => undefined),
  });
  port = await server.listen();
  controlPath = join(folder, 'control.sock');
  control = createControlSocket(controlPath, requests.handle);
  await control.listen();
});

afterEach(async () => {
  await server.close(100);
  await control.close();
  await environment.close();
});

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly json: unknown;
}

interface Sent {
  readonly headers?: Record<string, string | number>;
  readonly body?: string | Buffer | readonly Buffer[];
  readonly agent?: Agent;
  readonly socketPath?: string;
}

function send(method: string, path: string, { headers = {}, body, agent, socketPath }: Sent = {}): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const where = socketPath === undefined ? { host: '127.0.0.1', port } : { socketPath };
    const all = { ...(socketPath === undefined ? { 'X-API-Key': key } : {}), ...headers };
    const sent = httpRequest(
      { ...where, method, path, headers: all, ...(agent === undefined ? {} : { agent }) },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', (chunk) => (text += String(chunk)));
        answer.on('error', reject);
        answer.on('end', () => {
          const json = text.startsWith('{') ? (JSON.parse(text) as unknown) : undefined;
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text, json });
        });
      },
    );
    sent.on('error', reject);
    if (Array.isArray(body)) {
      for (const part of body) sent.write(part);
      sent.end();
    } else {
      sent.end(body as string | Buffer | undefined);
    }
  });
}

const JSON_HEADER = { 'Content-Type': 'application/json' };
const NDJSON_HEADER = { 'Content-Type': 'application/x-ndjson' };
const problem = (code: string, status: number) => ({ status, json: { code, status, type: `/problems/${code}` } });

describe('answers', () => {
  it('carries input to the operation and its answer back', async () => {
    const answer = await send('POST', '/echo/caf%C3%A9?flag=TRUE', { headers: JSON_HEADER, body: '{"text":"näive"}' });
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({ params: { name: 'café' }, query: { flag: true }, body: { text: 'näive' } });
    expect(answer.headers).toMatchObject({ 'content-type': 'application/json', 'server-timing': 'worker;dur=1' });
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('echoes a good request id and makes one for any other', async () => {
    expect((await send('GET', '/health', { headers: { 'X-Request-Id': 'trace-1/2' } })).headers['x-request-id']).toBe(
      'trace-1/2',
    );
    for (const bad of ['a b', 'x'.repeat(200), '<script>']) {
      expect((await send('GET', '/health', { headers: { 'X-Request-Id': bad } })).headers['x-request-id']).toMatch(
        /^[0-9a-f-]{36}$/,
      );
    }
  });

  it('answers HEAD like GET, without the body', async () => {
    const head = await send('HEAD', '/health');
    expect(head).toMatchObject({ status: 200, text: '' });
    expect(head.headers['content-length']).toBe(String('{"status":"ok"}'.length));
  });

  it('answers 204 without a body', async () => {
    const answer = await send('DELETE', '/echo/x');
    expect(answer).toMatchObject({ status: 204, text: '' });
    expect(answer.headers['content-type']).toBeUndefined();
  });

  it('sends large answers whole, to slow readers too', async () => {
    expect((await send('GET', '/large')).text).toHaveLength(20_000_000);
  });

  it('names what it does not know', async () => {
    expect(await send('GET', '/nothing')).toMatchObject(problem('not-found', 404));
    const wrong = await send('PUT', '/echo/x', { headers: JSON_HEADER, body: '{}' });
    expect(wrong).toMatchObject(problem('method-not-allowed', 405));
    expect(wrong.headers.allow).toBe('DELETE, OPTIONS, POST');
    expect(wrong.headers['content-type']).toBe('application/problem+json');
    expect(await send('OPTIONS', '/echo/x')).toMatchObject({
      status: 204,
      headers: { allow: 'DELETE, OPTIONS, POST' },
    });
  });

  it('asks for a key everywhere but at the public operations', async () => {
    for (const header of ['', 'gnt_eu_wrong', 'x'.repeat(5000)]) {
      expect(await send('GET', '/slow', { headers: { 'X-API-Key': header } })).toMatchObject(
        problem('invalid-key', 401),
      );
    }
    for (const path of ['/health', '/ready', '/metrics', '/openapi.json']) {
      expect((await send('GET', path, { headers: { 'X-API-Key': '' } })).status).toBe(200);
    }
  });

  it('shows nothing of an unexpected error, and logs it', async () => {
    const answer = await send('GET', '/fail', { headers: { 'X-Request-Id': 'find-me' } });
    expect(answer).toMatchObject(problem('internal-error', 500));
    expect(answer.text).toContain('find-me');
    expect(answer.text).not.toContain('secret');
    expect(logged).toContain('secret internals');
  });

  it('logs one line a request, without key, path or query string', async () => {
    await send('POST', '/echo/hidden-path?flag=true', { headers: JSON_HEADER, body: '{"text":"hidden-body"}' });
    const lines = logged.trim().split('\n');
    expect(lines).toHaveLength(1);
    const line = JSON.parse(lines[0] ?? '') as Record<string, unknown>;
    expect(line).toMatchObject({
      key: 'tester',
      account: 'default',
      operation: 'test.echo',
      method: 'POST',
      status: 200,
    });
    for (const secret of [key, key.slice(8, 20), 'hidden', 'flag']) expect(logged).not.toContain(secret);
  });

  it('serves nothing but public operations before it is ready', async () => {
    ready = false;
    expect(await send('GET', '/slow')).toMatchObject({ ...problem('not-ready', 503), headers: { 'retry-after': '1' } });
    expect((await send('GET', '/ready')).status).toBe(503);
    expect((await send('GET', '/health')).status).toBe(200);
  });
});

describe('bodies', () => {
  const echo = (body: string | Buffer | readonly Buffer[], headers: Record<string, string | number> = JSON_HEADER) =>
    send('POST', '/echo/x', { headers, body });

  it('reads chunked and plain bodies', async () => {
    expect((await echo([Buffer.from('{"text":'), Buffer.from('"a"}')])).status).toBe(200);
    expect((await echo('{"text":"a"}')).status).toBe(200);
  });

  it('reads a small one in as many pieces as it comes in, and gives up when its client leaves in between', async () => {
    const body = '{"text":"näive"}';
    const bytes = Buffer.from(body);
    const head = `POST /echo/x HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: ${bytes.length}\r\n\r\n`;
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    let answers = '';
    socket.on('data', (data) => (answers += data.toString()));
    for (let cut = 0; cut < bytes.length; cut += 1) {
      socket.write(Buffer.concat([Buffer.from(head), bytes.subarray(0, cut)]));
      // What arrived is being waited for.
      await expect.poll(() => requestMemory.bodies.usedBytes).toBe(bytes.length);
      socket.write(bytes.subarray(cut));
      await expect.poll(() => answers.split(JSON.stringify({ text: 'näive' })).length - 1).toBe(cut + 1);
      expect(requestMemory.bodies.usedBytes).toBe(0);
    }
    socket.write(Buffer.concat([Buffer.from(head), bytes.subarray(0, 3)]));
    await expect.poll(() => requestMemory.bodies.usedBytes).toBe(bytes.length);
    socket.destroy();
    await expect.poll(() => logged).toContain('"status":499');
    expect(requestMemory.bodies.usedBytes).toBe(0);
  });

  it('refuses what is no good JSON, with its place', async () => {
    expect(await echo('{"text":\n "a",}')).toMatchObject({
      json: { code: 'malformed-json', detail: expect.stringContaining('line 2, column 6') as string },
    });
    expect(await echo(Buffer.from([0x22, 0xff, 0x22]))).toMatchObject(problem('malformed-json', 400));
    expect(await echo('{"text":"a","text":"b"}')).toMatchObject(problem('malformed-json', 400));
    expect(await echo('{"__proto__":{}}')).toMatchObject(problem('malformed-json', 400));
    expect(await echo('')).toMatchObject(problem('invalid-parameter', 400));
    expect(await echo('{"text":"a"}', { 'Content-Type': 'text/plain' })).toMatchObject(
      problem('unsupported-media-type', 415),
    );
    expect(await echo('{"text":"a"}', {})).toMatchObject(problem('unsupported-media-type', 415));
  });

  it('names every fault and what was meant', async () => {
    const answer = await send('POST', '/echo/x?flog=1', { headers: JSON_HEADER, body: '{"txt":1,"size":1.5}' });
    expect(answer).toMatchObject(problem('invalid-parameter', 400));
    expect((answer.json as { errors: unknown[] }).errors).toEqual([
      { parameter: 'flog', detail: "Unknown option 'flog'. Did you mean 'flag'?" },
      { pointer: '/text', detail: 'The member is required.' },
      { pointer: '/txt', detail: "Unknown member 'txt'. Did you mean 'text'?" },
      { pointer: '/size', detail: 'Must be an integer, not 1.5.' },
    ]);
  });

  it('refuses a body where none is taken', async () => {
    expect(
      await send('DELETE', '/echo/x', { headers: { ...JSON_HEADER, 'Content-Length': 2 }, body: '{}' }),
    ).toMatchObject(problem('invalid-parameter', 400));
  });

  it('refuses a large one where none is taken, keeps nothing of it, and the connection goes on', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const body = Buffer.alloc(10_485_760);
    for (const headers of [{ 'X-API-Key': '' }, {}]) {
      const refused = await send('GET', '/health', {
        agent,
        headers: { ...headers, 'Content-Length': body.length },
        body,
      });
      expect(refused).toMatchObject(problem('invalid-parameter', 400));
    }
    expect(requestMemory.bodies.usedBytes).toBe(0);
    expect((await send('GET', '/health', { agent })).status).toBe(200);
    agent.destroy();
  });

  it('takes an empty one in pieces where none is taken, and no more', async () => {
    const pieces = { 'Transfer-Encoding': 'chunked' };
    expect((await send('DELETE', '/echo/x', { headers: pieces, body: [] })).status).toBe(204);
    expect(await send('DELETE', '/echo/x', { headers: pieces, body: [Buffer.from('x')] })).toMatchObject(
      problem('invalid-parameter', 400),
    );
  });

  it('has a limit for each operation, below that of the settings', async () => {
    expect((await send('POST', '/little', { headers: JSON_HEADER, body: `{"text":"${'x'.repeat(88)}"}` })).status).toBe(
      200,
    );
    expect(
      await send('POST', '/little', { headers: JSON_HEADER, body: `{"text":"${'x'.repeat(100)}"}` }),
    ).toMatchObject(problem('body-too-large', 413));
  });

  it('waits for room that others take, and gives back its own', async () => {
    const { bodies } = requestMemory;
    const taken: Reservation[] = [];
    for (let next; (next = bodies.tryReserve(1024)) !== undefined;) taken.push(next);
    const waiting = echo('{"text":"a"}');
    await expect.poll(() => requestMemory.bodies.waiting).toBe(1);
    for (const each of taken) each.release();
    expect((await waiting).status).toBe(200);
    expect(requestMemory.bodies.usedBytes).toBe(0);
  });

  it('refuses large bodies at once when they are announced and as soon as they show otherwise', async () => {
    expect(await echo(Buffer.alloc(2000))).toMatchObject(problem('body-too-large', 413));
    expect(await echo([Buffer.alloc(900), Buffer.alloc(900)])).toMatchObject(problem('body-too-large', 413));
    // None of the body is ever sent: without this answer the test would not end.
    const early = await new Promise<string>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.write(
          `POST /echo/x HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: 999999\r\n\r\n`,
        );
      });
      socket.on('data', (data) => {
        resolve(data.toString());
        socket.destroy();
      });
    });
    expect(early).toContain('413');
  });

  it('refuses before it reads where the key is wrong, and the connection goes on', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const refused = await send('POST', '/echo/x', {
      agent,
      headers: { ...JSON_HEADER, 'X-API-Key': 'no' },
      body: '{"bad',
    });
    expect(refused).toMatchObject(problem('invalid-key', 401));
    expect((await send('POST', '/echo/x', { agent, headers: JSON_HEADER, body: '{"text":"a"}' })).status).toBe(200);
    agent.destroy();
  });
});

describe('streams', () => {
  it('arrive whole', async () => {
    const body = Array.from({ length: 40 }, () => Buffer.alloc(500_000, 0x31));
    expect((await send('POST', '/stream', { headers: NDJSON_HEADER, body })).json).toEqual({ bytes: 20_000_000 });
    const length = { 'Content-Length': 20_000_000 };
    expect((await send('POST', '/stream', { headers: { ...NDJSON_HEADER, ...length }, body })).json).toEqual({
      bytes: 20_000_000,
    });
  });

  it('wait for the one who takes them', async () => {
    let open = (): void => undefined;
    gate = new Promise((resolve) => (open = resolve));
    const body = Buffer.alloc(48_000_000, 0x31);
    let written = false;
    const answer = new Promise<string>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.write(
          `POST /stream HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/x-ndjson\r\nContent-Length: ${body.length}\r\n\r\n`,
        );
        socket.write(body, () => (written = true));
      });
      socket.on('data', (data) => {
        resolve(data.toString());
        socket.destroy();
      });
    });
    await sleep(500);
    expect(written).toBe(false);
    expect(received.bytes).toBe(0);
    open();
    expect(await answer).toContain('"bytes":48000000');
    await expect.poll(() => written).toBe(true);
  });

  it('that are paused, or have ended behind a pause, are answered however long their taker needs', async () => {
    let open = (): void => undefined;
    gate = new Promise((resolve) => (open = resolve));
    const piece = Buffer.concat([Buffer.from('2710\r\n'), Buffer.alloc(10_000, 0x31), Buffer.from('\r\n')]);
    const head = `POST /stream HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const uploads = [60, 100].map((pieces) => {
      const upload = { answer: '', isClosed: false };
      const body = [Buffer.from(head), ...Array.from({ length: pieces }, () => piece), Buffer.from('0\r\n\r\n')];
      const socket = connect(port, '127.0.0.1', () => socket.write(Buffer.concat(body)));
      socket
        .on('data', (data) => {
          upload.answer += String(data);
          socket.destroy();
        })
        .on('error', () => undefined)
        .on('close', () => (upload.isClosed = true));
      return upload;
    });
    // The library's own patience has ended when it closes one that says nothing.
    for (let count = 0; count < 2; count += 1)
      await new Promise((resolve) => connect(port, '127.0.0.1').on('close', resolve).resume());
    for (const { answer, isClosed } of uploads) expect([answer, isClosed]).toEqual(['', false]);
    open();
    for (const upload of uploads) await expect.poll(() => upload.answer).toMatch(/"bytes":\d+/);
  });

  it('end in an error when the client goes away', async () => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(
        `POST /stream HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/x-ndjson\r\nContent-Length: 1000\r\n\r\nabc`,
      );
    });
    await expect.poll(() => received.bytes).toBe(3);
    socket.destroy();
    await expect.poll(() => received.error).toMatchObject({ name: 'ClientGone' });
    await expect.poll(() => logged).toContain('"status":499');
  });

  it('are refused above their limit, of the wrong type, or by the operation, while they come', async () => {
    const large = Array.from({ length: 110 }, () => Buffer.alloc(500_000));
    expect((await send('POST', '/stream', { headers: NDJSON_HEADER, body: large })).status).toBe(413);
    expect(await send('POST', '/stream', { headers: JSON_HEADER, body: '{}' })).toMatchObject(
      problem('unsupported-media-type', 415),
    );
    expect(await send('POST', '/refuse', { headers: NDJSON_HEADER, body: 'a\n' })).toMatchObject({
      ...problem('conflict', 409),
      headers: { 'retry-after': '7' },
    });
  });
});

describe('clients that go away', () => {
  it('abort the signal of their request', async () => {
    gate = new Promise(() => undefined);
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(`GET /slow HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n\r\n`);
    });
    await expect.poll(() => slowStarted).toBe(1);
    socket.destroy();
    await expect.poll(() => received.bytes).toBe(-1);
    expect((await send('GET', '/health')).status).toBe(200);
  });
});

describe('stopping', () => {
  it('finishes what is in flight and refuses what is new', async () => {
    let open = (): void => undefined;
    gate = new Promise((resolve) => (open = resolve));
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    await send('GET', '/health', { agent });
    const slow = send('GET', '/slow');
    await expect.poll(() => slowStarted).toBe(1);
    server.stopListening();
    const drained = requests.drain(60_000);
    const refused = await send('GET', '/health', { agent });
    expect(refused).toMatchObject({ ...problem('shutting-down', 503), headers: { connection: 'close' } });
    open();
    await drained;
    const closed = server.close(60_000);
    expect(await slow).toMatchObject({ status: 200, json: { done: true } });
    await closed;
    await expect(send('GET', '/health')).rejects.toThrow(/ECONNREFUSED|hang up/);
    agent.destroy();
  });

  it('waits no longer than it is told', async () => {
    gate = new Promise(() => undefined);
    const slow = send('GET', '/slow').catch((error: unknown) => (error as Error).message);
    await expect.poll(() => slowStarted).toBe(1);
    // The request would wait for ever, and so would these without their limits.
    await requests.drain(200);
    await server.close(100);
    expect(await slow).toMatch(/hang up|ECONNRESET/);
  });

  it('does not wait for who was refused, sends no more and does not leave', async () => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => {
      socket.write('POST /nothing/here HTTP/1.1\r\nHost: x\r\nContent-Length: 300000000\r\n\r\nabc');
    });
    socket.on('data', (data) => (answer += String(data)));
    await expect.poll(() => answer).toContain('404 Not Found');
    // The library would end the connection after 8 to 12 s, in which this process may stand still for some.
    const patience = new Patience(7000);
    let isClosed = false;
    const closing = server.close(60_000).finally(() => (isClosed = true));
    while (!isClosed && !patience.isOver()) await sleep(10);
    expect(isClosed).toBe(true);
    await closing;
    socket.destroy();
  });
});

describe('listening', () => {
  it('says so when the port is taken', async () => {
    const second = createHttpServer({
      handle: requests.handle,
      host: '127.0.0.1',
      port,
      answers: requestMemory.answers,
      bodyIdleMsMax: 60_000,
      visitors: { publicUrl: '', trustedProxies: [] },
      connections: new ConnectionRoom(() => undefined),
    });
    await expect(second.listen()).rejects.toThrow(ListenError);
  });
});

describe('the control socket', () => {
  it('serves the same operations without a key', async () => {
    const answer = await send('POST', '/echo/x', {
      socketPath: controlPath,
      headers: JSON_HEADER,
      body: '{"text":"a"}',
    });
    expect(answer.json).toMatchObject({ body: { text: 'a' } });
    expect(await send('POST', '/echo/x', { socketPath: controlPath, headers: JSON_HEADER, body: '{' })).toMatchObject(
      problem('malformed-json', 400),
    );
    const body = Array.from({ length: 10 }, () => Buffer.alloc(100_000));
    expect((await send('POST', '/stream', { socketPath: controlPath, headers: NDJSON_HEADER, body })).json).toEqual({
      bytes: 1_000_000,
    });
    expect((await send('HEAD', '/health', { socketPath: controlPath })).text).toBe('');
  });

  it('answers whoever still sends, instead of closing the connection under them', async () => {
    const large = Array.from({ length: 110 }, () => Buffer.alloc(500_000));
    for (const [path, expected] of [
      ['/stream', problem('body-too-large', 413)],
      ['/refuse', problem('conflict', 409)],
    ] as const) {
      const answer = await send('POST', path, { socketPath: controlPath, headers: NDJSON_HEADER, body: large });
      expect(answer).toMatchObject(expected);
    }
  });
});
