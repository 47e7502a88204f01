/**
 * The web server and the control socket in this process, with operations that wait, fail and count, for tests of how
 * requests get in and out.
 */
import { mkdtempSync } from 'node:fs';
import { request as httpRequest, type Agent, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { Type } from 'typebox';
import { openAccess, RateLimiter, type NewKey } from '../../src/access/index.js';
import { openCatalog } from '../../src/catalog/index.js';
import {
  createDispatcher,
  defineOperation,
  systemOperations,
  type Operation,
  type Services,
} from '../../src/operations/index.js';
import {
  createRequestMemory,
  memoryBudget,
  openEnvironment,
  ServiceError,
  systemClock,
  type LmdbEnvironment,
  type RequestMemory,
  EventCatalogue,
} from '../../src/platform/index.js';
import { createMetrics } from '../../src/platform/metrics.js';
import { loadConfig } from '../../src/platform/config.js';
import { createControlSocket, type ControlSocket } from '../../src/http/control-socket.js';
import { createRequestServer, type RequestServer } from '../../src/http/request-handler.js';
import { ConnectionRoom } from '../../src/http/connection-room.js';
import { createHttpServer, type HttpServer } from '../../src/http/server.js';
import { webServerOf, type WebServerKind } from '../../src/http/web-server.js';

const LOOK_INTERVAL_MS = 5;
const FREE = { permission: null, callers: ['key', 'console', 'cli'], target: 'none', params: Type.Object({}) } as const;
const BODY = Type.Object({ text: Type.String(), size: Type.Optional(Type.Integer()) }, { additionalProperties: false });
const OK = { 200: { description: '', schema: Type.Object({}) } };

/** State that tests observe and control. Reset by `openDesk`. */
export const desk = {
  /** What a stream operation received. */
  received: { bytes: 0, error: undefined },
  /** Awaited by streams and `/slow`. */
  gate: Promise.resolve(),
  /** Calls of `/slow` that have started. */
  slowStarted: 0,
} as Desk;

interface Desk {
  received: { bytes: number; error: unknown };
  gate: Promise<void>;
  slowStarted: number;
  environment: LmdbEnvironment;
  services: Services;
  requestMemory: RequestMemory;
  requests: RequestServer;
  server: HttpServer;
  control: ControlSocket;
  controlPath: string;
  port: number;
  key: string;
  ready: boolean;
  logged: string;
}

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
      desk.slowStarted += 1;
      let isOpen = false;
      void desk.gate.then(() => (isOpen = true));
      while (!isOpen && !signal.aborted) await sleep(LOOK_INTERVAL_MS, undefined, { ref: false });
      desk.received = { bytes: signal.aborted ? -1 : 0, error: undefined };
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
      desk.received = { bytes: 0, error: undefined };
      try {
        for await (const chunk of stream ?? []) {
          await desk.gate;
          desk.received.bytes += chunk.byteLength;
        }
      } catch (error) {
        desk.received.error = error;
        throw error;
      }
      return { status: 200, body: { bytes: desk.received.bytes } };
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

const NEW_KEY: NewKey = {
  account: 'default',
  name: 'tester',
  scope: 'account',
  scope_target: null,
  region: 'eu',
  permissions: [],
  expires_at: null,
};

/** Starts with the web server of this name. */
export async function openDesk(webServer: WebServerKind): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-http-'));
  desk.environment = openEnvironment(join(folder, 'system'), { kind: 'system' });
  const catalog = await openCatalog(desk.environment, systemClock);
  const access = await openAccess(desk.environment, systemClock);
  await catalog.createAccount('default', 'eu');
  desk.key = (await access.createKey(NEW_KEY)).secret;
  desk.ready = true;
  desk.slowStarted = 0;
  desk.gate = Promise.resolve();
  desk.logged = '';
  const config = loadConfig({
    argv: [],
    env: { GANNET_LIMITS_JSON_BODY_BYTES_MAX: '1024', GANNET_LIMITS_BULK_BODY_BYTES_MAX: '50000000' },
  });
  const metrics = createMetrics();
  const log = pino(
    { level: 'info' },
    new Writable({ write: (chunk, _encoding, done) => ((desk.logged += String(chunk)), done()) }),
  );
  desk.requestMemory = createRequestMemory(memoryBudget(config));
  desk.services = {
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
    requestMemory: desk.requestMemory,
    synonymCandidates: undefined as never,
    part: () => undefined as never,
    forget: () => Promise.resolve(true),
    isUsed: () => false,
    secrets: undefined as never,
    progress: undefined as never,
    searchLimiter: new RateLimiter({ limit: 10, windowMs: 60_000 }, systemClock),
    readOnlyKeyLimiter: new RateLimiter({ limit: 10, windowMs: 60_000 }, systemClock),
    operations: [...systemOperations, ...testOperations],
    metrics: () => metrics.text(),
    state: () => Promise.reject(new Error('nobody asks a desk how it stands')),
    ready: () => desk.ready,
    storage: () => Promise.resolve({ kind: 'writable' }),
    databases: () => Promise.resolve({ unreadable: [], setAside: [] }),
  };
  desk.requests = createRequestServer({
    services: desk.services,
    dispatcher: createDispatcher(desk.services),
    metrics,
    openSite: () => Promise.reject(new Error('There is no site here')),
  });
  desk.server = createHttpServer({
    carriedBy: webServerOf(webServer, log),
    handle: desk.requests.handle,
    host: '127.0.0.1',
    port: 0,
    answers: desk.requestMemory.answers,
    bodyIdleMsMax: 60_000,
    visitors: { publicUrl: '', trustedProxies: [] },
    connections: new ConnectionRoom(() => undefined),
  });
  desk.port = await desk.server.listen();
  desk.controlPath = join(folder, 'control.sock');
  desk.control = createControlSocket(desk.controlPath, desk.requests.handle);
  await desk.control.listen();
}

export async function closeDesk(): Promise<void> {
  await desk.server.close(100);
  await desk.control.close();
  await desk.environment.close();
}

export interface Reply {
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

export function send(
  method: string,
  path: string,
  { headers = {}, body, agent, socketPath }: Sent = {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const where = socketPath === undefined ? { host: '127.0.0.1', port: desk.port } : { socketPath };
    const all = { ...(socketPath === undefined ? { 'X-API-Key': desk.key } : {}), ...headers };
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

export const JSON_HEADER = { 'Content-Type': 'application/json' };
export const NDJSON_HEADER = { 'Content-Type': 'application/x-ndjson' };
export const problem = (code: string, status: number) => ({
  status,
  json: { code, status, type: `/problems/${code}` },
});
