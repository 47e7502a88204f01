/**
 * Kills the service (SIGKILL) in the middle of writes, changes of settings, version builds, copies, deletions and
 * changes of groups: no answer before may be 500, and everything acknowledged must be there afterwards.
 * `GANNET_CHANGES_KILL_ROUNDS` rounds (200 for a release), from `GANNET_KILL_SEED`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { ServiceClient } from '../support/client.js';
import { SeededRandom } from '../support/random.js';
import { startTestService, type TestService } from '../support/service.js';
import { ChangeLoad, compareChanges, ExpectedChanges, GROUP } from './change-load.js';
import { ExpectedRecords } from './expected-records.js';
import { allRecords, createList, killDue, ROUND_MS_MAX, SETTINGS } from './killed-list.js';
import { ACCOUNT, LIST, WriteLoad } from './write-load.js';

const ROUNDS = Number(process.env['GANNET_CHANGES_KILL_ROUNDS'] ?? 3);
const SEED = Number(process.env['GANNET_KILL_SEED'] ?? 1);
/** The kill comes some time after this number of answers at most. */
const KILL_AFTER_ANSWERS_MAX = 60;

const dataDir = mkdtempSync(join(tmpdir(), 'gannet-changes-kill-'));
const random = new SeededRandom(SEED);
const records = new ExpectedRecords();
const changes = new ExpectedChanges();
let last = 0;
const next = () => (last += 1);
let service: TestService | undefined;

afterAll(async () => {
  await service?.stop('SIGKILL');
  rmSync(dataDir, { recursive: true, force: true });
});

async function prepare(client: ServiceClient): Promise<void> {
  await createList(client);
  const group = await client.post(`/list-group/${ACCOUNT}`, { name: GROUP, lists: [{ list: LIST }] });
  expect(group.status, group.text).toBe(201);
}

/** Sends load until the service is killed. Rejects for an answer that it should not have given. */
async function loadUntilKilled({ client, ...running }: { client: ServiceClient; kill: () => Promise<unknown> }) {
  const writes = new WriteLoad(client, records, random, next);
  const others = new ChangeLoad({ client, expected: changes, random, next });
  const loads = Promise.all([writes.run(), others.run()]);
  loads.catch(() => undefined);
  await killDue(random, { writes, running: loads, answersMax: KILL_AFTER_ANSWERS_MAX });
  writes.expectDeath();
  others.expectDeath();
  await running.kill();
  await loads;
  return writes.requests + others.requests;
}

it(
  `Concurrent changes of every kind get no 500, and all acknowledged ones survive ${ROUNDS} kills`,
  async () => {
    let requests = 0;
    const startedMs = performance.now();
    let running = await startTestService({ dataDir, env: SETTINGS });
    service = running;
    await prepare(running.client);
    for (let round = 1; round <= ROUNDS; ++round) {
      const { client } = running;
      const killed = running;
      requests += await loadUntilKilled({ client, kill: () => killed.stop('SIGKILL') });
      running = await startTestService({ dataDir, env: SETTINGS });
      service = running;
      const problems = [
        ...records.compare(await allRecords(running.client)),
        ...(await compareChanges(running.control(), changes)),
      ];
      expect(problems.slice(0, 10), `round ${round} of seed ${SEED}`).toEqual([]);
    }
    expect(await running.stop()).toBe(0);
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(0);
    console.log(
      `changes and kills: ${ROUNDS} kills, ${requests} requests answered, ${records.acknowledgedCount} records at the end, ` +
        `${changes.groupVersion} versions of the group, ${seconds} s, seed ${SEED}: no 500, nothing lost`,
    );
  },
  ROUNDS * ROUND_MS_MAX,
);
