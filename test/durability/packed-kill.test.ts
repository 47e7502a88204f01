/**
 * Kills the service (SIGKILL) in imports whose records are packed with words that the first commit learns, and tests
 * what backups and copies have of them: each record is there as it was sent or not at all, and none follows one that
 * is missing.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { RecordStore } from '../../src/records/index.js';
import { gannet } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import type { ServiceClient } from '../support/client.js';
import { SeededRandom } from '../support/random.js';
import { startTestService, type TestService } from '../support/service.js';
import { checkCopyOf } from './index-check.js';

const ROUNDS = Number(process.env['GANNET_PACKED_KILLS'] ?? 4);
const SEED = 20_261_125;
const COMMIT_RECORDS = 1500;
/** Records have 250 bytes and more: the first commit of this many learns the words. */
const ENV = { GANNET_INGEST_BATCH_RECORDS_MAX: String(COMMIT_RECORDS), GANNET_LOG_LEVEL: 'warn' };
const COMMITS = 4;
/** The last commit of a round is a full one as well: with fewer records the service would wait for more. */
const RECORDS = (1 + COMMITS) * COMMIT_RECORDS;
/** The kill comes at most this long after what a round waits for. */
const KILL_MS_MAX = 60;
const PAGE_SIZE = 1000;
const TEST_MS_MAX = 600_000;

let folder = '';
let service: TestService | undefined;
afterEach(async () => {
  await service?.stop('SIGKILL');
  service = undefined;
  rmSync(folder, { recursive: true, force: true });
});

interface ReadRecord {
  readonly name: string;
  readonly fields: { readonly title: string };
}

const titleOf = (number: number) =>
  `${`The sentence of number ${number} says what the others of its kind say, żółw and 日本語. `.repeat(3)}${number * 7919}`;
const NAMED = Array.from({ length: RECORDS }, (_, number) => ({ name: `r${number}`, title: titleOf(number) }));

async function createList(client: ServiceClient, name: string): Promise<void> {
  const { status, text } = await client.post('/list/default', { name, searchable_fields: [{ name: 'title' }] });
  expect(status, text).toBe(201);
}

async function countOf(client: ServiceClient, list: string): Promise<number> {
  const { status, text, body } = await client.get(`/search-result/default/${list}`, { size: 1 });
  expect(status, text).toBe(200);
  return (body as { total_count: number }).total_count;
}

/**
 * Starts an import whose records are sent when they are written into its body, and whose body never ends: no import
 * is complete before it is killed.
 */
