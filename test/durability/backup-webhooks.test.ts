/** What a backup knows of a change it also has to tell: whoever was away while it was made is told of all that it has. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { gannet } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { startTestService, type TestService } from '../support/service.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';

const OTHER_LISTS = 10;
const BEFORE_BACKUP = 20;
const ENV = {
  GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true',
  GANNET_WEBHOOKS_RETRY_SECONDS: Array.from({ length: 20 }, () => 1).join(','),
};

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

/** Writes one record after the other until it is told to stop. */
function writing({ client }: TestService): { readonly written: () => number; stop(): Promise<void> } {
  let written = 0;
  let isStopped = false;
  const done = (async () => {
    while (!isStopped) {
      const { status } = await client.post('/search-result/default/last', { name: `r${written}`, title: 'one' });
      expect(status).toBe(201);
      written += 1;
    }
  })();
  const stop = () => {
    isStopped = true;
    return done;
  };
  return { written: () => written, stop };
}

async function recordsOf({ client }: TestService): Promise<string[]> {
  const names: string[] = [];
  for (let after: string | undefined = ''; after !== undefined;) {
    const { body } = await client.get('/search-result/default/last', after === '' ? {} : { after });
    const page = body as { readonly results: readonly { readonly name: string }[]; readonly next?: string };
    names.push(...page.results.map(({ name }) => name));
    after = page.next;
  }
  return names;
}

it('has every event of the records that it has, also of those that were moved to the queue while it was made', async () => {
  const dataDir = join(folder, 'data');
  receiver.answering = (_delivery, response) => response.writeHead(503).end();
  service = await startTestService({ dataDir, env: ENV });
  for (let list = 0; list < OTHER_LISTS; list += 1)
    await service.client.post('/list/default', { name: `list-${list}`, searchable_fields: [{ name: 'title' }] });
  await service.client.post('/list/default', { name: 'last', searchable_fields: [{ name: 'title' }] });
  const subscribed = await service.client.post('/webhook', {
    account: 'default',
    url: receiver.url(),
    events: ['searchresult.created'],
  });
  expect(subscribed.status, subscribed.text).toBe(201);
  const writer = writing(service);
  await eventually(
    () => Promise.resolve(writer.written()),
    (written) => written > BEFORE_BACKUP,
  );
  const { status, output, notes } = await gannet(dataDir, 'backup', join(folder, 'backups'), '--json');
  expect(status, notes).toBe(0);
  await writer.stop();
  await service.stop();

  receiver.received.splice(0);
  receiver.answering = (_delivery, response) => response.writeHead(204).end();
  const restored = join(folder, 'restored');
  expect((await gannet(restored, 'restore', (JSON.parse(output) as { path: string }).path)).status).toBe(0);
  service = await startTestService({ dataDir: restored, env: ENV });
  const names = await recordsOf(service);
  expect(names.length).toBeGreaterThan(BEFORE_BACKUP);
  const untold = () => {
    const told = new Set(receiver.received.map(({ body }) => body.data['name']));
    return names.filter((name) => !told.has(name));
  };
  const missing = await eventually(
    () => Promise.resolve(untold()),
    (left) => left.length === 0,
  );
  expect(missing).toEqual([]);
});
