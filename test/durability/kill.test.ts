/**
 * Kills the service with SIGKILL at random moments of heavy writing, and compares what is left with what was
 * acknowledged. `GANNET_KILL_ROUNDS` rounds (default 12), from `GANNET_KILL_SEED`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { SeededRandom } from '../support/random.js';
import { startTestService, type TestService } from '../support/service.js';
import { ExpectedRecords, type ReadRecord } from './expected-records.js';
import { checkCopyOf } from './index-check.js';
import { ACCOUNT, LIST, WriteLoad } from './write-load.js';

const ROUNDS = Number(process.env['GANNET_KILL_ROUNDS'] ?? 12);
const SEED = Number(process.env['GANNET_KILL_SEED'] ?? 1);
/** The kill comes this long after so many answers, both drawn by lot; a slow machine is killed before they came. */
const KILL_AFTER_ANSWERS_MAX = 200;
const KILL_AFTER_MS_MAX = 200;
const KILL_WAIT_MS_MAX = 8000;
const ROUND_MS_MAX = 60_000;
const PAGE_SIZE = 1000;

/** Small batches and an eager merger, so that every kind of commit is under way when the service dies. */
const SETTINGS = {
  GANNET_INGEST_BATCH_RECORDS_MAX: '100',
  GANNET_INGEST_MERGE_FAN_IN: '3',
  GANNET_VERSIONS_KEPT: '1',
  GANNET_LOG_LEVEL: 'warn',
};

const dataDir = mkdtempSync(join(tmpdir(), 'gannet-kill-'));
const random = new SeededRandom(SEED);
const expected = new ExpectedRecords();
let content = 0;
const nextContent = () => (content += 1);
let service: TestService | undefined;

afterAll(async () => {
  await service?.stop('SIGKILL');
  rmSync(dataDir, { recursive: true, force: true });
});

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function createList({ client }: TestService): Promise<void> {
  const answer = await client.post(`/list/${ACCOUNT}`, {
    name: LIST,
    searchable_fields: [{ name: 'title' }, { name: 'body' }],
    facets: [
      { name: 'value', type: 'number', cardinality: 'Single' },
      { name: 'group', type: 'string', cardinality: 'Single' },
    ],
  });
  expect(answer.status, answer.text).toBe(201);
}

async function allRecords({ client }: TestService): Promise<ReadRecord[]> {
  const records: ReadRecord[] = [];
  for (;;) {
    const { status, text, body } = await client.get(`/search-result/${ACCOUNT}/${LIST}`, {
      skip: records.length,
      size: PAGE_SIZE,
    });
    expect(status, text).toBe(200);
    const { results, total_count: total } = body as { results: ReadRecord[]; total_count: number };
    records.push(...results);
    if (results.length === 0 || records.length >= total) return records;
  }
}

/** An import that was broken off is there as far as it came; a deletion by filter wholly or not at all. */
function brokenOff(load: WriteLoad, records: readonly ReadRecord[]): string[] {
  const problems: string[] = [];
  const contents = new Map(records.map((record) => [record.name, record.fields['value']]));
  const imported =
    load.unansweredImport?.records.map(([name, value]) => String(contents.get(name)) === String(value)) ?? [];
  const firstMissing = imported.indexOf(false);
  if (firstMissing >= 0 && imported.includes(true, firstMissing)) problems.push('an import is there with a gap');
  const left = load.unansweredDeletion?.names.filter((name) => contents.has(name)) ?? [];
  const doomed = load.unansweredDeletion?.names.length ?? 0;
  if (left.length > 0 && left.length < doomed)
    problems.push(`${left.length} of ${doomed} records outlived a deletion by filter`);
  return problems;
}

it(
  `holds every acknowledged write and no half of another after ${ROUNDS} kills`,
  async () => {
    let requests = 0;
    const startedMs = performance.now();
    service = await startTestService({ dataDir, env: SETTINGS });
    await createList(service);
    for (let round = 1; round <= ROUNDS; ++round) {
      const load = new WriteLoad(service.client, expected, random, nextContent);
      const running = load.run();
      running.catch(() => undefined);
      const [afterAnswers, afterMs] = [random.below(KILL_AFTER_ANSWERS_MAX), random.below(KILL_AFTER_MS_MAX)];
      await Promise.race([running, load.answers(afterAnswers), pause(KILL_WAIT_MS_MAX)]);
      await Promise.race([running, pause(afterMs)]);
      load.expectDeath();
      await service.stop('SIGKILL');
      await running;
      requests += load.requests;

      const inIndex = await checkCopyOf(dataDir);
      service = await startTestService({ dataDir, env: SETTINGS });
      const records = await allRecords(service);
      const problems = [...inIndex, ...brokenOff(load, records), ...expected.compare(records)];
      expect(
        problems.slice(0, 10),
        `round ${round} of seed ${SEED}, killed ${afterMs} ms after ${afterAnswers} answers`,
      ).toEqual([]);
    }
    expect(await service.stop()).toBe(0);
    expect(await checkCopyOf(dataDir)).toEqual([]);
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(0);
    console.log(
      `kill test: ${ROUNDS} kills, ${requests} requests answered, ${expected.acknowledgedCount} records at the end, ` +
        `${seconds} s, seed ${SEED}: nothing lost, nothing halved, index and records agree`,
    );
  },
  ROUNDS * ROUND_MS_MAX,
);