function importWithoutEnd({ address, client }: TestService, list: string) {
  const body = new PassThrough();
  const sent = fetch(`${address}/search-result/default/${list}/bulk`, {
    method: 'POST',
    headers: { 'x-api-key': client.key, 'content-type': 'application/x-ndjson' },
    body,
    duplex: 'half',
  } as RequestInit).catch(() => undefined);
  body.on('error', () => undefined);
  const writeCommit = (commit: number) => {
    const records = NAMED.slice(commit * COMMIT_RECORDS, (commit + 1) * COMMIT_RECORDS);
    body.write(records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  };
  return { writeCommit, sent };
}

/** Returns the records in the order of their import. */
async function recordsOf(client: ServiceClient, list: string): Promise<ReadRecord[]> {
  const records: ReadRecord[] = [];
  for (;;) {
    const page = { skip: records.length, size: PAGE_SIZE };
    const { status, text, body } = await client.get(`/search-result/default/${list}`, page);
    expect(status, text).toBe(200);
    const { results } = body as { results: ReadRecord[] };
    records.push(...results);
    if (results.length < PAGE_SIZE) return records;
  }
}

function expectFirstOf(records: readonly ReadRecord[], count = records.length): void {
  expect(records).toHaveLength(count);
  const wrong = records.filter(({ name, fields }, index) => name !== `r${index}` || fields.title !== titleOf(index));
  expect(wrong).toEqual([]);
}

function segmentFiles(dataDir: string): number {
  const names = readdirSync(join(dataDir, 'lists'), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.includes('/segments/')).length;
}

it(
  `An import that is killed in its first commits leaves only complete records, ${ROUNDS} times`,
  async () => {
    folder = mkdtempSync(join(tmpdir(), 'gannet-packed-kill-'));
    const dataDir = join(folder, 'data');
    const random = new SeededRandom(SEED);
    const leftBehind: number[] = [];
    service = await startTestService({ dataDir, env: ENV });
    for (let round = 0; round < ROUNDS; round += 1) {
      const list = `list-${round}`;
      await createList(service.client, list);
      const before = segmentFiles(dataDir);
      const { client } = service;
      const { writeCommit, sent } = importWithoutEnd(service, list);
      // Waits for one more file in each round: before the first commit, or after others; the next commit is then
      // under way.
      const commits = 1 + (round % COMMITS);
      writeCommit(0);
      for (let commit = 1; commit <= commits; commit += 1) {
        // Files that were merged are deleted, also in lists of other rounds; the records of this commit are not there
        // then.
        await eventually(
          async () => ({ round, commit, files: segmentFiles(dataDir) - before, records: await countOf(client, list) }),
          ({ files, records }) => files >= commit || records > (commit - 1) * COMMIT_RECORDS,
        );
        writeCommit(commit);
      }
      const delayMs = random.below(KILL_MS_MAX);
      await pause(delayMs);
      await service.stop('SIGKILL');
      await sent;
      expect(await checkCopyOf(dataDir), `round ${round}, killed ${delayMs} ms after file ${commits}`).toEqual([]);
      service = await startTestService({ dataDir, env: ENV });
      const left = await recordsOf(service.client, list);
      expectFirstOf(left);
      leftBehind.push(left.length);
      const again = await service.client.bulk('default', list, NAMED);
      expect(again.body, again.text).toMatchObject({ failed: 0 });
      expectFirstOf(await recordsOf(service.client, list), RECORDS);
    }
    // Kills that came too early or too late would show nothing.
    expect(leftBehind.filter((count) => count > 0 && count < RECORDS)).not.toEqual([]);
  },
  TEST_MS_MAX,
);

it(
  'A backup, a restore, a copy and another version have the packed records, and hits have highlights',
  async () => {
    folder = mkdtempSync(join(tmpdir(), 'gannet-packed-'));
    const [dataDir, target] = [join(folder, 'data'), join(folder, 'restored')];
    service = await startTestService({ dataDir, env: ENV });
    await createList(service.client, 'first');
    expect((await service.client.bulk('default', 'first', NAMED)).body).toMatchObject({ created: RECORDS });
    const cloned = await service.client.post('/list/default/first/clone', { name: 'second' });
    expect(cloned.status, cloned.text).toBeLessThan(300);
    const faceted = await service.client.post('/facet/default/second', {
      name: 'kind',
      type: 'string',
      cardinality: 'Single',
    });
    expect(faceted.status, faceted.text).toBe(201);
    const made = await gannet(dataDir, 'backup', join(folder, 'backups'), '--json');
    expect(made.status, made.notes).toBe(0);
    await service.stop();
    const restored = await gannet(target, 'restore', (JSON.parse(made.output) as { path: string }).path);
    expect(restored.status, restored.notes).toBe(0);
    service = await startTestService({ dataDir: target, env: ENV });
    for (const list of ['first', 'second']) {
      expectFirstOf(await recordsOf(service.client, list), RECORDS);
      const query = { query: String(4321 * 7919), highlight: 'true' };
      const { text, body } = await service.client.get(`/search/default/${list}/1`, query);
      const [hit] = (body as { results: (ReadRecord & { highlights: unknown })[] }).results;
      expect(hit?.fields.title, text).toBe(titleOf(4321));
      expect(JSON.stringify(hit?.highlights)).toContain(String(4321 * 7919));
    }
    await service.stop();
    expect(await checkCopyOf(target)).toEqual([]);
    const lists = readdirSync(join(target, 'lists'));
    expect(lists).toHaveLength(2);
    for (const id of lists) {
      const store = new RecordStore(join(target, 'lists', id));
      expect(store.wordsCount()).toBe(1);
      await store.close();
    }
  },
  TEST_MS_MAX,
);
