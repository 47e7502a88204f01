/**
 * Tests a thousand connections that send what no operation needs, or do not read what they requested: resident memory
 * stays within `memory.mib` and a quarter more, and searches are answered. By default the connections are distributed
 * over the operations; with `GANNET_TEST_EVERY_OPERATION=1` each operation gets all of them, with and without a key,
 * which takes long.
 */
import { existsSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { allOperations } from '../../src/main.js';
import { ANY_CONTENT_TYPE, isStreamBody, type Operation } from '../../src/operations/index.js';
import { RawConnections, type RawRequest } from '../support/raw-connections.js';
import { startTestService, type TestService } from '../support/service.js';
import { describeWhere } from '../support/skip.js';

const operations = await allOperations();

const MEMORY_MIB = 300;
const RESIDENT_MIB_MAX = MEMORY_MIB * 1.25;
const CONNECTIONS = 1000;
const NDJSON = 'application/x-ndjson';
/** Each costs a whole search of a thousand records. */
const SILENT_CONNECTIONS = 300;
const BODY_BYTES = 10_485_760;
const SAMPLE_MS = 20;
/** Pause between two searches, which must be answered but not be the load. */
const SEARCH_PAUSE_MS = 10;
const STUBBORN_EACH = 8;
const LONG_RECORDS = 1000;
const EVERY_OPERATION = process.env['GANNET_TEST_EVERY_OPERATION'] === '1';
const PARAMETERS: Readonly<Record<string, string>> = {
  account: 'default',
  list: 'target',
  group: 'all',
  version: '1',
  id: '01900000-0000-7000-8000-000000000000',
  name: 'title',
};

let service: TestService;
let key: string;
let connections: RawConnections;

beforeAll(async () => {
  if (!existsSync('/proc/self/status')) return;
  service = await startTestService({
    env: { GANNET_MEMORY_MIB: String(MEMORY_MIB), GANNET_LOG_LEVEL: 'error', GANNET_SEARCH_THREADS: '2' },
  });
  key = (await service.createKey({ name: 'load', access: 'full' })).key;
  connections = new RawConnections(Number(new URL(service.address).port));
  for (const name of ['films', 'target', 'long']) {
    await service.client.post('/list/default', { name, searchable_fields: [{ name: 'title' }] });
    await service.client.bulk(
      'default',
      name,
      Array.from({ length: LONG_RECORDS }, (_, number) => ({
        name: `r${number}`,
        title: `the gannet ${number}`,
        ...(name === 'long' ? { text: 'x'.repeat(2000) } : {}),
      })),
    );
  }
  await service.client.post('/list-group/default', { name: 'all', lists: [{ list: 'target' }] });
});
afterAll(async () => {
  await connections.close();
  await service.close();
});

/**
 * Runs an action alongside searches, one after the other, and samples memory; resolves with the greatest resident
 * memory in MiB.
 */
async function besideSearches(action: () => Promise<void>): Promise<{ residentMib: number; slowestMs: number }> {
  let residentMib = 0;
  const sampling = setInterval(() => (residentMib = Math.max(residentMib, service.residentMib())), SAMPLE_MS);
  let isDone = false;
  let searches = 0;
  let slowestMs = 0;
  const searching = (async () => {
    while (!isDone) {
      const beginMs = performance.now();
      const { status } = await service.client.get('/search/default/films/1', { query: `gannet ${searches}`, size: 5 });
      expect(status).toBe(200);
      searches += 1;
      slowestMs = Math.max(slowestMs, performance.now() - beginMs);
      await wait(SEARCH_PAUSE_MS);
    }
  })();
  try {
    await Promise.race([action(), searching]);
  } finally {
    isDone = true;
    clearInterval(sampling);
  }
  await searching;
  expect(searches).toBeGreaterThan(0);
  return { residentMib, slowestMs };
}

/** Returns a content type that the operation accepts, so that the body is not refused for its type. */
function typeOf({ body }: Operation): string {
  if (!isStreamBody(body)) return 'application/json';
  const { contentTypes } = body;
  const [first = NDJSON] = contentTypes;
  return first === ANY_CONTENT_TYPE || contentTypes.includes(NDJSON) ? NDJSON : first;
}

function requestOf(operation: Operation, withKey: boolean, number: number): RawRequest {
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => PARAMETERS[name] ?? 'x');
  const type = typeOf(operation);
  const head = [`${operation.method} ${path} HTTP/1.1`, 'Host: localhost', `Content-Type: ${type}`];
  return {
    head: withKey ? [...head, `X-API-Key: ${key}`] : head,
    bodyBytes: BODY_BYTES,
    text:
      type === 'application/json'
        ? '[[],{},1,"x",'
        : `{"name":"sent","title":"a record","text":"${'x'.repeat(8000)}"}\n`,
    isStubborn: number % STUBBORN_EACH === 0,
    isReading: true,
  };
}

