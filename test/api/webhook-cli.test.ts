/** Tests `gannet webhook …`, with the service running and without. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';

const run = promisify(execFile);
const SETTINGS = { GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true', GANNET_LOG_LEVEL: 'warn' };

const dataDir = mkdtempSync(join(tmpdir(), 'gannet-webhook-cli-'));
let receiver: WebhookReceiver;
let service: TestService | undefined;
beforeAll(async () => {
  receiver = await WebhookReceiver.start();
});
afterAll(async () => {
  await service?.stop();
  await receiver.close();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Returns the standard output of the command. */
async function gannet(...args: string[]): Promise<string> {
  return (await printed(...args)).stdout;
}

async function printed(...args: string[]): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('GANNET_'));
  const env = { ...Object.fromEntries(inherited), ...SETTINGS, GANNET_DATA_DIR: dataDir };
  return run(process.execPath, ['bin/gannet.js', 'webhook', ...args], { env });
}

it('gannet webhook creates webhooks and queues pings while the service is stopped, and the service sends them later', async () => {
  expect(await gannet('list')).toContain('has no webhooks');
  const json = await gannet('create', '--url', receiver.url(), '--events', 'list.created, list.deleted', '--json');
  const { id, secret } = JSON.parse(json) as { id: string; secret: string };
  expect(secret).toHaveLength(44);
  expect(await gannet('list')).toMatch(new RegExp(`${id} .*list\\.created,list\\.deleted`));
  const isStopped = 'The service is not running: nothing is sent until it runs';
  expect(await printed('test', id)).toEqual({
    stdout: expect.stringContaining('Queued the ping') as string,
    stderr: expect.stringContaining(isStopped) as string,
  });
  expect((await printed('replay', id)).stderr).toContain(isStopped);
  await expect(gannet('create', '--url', 'https://10.0.0.1/', '--events', 'list.created')).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('public internet') as string,
  });
  expect(receiver.received).toEqual([]);

  service = await startTestService({ dataDir, env: SETTINGS });
  expect(await receiver.events(1)).toMatchObject([['webhook.ping', { id }]]);
  const rotated = (await gannet('rotate-secret', id)).trim();
  expect(rotated).toHaveLength(44);
  expect((await gannet('secret', id)).trim()).toBe(rotated);
  await expect.poll(() => gannet('deliveries', id), { interval: 200 }).toMatch(/webhook\.ping .* 204 .*delivered/);
  expect(await gannet('deliveries', id, '--set-aside')).toContain('No deliveries are set aside');
  expect(await printed('replay', id)).toEqual({ stdout: 'Queued 0 deliveries again.\n', stderr: '' });
  expect(await gannet('delete', id)).toContain('Deleted the webhook');
  await expect(gannet('test', id)).rejects.toMatchObject({ code: 1 });
  expect(JSON.parse(await gannet('ls', '--json'))).toEqual({ webhooks: [] });
});
