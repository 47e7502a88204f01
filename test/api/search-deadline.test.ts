/**
 * Searches that take long: their clients leave, their time ends, and others come meanwhile. The list is small, but has so many
 * different values of its facets that counting them takes many times what an ordinary search does.
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
/** Values differ between records, so that each is counted by itself: several times what the slice of a search is, on a fast machine too. */
const DEAR = { facets: FACETS, facet_size: 10, size: 0, cache: false };

const dataDir = mkdtempSync(join(tmpdir(), 'gannet-deadline-'));
// One thread, so that whatever holds it up holds up everything.
const env = { GANNET_SEARCH_THREADS: '1', GANNET_LOG_LEVEL: 'error' };
/** None, on however busy a machine. */
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

/** A search of a client that can hang up. */
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

describe('searches that take long', () => {
  let service: TestService;
  let key: string;

  beforeAll(async () => {
    service = await startTestService({ dataDir, env: { ...env, ...NO_DEADLINE } });
    await fill(service);
    ({ key } = await service.createKey({ name: 'dear', access: 'full' }));
  });
  afterAll(() => service.stop());

  it('hold nobody up: a cheap search is answered before them, with one thread for all', async () => {
    // The first one is moved when its slice ends, and those like it are known to be dear from then on.
    expect((await service.client.post(PATH, DEAR)).status).toBe(200);
    expect(await service.metric('gannet_searches_moved_total')).toBeGreaterThan(0);
    /** How many dear ones are answered before a cheap one that comes behind half of them. */
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
    // Where this process stood still meanwhile, the dear ones had ended before the cheap one came.
    await eventually(answeredBefore, (count) => count < DEAR_SEARCHES / 2);
  });

  it('end when their clients leave, whether they wait or are at work, and are counted nowhere', async () => {
    let [counted, goneBefore, clients] = [0, 0, [] as ClientRequest[]];
    const areAnswered = () => clients.every(({ closed }) => closed);
    await eventually(
      async () => {
        // Begun anew where all were answered before this process came to look.
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

  it('is answered 503, and the service goes on', async () => {
    const answer = await service.client.post(PATH, DEAR);
    expect(answer.status).toBe(503);
    expect(answer.body).toMatchObject({ code: 'deadline', detail: expect.stringContaining('search.deadline_ms') });
    expect(await unfinished(service, 'deadline')).toBe(1);
    expect((await service.client.get('/health')).status).toBe(200);
  });
});