/** Sends requests alongside searches; any answer is allowed, but memory is limited. */
async function expectBounded(what: string, requests: readonly RawRequest[]): Promise<Map<number, number>> {
  let counts = new Map<number, number>();
  const peak = await besideSearches(async () => {
    counts = await sendAll(requests);
  });
  report(`${what} (${[...counts].map(([status, count]) => `${count} × ${status}`).join(', ')})`, peak);
  expect(peak.residentMib).toBeGreaterThan(0);
  expect(peak.residentMib).toBeLessThanOrEqual(RESIDENT_MIB_MAX);
  for (const status of counts.keys()) expect([0, 200, 400, 401, 403, 404, 413, 415, 422, 503]).toContain(status);
  return counts;
}

async function sendAll(requests: readonly RawRequest[]): Promise<Map<number, number>> {
  const counts = new Map<number, number>();
  for (const status of await connections.send(requests)) {
    counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  return counts;
}

/** Returns this many requests whose answers are never read. */
function silent(head: readonly string[], count: number): RawRequest[] {
  const request = { head, bodyBytes: 0, text: '', isStubborn: false, isReading: false };
  return Array.from({ length: count }, () => request);
}

function report(what: string, { residentMib, slowestMs }: { residentMib: number; slowestMs: number }): void {
  process.stdout.write(
    `${what}: at most ${residentMib.toFixed(0)} MiB resident of ${MEMORY_MIB}, slowest search ${slowestMs.toFixed(0)} ms\n`,
  );
}

describeWhere(existsSync('/proc/self/status'), 'only Linux tells what is resident')('memory of requests', () => {
  it.each([true, false])(
    'stays bounded for bodies of 10 MiB to every operation (with a key: %s)',
    async (withKey) => {
      const rounds = EVERY_OPERATION ? operations.map((operation) => [operation]) : [operations];
      for (const some of rounds) {
        const requests = Array.from({ length: CONNECTIONS }, (_, number) =>
          requestOf(some[number % some.length] as Operation, withKey, number),
        );
        await expectBounded(EVERY_OPERATION ? (some[0]?.name ?? '') : 'every operation', requests);
      }
    },
    EVERY_OPERATION ? 7_200_000 : 480_000,
  );

  it('stays bounded for pictures to search by', async () => {
    const operation = operations.find(({ name }) => name === 'search.image') as Operation;
    const requests = Array.from({ length: CONNECTIONS }, (_, number) => requestOf(operation, true, number));
    const counts = await expectBounded('pictures', requests);
    // Some bodies were read completely, and turned out to be no pictures.
    expect(counts.get(422)).toBeGreaterThan(0);
  });

  it('stays bounded for answers that nobody reads', async () => {
    const head = [`GET /search/default/long/1?size=${LONG_RECORDS} HTTP/1.1`, 'Host: localhost', `X-API-Key: ${key}`];
    const peak = await besideSearches(async () => {
      await connections.send(silent(head, EVERY_OPERATION ? CONNECTIONS : SILENT_CONNECTIONS));
      // Refusals are answers as well: all answers are in their sockets when only this request is in flight.
      while ((await service.metric('gannet_http_requests_in_flight')) > 2) await wait(SEARCH_PAUSE_MS);
    });
    report('answers that nobody reads', peak);
    expect(peak.residentMib).toBeLessThanOrEqual(RESIDENT_MIB_MAX);
  });

  it('stays bounded while a thousand connections wait', async () => {
    const peak = await besideSearches(async () => {
      await connections.send(silent(['GET /health HTTP/1.1', 'Host: localhost'], CONNECTIONS));
    });
    report('connections that wait', peak);
    expect(peak.residentMib).toBeLessThanOrEqual(RESIDENT_MIB_MAX);
  });
});
