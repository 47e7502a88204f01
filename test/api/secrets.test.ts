/** Secrets on disk: sealed, sealed anew, and what happens without their key. */
import { execFile } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CollectionStore } from '../../src/catalog/index.js';
import type { Check } from '../../src/cli/doctor/check.js';
import { openEnvironment } from '../../src/platform/index.js';
import { gannet as told } from '../support/cli.js';
import { startTestService, type TestService } from '../support/service.js';
import { WebhookReceiver, type Received } from '../support/webhook-receiver.js';

const run = promisify(execFile);
const SETTINGS = { GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true', GANNET_WEBHOOKS_RETRY_SECONDS: '1' };

let dataDir: string;
let receiver: WebhookReceiver;
let service: TestService | undefined;
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'gannet-secrets-api-'));
  receiver = await WebhookReceiver.start();
});
afterEach(async () => {
  await service?.stop();
  service = undefined;
  await receiver.close();
  rmSync(dataDir, { recursive: true, force: true });
});

interface Webhook {
  readonly id: string;
  readonly secret: string;
}

const keyFile = () => join(dataDir, 'secret-keys');
const otherKeys = () => `gannet secret keys 1\n${randomBytes(32).toString('base64')}\n`;

async function gannet(...args: string[]): Promise<string> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('GANNET_'));
  const env = { ...Object.fromEntries(inherited), ...SETTINGS, GANNET_DATA_DIR: dataDir };
  return (await run(process.execPath, ['bin/gannet.js', ...args], { env })).stdout;
}

async function createWebhook(): Promise<Webhook> {
  return JSON.parse(
    await gannet('webhook', 'create', '--url', receiver.url(), '--events', 'list.created', '--json'),
  ) as Webhook;
}

function isSignedBy({ headers, text }: Received, secret: string): boolean {
  const key = Buffer.from(secret, 'base64');
  const digest = createHmac('sha256', key)
    .update(`${String(headers['x-service-timestamp'])}.${text}`)
    .digest('hex');
  return headers['x-service-signature'] === `sha256=${digest}`;
}

/** Whether any file of the data directory holds the text. */
function isOnDisk(text: string): boolean {
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.some((entry) => readFileSync(join(entry.parentPath, entry.name)).includes(text));
}

it('keeps secrets sealed, signs with them after a new start, and seals them anew while it runs', async () => {
  const { id, secret } = await createWebhook();
  expect(isOnDisk(id)).toBe(true);
  expect(isOnDisk(secret)).toBe(false);
  expect(statSync(keyFile()).mode & 0o777).toBe(0o600);
  const before = readFileSync(keyFile(), 'utf8');

  service = await startTestService({ dataDir, env: SETTINGS });
  await gannet('webhook', 'test', id);
  await receiver.events(1);
  expect(isSignedBy(receiver.received[0]!, secret)).toBe(true);
  expect(JSON.parse(await gannet('call', 'secret.rotate'))).toEqual({ resealed: 1 });
  expect(readFileSync(keyFile(), 'utf8')).not.toBe(before);
  await service.stop('SIGKILL');
  await service.start();
  await gannet('webhook', 'test', id);
  await receiver.events(2);
  expect(isSignedBy(receiver.received[1]!, secret)).toBe(true);
});

it('seals what was kept open by an older version', async () => {
  const { id, secret } = await createWebhook();
  const environment = openEnvironment(join(dataDir, 'system'), { kind: 'system' });
  const store = CollectionStore.of(environment);
  const rows = store.collection<Webhook>('webhooks');
  await store.change((change) => {
    change.put(rows, id, { ...rows.get(id)!, secret });
  });
  await environment.close();
  rmSync(keyFile());

  service = await startTestService({ dataDir, env: SETTINGS });
  await gannet('webhook', 'test', id);
  await receiver.events(1);
  expect(isSignedBy(receiver.received[0]!, secret)).toBe(true);
  expect(existsSync(keyFile())).toBe(true);
});

it('sends nothing unsigned where the key is lost, says so, and goes on with a new secret', async () => {
  const { id } = await createWebhook();
  rmSync(keyFile());
  service = await startTestService({ dataDir, env: SETTINGS });
  await expect.poll(() => service?.output).toContain('its secret cannot be opened');
  await gannet('webhook', 'test', id);
  await expect.poll(() => gannet('webhook', 'deliveries', id)).toContain('not sent');
  expect(receiver.received).toEqual([]);
  await expect(gannet('webhook', 'secret', id)).rejects.toMatchObject({
    stderr: expect.stringContaining('Rotate the secret to have another') as string,
  });
  const secret = (await gannet('webhook', 'rotate-secret', id)).trim();
  expect((await gannet('webhook', 'secret', id)).trim()).toBe(secret);
  await gannet('webhook', 'test', id);
  await receiver.events(1);
  expect(isSignedBy(receiver.received[0]!, secret)).toBe(true);
});

it('doctor names what has a secret whose key is gone, with and without a service', async () => {
  const secretsOf = async () => {
    const { output } = await told(dataDir, 'doctor', '--json');
    return (JSON.parse(output) as { checks: readonly Check[] }).checks.find(({ name }) => name === 'Secrets');
  };
  expect(await secretsOf()).toMatchObject({ state: 'fine' });
  const { id } = await createWebhook();
  expect(await secretsOf()).toMatchObject({ state: 'fine' });
  const kept = readFileSync(keyFile());
  for (const change of [() => rmSync(keyFile()), () => writeFileSync(keyFile(), otherKeys())]) {
    change();
    const lost = { state: 'failed', detail: expect.stringContaining(`webhook default/${id}`) };
    expect(await secretsOf()).toMatchObject(lost);
    service = await startTestService({ dataDir, env: SETTINGS });
    expect(await secretsOf()).toMatchObject(lost);
    await service.stop();
  }
  writeFileSync(keyFile(), kept);
  expect(await secretsOf()).toMatchObject({ state: 'fine' });
  service = await startTestService({ dataDir, env: SETTINGS });
  expect(await secretsOf()).toMatchObject({ state: 'fine' });
});
