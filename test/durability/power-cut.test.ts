/**
 * Cuts the power in the middle of writes, changes of settings, version builds, copies, deletions, uploads and
 * backups: what was not synced, of files and of names in folders, is lost entirely or at random. The service starts
 * on what is left, and has everything that it acknowledged. `GANNET_POWER_CUTS` cuts, from `GANNET_KILL_SEED`.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { gannet } from '../support/cli.js';
import type { ServiceClient } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { canMountFaulty, FaultyFileSystem } from '../support/faulty-file-system.js';
import { SeededRandom } from '../support/random.js';
import { TestService } from '../support/service.js';
import { describeWhere } from '../support/skip.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';
import { ChangeLoad, compareChanges, ExpectedChanges, GROUP } from './change-load.js';
import { ExpectedRecords } from './expected-records.js';
import { checkCopyOf } from './index-check.js';
import { allRecords, createList, killDue, ROUND_MS_MAX, SETTINGS } from './killed-list.js';
import { compareParts, ExpectedParts, PartsLoad, TOLD_LIST } from './parts-load.js';
import { ACCOUNT, LIST, WriteLoad } from './write-load.js';

const CUTS = Number(process.env['GANNET_POWER_CUTS'] ?? 12);
const SEED = Number(process.env['GANNET_KILL_SEED'] ?? 1);
const CUT_AFTER_ANSWERS_MAX = 60;
/** One of this many rounds is about backups. */
const BACKUPS_EVERY = 3;
const CUT_AFTER_BACKUP_MS_MAX = 300;
/** Tenths of unsynced data that survive. None is what is guaranteed; file systems keep more, in any order. */
const KEPT_TENTHS = [0, 3, 7];

const random = new SeededRandom(SEED);
const records = new ExpectedRecords();
const changes = new ExpectedChanges();
const parts = new ExpectedParts();
let last = 0;
const next = () => (last += 1);

let root: string;
let disk: FaultyFileSystem;
let service: TestService;
let receiver: WebhookReceiver;
const backups = () => join(root, 'on', 'backups');

async function startOnDisk(): Promise<void> {
  disk = await FaultyFileSystem.mount(join(root, 'under'), join(root, 'on'), join(root, 'lost'));
  const dataDir = join(root, 'on', 'data');
  service = new TestService(dataDir, { dataDir, env: { ...SETTINGS, GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true' } });
  await service.start();
}

async function prepare(client: ServiceClient): Promise<void> {
  await createList(client);
  const group = await client.post(`/list-group/${ACCOUNT}`, { name: GROUP, lists: [{ list: LIST }] });
  expect(group.status, group.text).toBe(201);
  expect((await client.post(`/list/${ACCOUNT}`, { name: TOLD_LIST })).status).toBe(201);
  const hook = await client.post('/webhook', { url: receiver.url(), events: ['searchresult.created'] });
  expect(hook.status, hook.text).toBe(201);
}

async function cutPower(seed: number): Promise<void> {
  let ended: Promise<unknown> | undefined;
  await disk.cutPower({ seed, keptTenths: random.pick(KEPT_TENTHS) }, () => {
    ended = service.stop('SIGKILL');
  });
  await ended;
  await disk.unmount();
}

const newPartsLoad = () => new PartsLoad({ service, expected: parts, random, next, backups: backups() });

/** Resolves with the number of answers. Rejects for an answer that should not have been given. */
async function loadUntilCut(seed: number): Promise<number> {
  const { client } = service;
  const writes = new WriteLoad(client, records, random, next);
  const others = new ChangeLoad({ client, expected: changes, random, next });
  const beside = newPartsLoad();
  const loads = Promise.all([writes.run(), others.run(), beside.run()]);
  loads.catch(() => undefined);
  await killDue(random, { writes, running: loads, answersMax: CUT_AFTER_ANSWERS_MAX });
  for (const load of [writes, others, beside]) load.expectPowerCut();
  await cutPower(seed);
  await loads;
  return writes.requests + others.requests;
}

/** Sends less other load, so that backups are finished. */
async function backUpUntilCut(seed: number): Promise<number> {
  const beside = newPartsLoad();
  const loads = beside.run();
  loads.catch(() => undefined);
  await Promise.race([loads, beside.backedUp]);
  await pause(random.below(CUT_AFTER_BACKUP_MS_MAX));
  beside.expectPowerCut();
  await cutPower(seed);
  await loads;
  return 0;
}

/** Every acknowledged backup can be restored: it is complete, and so are its lists. */
async function problemsOfBackups(): Promise<string[]> {
  const problems: string[] = [];
  const names = readdirSync(backups()).filter((name) => !name.startsWith('.'));
  for (const name of names) {
    const dataDir = join(root, 'restored', name);
    const { status, notes } = await gannet(dataDir, 'restore', join(backups(), name));
    if (status !== 0) problems.push(`${name}: ${notes}`);
    else problems.push(...(await checkCopyOf(dataDir)));
  }
  return problems;
}

describeWhere(await canMountFaulty(), 'no file system of our own can be mounted here (libfuse 3, and root)')(
  'a service whose power is cut',
  () => {
    beforeAll(async () => {
      root = mkdtempSync(join(tmpdir(), 'gannet-power-cut-'));
      receiver = await WebhookReceiver.start();
      receiver.isKeeping = false;
      receiver.answering = (delivery, response) => {
        const isTaken = random.below(10) > 0;
        if (isTaken) parts.hear(delivery);
        response.writeHead(isTaken ? 204 : 503).end();
      };
      await startOnDisk();
      await prepare(service.client);
    });
    afterAll(async () => {
      await service.stop('SIGKILL');
      await disk.unmount().catch(() => undefined);
      await receiver.close();
      rmSync(root, { recursive: true, force: true });
    });

    it(
      `has everything that it acknowledged, after ${CUTS} power cuts`,
      async () => {
        let requests = 0;
        const startedMs = performance.now();
        for (let cut = 1; cut <= CUTS; ++cut) {
          const seed = SEED * 1000 + cut;
          const answered = cut % BACKUPS_EVERY === 0 ? backUpUntilCut(seed) : loadUntilCut(seed);
          requests += await answered.catch(async (error: unknown) => {
            // The error includes the service's log.
            await service.stop();
            throw new Error(`cut ${cut} of seed ${SEED}: ${String(error)}\n${service.output}`, { cause: error });
          });
          await startOnDisk();
          const problems = [
            ...records.compare(await allRecords(service.client)),
            ...(await compareChanges(service.control(), changes)),
            ...(await compareParts({ client: service.client, clientWith: (key) => service.clientWith(key) }, parts)),
          ];
          expect(problems.slice(0, 10), `cut ${cut} of seed ${SEED}\n${service.output}`).toEqual([]);
        }
        await eventually(
          () => Promise.resolve(parts.untold()),
          ({ length }) => length === 0,
        );
        expect(await service.stop()).toBe(0);
        expect(await problemsOfBackups()).toEqual([]);
        const seconds = ((performance.now() - startedMs) / 1000).toFixed(0);
        console.log(
          `power cuts: ${CUTS}, ${requests} requests answered, ${records.acknowledgedCount} records at the end, ` +
            `${changes.groupVersion} versions of the group, ${parts.backups} backups, ${seconds} s, seed ${SEED}: nothing lost`,
        );
      },
      CUTS * ROUND_MS_MAX,
    );
  },
);
