/**
 * Tests what webhooks are sent after a backup was restored: every event of the changes that it contains, even if it was
 * moved to the queue while the backup was made, and new events under new ids.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { gannet } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { startTestService, type TestService } from '../support/service.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';

const SOURCE = fileURLToPath(new URL('../support/silent-disk.c', import.meta.url));
/** A file in the data directory that is copied after the queue and before any list. */
const HELD_FILE = 'held';
const BEFORE_BACKUP = 3;
const WHILE_IT_IS_MADE = 20;
let folder: string;
let receiver: WebhookReceiver;
let service: TestService | undefined;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-backup-webhooks-'));
  receiver = await WebhookReceiver.start();
});
afterEach(async () => {
  await service?.stop('SIGKILL');
  await receiver.close();
  rmSync(folder, { recursive: true, force: true });
});

const EVENTS = ['searchresult.created', 'list.created'];
const ENV = { GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true' };

async function write(name: string): Promise<void> {
  const made = await service?.client.post('/search-result/default/films', { name, title: 'one' });
  expect(made?.status, made?.text).toBe(201);
}

const told = () => new Set(receiver.received.map(({ body }) => body.data['name']));

/**
 * Waits until each event is in the queue before it writes the next record, which removes the event from the list's
 * outbox where it need not stay.
 */
async function writeAndMove(prefix: string, count: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
  for (const name of names) {
    await write(name);
    await eventually(() => Promise.resolve(told().has(name)), Boolean);
  }
  return names;
}

async function startWithWebhook(dataDir: string, env: Readonly<Record<string, string>>): Promise<TestService> {
  const started = (service = await startTestService({ dataDir, env }));
  await started.client.post('/list/default', { name: 'films', searchable_fields: [{ name: 'title' }] });
  const subscribed = await started.client.post('/webhook', { url: receiver.url(), events: EVENTS });
  expect(subscribed.status, subscribed.text).toBe(201);
  return started;
}

/** Ends the service, restores the backup into another folder, and starts a service on that. */
async function restoreInstead(backup: string): Promise<TestService> {
  await service?.stop('SIGKILL');
  const restored = join(folder, 'restored');
  expect((await gannet(restored, 'restore', (JSON.parse(backup) as { path: string }).path)).status).toBe(0);
  return (service = await startTestService({ dataDir: restored, env: ENV }));
}

it('A restored backup sends all events of its records, even those that were queued while it was made', async () => {
  const dataDir = join(folder, 'data');
  const library = join(folder, 'silent-disk.so');
  execFileSync('cc', ['-shared', '-fPIC', '-o', library, SOURCE, '-ldl']);
  const isSilent = join(folder, 'is-silent');
  const slow = { ...ENV, LD_PRELOAD: library, SILENT_DISK: isSilent, SILENT_SYNC: `/${HELD_FILE}` };
  await startWithWebhook(dataDir, slow);
  await writeAndMove('before', BEFORE_BACKUP);
  writeFileSync(join(dataDir, HELD_FILE), 'copied when nobody waits in it');
  writeFileSync(isSilent, '');
  const backup = gannet(dataDir, 'backup', join(folder, 'backups'), '--json');
  await eventually(() => Promise.resolve(existsSync(`${isSilent}.waiting`)), Boolean);
  const during = await writeAndMove('during', WHILE_IT_IS_MADE);
  rmSync(isSilent);
  const { status, output, notes } = await backup;
  expect(status, notes).toBe(0);

  // What the first service sent after the copy of its queue is sent again, as the copy does not know of it.
  receiver.received.splice(0);
  await restoreInstead(output);
  const missing = await eventually(
    () => Promise.resolve(during.filter((name) => !told().has(name))),
    (left) => left.length === 0,
  );
  expect(missing).toEqual([]);
});

it('What happens after a backup was restored is sent under new ids, not under those of what it does not contain', async () => {
  const dataDir = join(folder, 'data');
  const first = await startWithWebhook(dataDir, ENV);
  await writeAndMove('before', 1);
  const { status, output, notes } = await gannet(dataDir, 'backup', join(folder, 'backups'), '--json');
  expect(status, notes).toBe(0);
  await writeAndMove('lost', 1);
  expect((await first.client.post('/list/default', { name: 'lost' })).status).toBe(201);
  await eventually(() => Promise.resolve(told().has('lost')), Boolean);

  const second = await restoreInstead(output);
  await writeAndMove('after', 1);
  expect((await second.client.post('/list/default', { name: 'after' })).status).toBe(201);
  await eventually(() => Promise.resolve(told().has('after')), Boolean);
  const namesById = new Map<string, Set<unknown>>();
  for (const { headers, body } of receiver.received) {
    const id = String(headers['x-service-delivery']);
    namesById.set(id, (namesById.get(id) ?? new Set()).add(body.data['name']));
  }
  expect([...namesById.values()].filter(({ size }) => size > 1)).toEqual([]);
});
