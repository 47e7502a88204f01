/**
 * Tests a list with segments of another format over HTTP: the service is ready at once, the list is refused until its
 * index is rebuilt, and kills meanwhile lose nothing.
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Answer } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { changeFormat, segmentFilesOf } from '../support/segment-damage.js';
import { startTestService, type TestService } from '../support/service.js';

/** Enough for several pieces, so that a kill falls between two. */
const RECORDS = 70_000;
const KILLS = 3;
/** The most starts at which the index was rebuilt before the test asked. */
const TOO_LATE_MAX = 10;
const NO_RECORD = '01900000-0000-7000-8000-000000000000';
const SEARCH = '/search/default/big/1';

const dataDir = mkdtempSync(join(tmpdir(), 'gannet-rebuild-'));
let service: TestService;
let before: unknown;

const query = { query: 'gannet', size: 100 };

beforeAll(async () => {
  service = await startTestService({ dataDir });
  for (const name of ['big', 'small']) {
    await service.client.post('/list/default', { name, searchable_fields: [{ name: 'text' }], facets: [] });
  }
  const records = Array.from({ length: RECORDS }, (_, index) => ({
    name: `Record ${index}`,
    fields: { text: index % 700 === 0 ? `gannet ${'dives '.repeat(index % 9)}` : `puffin ${index}` },
  }));
  expect((await service.client.bulk('default', 'big', records)).status).toBe(200);
  expect((await service.client.bulk('default', 'small', records.slice(0, 10))).status).toBe(200);
  before = hitsOf(await service.client.get(SEARCH, query));
  const { body } = await service.client.get('/list/default/big');
  expect(body).toMatchObject({ record_count: RECORDS });
});
afterAll(async () => {
  await service.stop('SIGKILL');
  rmSync(dataDir, { recursive: true, force: true });
});

function hitsOf(answer: Answer): { total: number; names: string[] } {
  expect(answer.status, answer.text).toBe(200);
  const { total_count: total, results } = answer.body as { total_count: number; results: { name: string }[] };
  return { total, names: results.map(({ name }) => name).sort() };
}

/** Returns the folder of the list with the most bytes of records. */
function bigList(): string {
  const folder = join(dataDir, 'lists');
  const bytesOf = (id: string) => statSync(join(folder, id, 'store', 'data.mdb')).size;
  const [id] = readdirSync(folder).toSorted((left, right) => bytesOf(right) - bytesOf(left));
  return join(folder, id ?? '');
}

function changeFormats(): void {
  for (const file of segmentFilesOf(bigList())) changeFormat(file);
}

it('A list is refused with 503 while its index is rebuilt, others work, and all records are back even after kills', async () => {
  await service.stop();
  changeFormats();
  for (let kill = 0, tooLate = 0; kill < KILLS;) {
    await service.start();
    expect(hitsOf(await service.client.get('/search/default/small/1', { query: 'gannet' })).total).toBe(1);
    const answers = [
      await service.client.get(SEARCH, query),
      await service.client.get('/list/default/big'),
      await service.client.delete(`/search-result/default/big/${NO_RECORD}`),
    ];
    if (answers.some(({ status }) => status !== 503)) {
      // The index was rebuilt before the last request: the test tries again with another start.
      expect(hitsOf(await service.client.get(SEARCH, query))).toEqual(before);
      expect((tooLate += 1)).toBeLessThan(TOO_LATE_MAX);
      await service.stop();
      changeFormats();
      continue;
    }
    kill += 1;
    const [refused] = answers;
    expect(refused).toMatchObject({ status: 503, body: { code: 'not-ready' } });
    expect(Number(refused?.headers['retry-after'])).toBeGreaterThan(0);
    expect(refused?.text).toMatch(new RegExp(`being rebuilt from its records: \\d+ of ${RECORDS} records`, 'u'));
    const { status, body } = await service.client.get('/list/default');
    expect([status, (body as { lists: unknown[] }).lists.length]).toEqual([200, 2]);
    await service.stop('SIGKILL');
  }
  await service.start();
  const answer = await eventually(
    () => service.client.get(SEARCH, query),
    ({ status }) => status !== 503,
  );
  expect(hitsOf(answer)).toEqual(before);
  expect((await service.client.get('/list/default/big')).body).toMatchObject({ record_count: RECORDS });
  expect((await service.control().post('/list/default/big/check', undefined)).body).toMatchObject({ ok: true });
});
