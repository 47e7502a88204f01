/**
 * Kills the service (SIGKILL) at random moments of heavy writing, and compares what is left with what was
 * acknowledged. `GANNET_KILL_ROUNDS` rounds (default 5), from `GANNET_KILL_SEED`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { SeededRandom } from '../support/random.js';
import { startTestService, type TestService } from '../support/service.js';
import { ExpectedRecords, type ReadRecord } from './expected-records.js';
import { checkCopyOf } from './index-check.js';
import { allRecords, createList, killDue, ROUND_MS_MAX, SETTINGS } from './killed-list.js';
import { WriteLoad } from './write-load.js';

const ROUNDS = Number(process.env['GANNET_KILL_ROUNDS'] ?? 5);
const SEED = Number(process.env['GANNET_KILL_SEED'] ?? 1);
/** The kill comes some time after this number of answers at most. */
const KILL_AFTER_ANSWERS_MAX = 200;

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

/**
 * Returns problems of interrupted requests: an import must be there up to some record, a deletion by filter entirely
 * or not at all.
 */
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
  `Every acknowledged write is there after ${ROUNDS} kills, and no half of another`,
  async () => {
    let requests = 0;
    const startedMs = performance.now();
    service = await startTestService({ dataDir, env: SETTINGS });
    await createList(service.client);
    for (let round = 1; round <= ROUNDS; ++round) {
      const load = new WriteLoad(service.client, expected, random, nextContent);
      const running = load.run();
      running.catch(() => undefined);
      const killed = await killDue(random, { writes: load, running, answersMax: KILL_AFTER_ANSWERS_MAX });
      load.expectDeath();
      await service.stop('SIGKILL');
      await running;
      requests += load.requests;

      const inIndex = await checkCopyOf(dataDir);
      service = await startTestService({ dataDir, env: SETTINGS });
      const records = await allRecords(service.client);
      const problems = [...inIndex, ...brokenOff(load, records), ...expected.compare(records)];
      expect(problems.slice(0, 10), `round ${round} of seed ${SEED}, killed ${killed}`).toEqual([]);
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
