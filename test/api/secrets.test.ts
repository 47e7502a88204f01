/** Tests secrets on disk: encrypted, encrypted again with a new key, and without their key. */
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
import { ScriptedServer } from '../support/scripted-server.js';
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

/** Says whether any file of the data directory contains the text. */
function isOnDisk(text: string): boolean {
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.some((entry) => readFileSync(join(entry.parentPath, entry.name)).includes(text));
}

it('Secrets are encrypted on disk, sign after a restart, and are encrypted with a new key while the service runs', async () => {
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

/** Starts an S3 server with one file, which answers HEAD requests only when it may. */
async function slowBucket(): Promise<{ server: ScriptedServer; asked: Promise<void>; answer: () => void }> {
  const server = await ScriptedServer.start();
  let [answer, heard] = [(): void => undefined, (): void => undefined];
  const may = new Promise<void>((resolve) => (answer = resolve));
  const asked = new Promise<void>((resolve) => (heard = resolve));
  const file = { etag: '"one"', 'content-length': '4' };
  server.script = ({ method, path }, response) => {
    if (method === 'HEAD') {
      heard();
      void may.then(() => response.writeHead(path.endsWith('/a') ? 200 : 404, file).end());
    } else if (method === 'GET' && path.endsWith('/a')) response.writeHead(200, file).end('abcd');
    else if (method === 'GET') response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>');
    else response.writeHead(200, { etag: '"two"' }).end();
  };
  return { server, asked, answer };
}

const addBucket = (server: ScriptedServer) =>
  service!.control().post('/media-store/default', {
    name: 'bucket',
    kind: 's3',
    endpoint: server.url('').replace(/\/$/, ''),
    bucket: 'files',
    access_key_id: 'AKIATEST',
    secret_access_key: 'secret',
  });

it('A rotation of the key does not disturb reading a file of a bucket', async () => {
  service = await startTestService({ dataDir, env: SETTINGS });
  const { server, asked, answer } = await slowBucket();
  try {
    expect((await addBucket(server)).status).toBe(201);
    const reading = service.client.get('/media/default/bucket/a');
    await asked;
    expect((await service.control().post('/secret/rotate', undefined)).body).toEqual({ resealed: 1 });
    answer();
    expect(await reading).toMatchObject({ status: 200, text: 'abcd' });
    expect(await service.client.get('/media/default/bucket/a')).toMatchObject({ status: 200, text: 'abcd' });
  } finally {
    await server.close();
  }
});

it('A rotation of the key does not disturb a feed that is about to call its source', async () => {
  service = await startTestService({ dataDir, env: SETTINGS });
  const { server, asked, answer } = await slowBucket();
  const source = await ScriptedServer.start();
  source.script = (_asked, response) => response.end('{"rows": [{"id": "one"}]}');
  try {
    expect((await addBucket(server)).status).toBe(201);
    const auth_header = { name: 'Authorization', value: 'Bearer of the source' };
    const settings = { url: source.url('/rows'), records: '$.rows', name: '$.id', auth_header };
    const feed = { name: 'rows', provider: 'api', settings, media_store: 'bucket' };
    const connected = service.control().post('/feed/default/connect', feed);
    // Its first run looks for the file of an earlier one.
    await asked;
    source.asked.splice(0);
    expect((await service.control().post('/secret/rotate', undefined)).body).toEqual({ resealed: 2 });
    answer();
    expect((await connected).status).toBe(201);
    const told = () => source.asked.map(({ headers }) => headers.authorization);
    await expect.poll(told).toContain('Bearer of the source');
  } finally {
    await Promise.all([server, source].map((each) => each.close()));
  }
});

it('Secrets that an older version stored in plain text are encrypted at the start', async () => {
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

it('A webhook sends nothing unsigned if the key is lost, says so, and works again with a new secret', async () => {
  const { id } = await createWebhook();
  rmSync(keyFile());
  service = await startTestService({ dataDir, env: SETTINGS });
  await expect.poll(() => service?.output).toContain('its secret cannot be opened');
  await gannet('webhook', 'test', id);
  await expect.poll(() => gannet('webhook', 'deliveries', id)).toContain('not sent');
  expect(receiver.received).toEqual([]);
  await expect(gannet('webhook', 'secret', id)).rejects.toMatchObject({
    stderr: expect.stringContaining('Rotate the secret to get a new one') as string,
  });
  const secret = (await gannet('webhook', 'rotate-secret', id)).trim();
  expect((await gannet('webhook', 'secret', id)).trim()).toBe(secret);
  await gannet('webhook', 'test', id);
  await receiver.events(1);
  expect(isSignedBy(receiver.received[0]!, secret)).toBe(true);
});

it('gannet doctor names what has a secret whose key is lost, with the service running and without', async () => {
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
