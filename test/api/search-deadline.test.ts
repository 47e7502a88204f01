/**
 * Tests searches that take long: their clients disconnect, their deadline passes, and others arrive meanwhile. The
 * list is small, but its facets have so many values that counting them takes many times as long as an ordinary
 * search.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { request, type ClientRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { startTestService, type TestService } from '../support/service.js';

const RECORDS = 24_000;
const VALUES_A_RECORD = 25;
const BATCH_RECORDS = 8000;
const DEAR_SEARCHES = 12;
const PATH = '/search/default/many/1';
const FACETS = Array.from({ length: 10 }, (_, number) => `tags${number}`);
/**
 * Values differ between records, so that each is counted separately: several times the time slice of a search, on a
 * fast machine as well.
 */
const DEAR = { facets: FACETS, facet_size: 10, size: 0, cache: false };

const dataDir = mkdtempSync(join(tmpdir(), 'gannet-deadline-'));
// One thread, so that whatever blocks it blocks everything.
const env = { GANNET_SEARCH_THREADS: '1', GANNET_LOG_LEVEL: 'error' };
/** No deadline, however busy the machine is. */
const NO_DEADLINE = { GANNET_SEARCH_DEADLINE_MS: '600000' };

function records(first: number): object[] {
  return Array.from({ length: BATCH_RECORDS }, (_, index) => {
    const number = first + index;
    const tags = Array.from({ length: VALUES_A_RECORD }, (_value, tag) => `tag ${number} of ${tag}`);
    return {
      name: `r${number}`,
      title: `word${number} common`,
      ...Object.fromEntries(FACETS.map((facet) => [facet, tags])),
    };
  });
}

async function fill({ client }: TestService): Promise<void> {
  const made = await client.post('/list/default', {
    name: 'many',
    searchable_fields: [{ name: 'title' }],
    facets: FACETS.map((name) => ({ name, type: 'string', cardinality: 'Many' })),
  });
  expect(made.status, made.text).toBe(201);
  for (let first = 0; first < RECORDS; first += BATCH_RECORDS) {
    const answer = await client.bulk('default', 'many', records(first));
    expect(answer.status, answer.text).toBe(200);
  }
}

/** Starts a search by a client that can disconnect. */
function dearSearch(service: TestService, key: string): ClientRequest {
  const url = `${service.address}${PATH}`;
  const sent = request(url, { method: 'POST', headers: { 'X-API-Key': key, 'Content-Type': 'application/json' } });
  sent.on('error', () => undefined);
  sent.end(JSON.stringify(DEAR));
  return sent;
}

const unfinished = (service: TestService, reason: string) =>
  service.metric(`gannet_searches_unfinished_total{reason="${reason}"}`).catch(() => 0);

afterAll(() => {
  rmSync(dataDir, { recursive: true, force: true });
});

describe('expensive searches', () => {
  let service: TestService;
  let key: string;

  beforeAll(async () => {
    service = await startTestService({ dataDir, env: { ...env, ...NO_DEADLINE } });
    await fill(service);
    ({ key } = await service.createKey({ name: 'dear', access: 'full' }));
  });
  afterAll(() => service.stop());

  it('do not delay a cheap search, although there is only one thread', async () => {
    // The first one is moved when its time slice ends, and the service then knows that searches like it are
    // expensive.
    expect((await service.client.post(PATH, DEAR)).status).toBe(200);
    expect(await service.metric('gannet_searches_moved_total')).toBeGreaterThan(0);
    /** Returns how many expensive searches are answered before a cheap one that arrives after half of them. */
    const answeredBefore = async () => {
      const order: string[] = [];
      const dear = Array.from({ length: DEAR_SEARCHES }, async () => {
        const answer = await service.client.post(PATH, DEAR);
        order.push('dear');
        expect(answer.status, answer.text).toBe(200);
      });
      await eventually(
        () => service.metric('gannet_http_requests_in_flight'),
        (inFlight) => inFlight > DEAR_SEARCHES / 2 || order.length > 0,
      );
      const cheap = await service.client.post(PATH, { query: 'word77', cache: false });
      order.push('cheap');
      expect(cheap.body).toMatchObject({ total_count: 1 });
      await Promise.all(dear);
      return order.indexOf('cheap');
    };
    // If this process stood still meanwhile, the expensive searches ended before the cheap one arrived.
    await eventually(answeredBefore, (count) => count < DEAR_SEARCHES / 2);
  });

  it('end if their clients disconnect, whether they wait or run, and are not counted', async () => {
    let [counted, goneBefore, clients] = [0, 0, [] as ClientRequest[]];
    const areAnswered = () => clients.every(({ closed }) => closed);
    await eventually(
      async () => {
        // Starts again if all were answered before this process looked.
        if (areAnswered()) {
          counted = await service.metric('gannet_searches_total');
          goneBefore = await unfinished(service, 'client-gone');
          clients = Array.from({ length: DEAR_SEARCHES }, () => dearSearch(service, key));
        }
        return service.metric('gannet_http_requests_in_flight');
      },
      (inFlight) => inFlight > DEAR_SEARCHES,
    );
    for (const client of clients) client.destroy();
    await eventually(
      () => service.metric('gannet_http_requests_in_flight'),
      (inFlight) => inFlight === 1,
    );
    const gone = (await unfinished(service, 'client-gone')) - goneBefore;
    expect(gone).toBeGreaterThan(0);
    expect((await service.metric('gannet_searches_total')) - counted).toBe(DEAR_SEARCHES - gone);
  });
});

describe('a search past its deadline', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await startTestService({ dataDir, env: { ...env, GANNET_SEARCH_DEADLINE_MS: '20' } });
  });
  afterAll(() => service.stop());

  it('is answered 503, and the service keeps running', async () => {
    const answer = await service.client.post(PATH, DEAR);
    expect(answer.status).toBe(503);
    expect(answer.body).toMatchObject({ code: 'deadline', detail: expect.stringContaining('search.deadline_ms') });
    expect(await unfinished(service, 'deadline')).toBe(1);
    expect((await service.client.get('/health')).status).toBe(200);
  });
});
