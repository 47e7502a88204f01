/**
 * Tests that accounts are created, listed and deleted from the command line, and deleted with everything that they
 * hold.
 */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServiceClient } from '../support/client.js';
import { Person } from '../support/person.js';
import { startTestService, type TestService } from '../support/service.js';

const run = promisify(execFile);
const SETTINGS = { GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true', GANNET_SERVER_TRUSTED_PROXIES: '127.0.0.1' };
const PASSWORD = 'correct horse battery';

let service: TestService;
let control: ServiceClient;
beforeAll(async () => {
  service = await startTestService({ env: SETTINGS });
  control = service.control();
});
afterAll(() => service.close());

async function gannet(...args: string[]): Promise<string> {
  const env = { ...process.env, ...SETTINGS, GANNET_DATA_DIR: service.dataDir };
  return (await run(process.execPath, ['bin/gannet.js', ...args], { env })).stdout;
}

async function ok(answer: Promise<{ status: number; text: string; body: unknown }>): Promise<unknown> {
  const { status, text, body } = await answer;
  expect(status, text).toBeLessThan(300);
  return body;
}

interface Filled {
  readonly key: ServiceClient;
  readonly person: Person;
  readonly listIds: readonly string[];
}

/** Creates an account with some of everything in it. */
async function filled(account: string, lists: number): Promise<Filled> {
  const before = new Set(folders());
  await ok(control.post('/account', { name: account }));
  for (let i = 0; i < lists; i += 1) {
    await ok(control.post(`/list/${account}`, { name: `list-${i}` }));
    await ok(control.post(`/search-result/${account}/list-${i}`, { name: 'a', fields: { title: 'apple' } }));
  }
  await ok(control.post(`/list-group/${account}`, { name: 'all', lists: [{ list: 'list-0' }] }));
  const { key } = (await ok(control.post(`/api-key/${account}`, { name: 'k', access: 'full' }))) as { key: string };
  await ok(control.post(`/model/${account}`, { name: 'mine', provider: 'own', dimensions: 3 }));
  await ok(control.post('/webhook', { account, url: 'http://127.0.0.1:9/', events: ['list.created'] }));
  const { link } = (await ok(control.post(`/contributor/${account}/link`, { email: `owner@${account}.example` }))) as {
    link: string;
  };
  const person = new Person(service);
  await ok(person.signIn({ link: link.slice(link.indexOf('=') + 1), password: PASSWORD }));
  return { key: service.clientWith(key), person, listIds: folders().filter((id) => !before.has(id)) };
}

function folders(): string[] {
  return readdirSync(join(service.dataDir, 'lists')).filter((name) => !name.startsWith('.'));
}

const names = async () =>
  ((await ok(control.get('/account/all'))) as { accounts: { name: string }[] }).accounts.map(({ name }) => name);

describe('accounts', () => {
  it('are created and listed, and keep their lists and keys apart', async () => {
    expect(JSON.parse(await gannet('account', 'create', 'second', '--region', 'us'))).toMatchObject({
      name: 'second',
      region: 'us',
    });
    expect(await gannet('account', 'list')).toMatch(/ACCOUNT.*\n.*default.*\n.*second/);
    expect(await control.post('/account', { name: 'second' })).toMatchObject({ status: 409 });
    expect(await control.post('/account', { name: 'Not a name' })).toMatchObject({ status: 400 });
    expect(await service.client.get('/list/second')).toMatchObject({ status: 403, body: { code: 'out-of-scope' } });
    for (const answer of [service.client.get('/account/all'), service.client.post('/account', { name: 'x' })]) {
      expect(await answer).toMatchObject({ status: 403, body: { code: 'console-only' } });
    }
    expect(await service.client.delete('/account/second')).toMatchObject({ status: 403 });
  });

  it('are deleted with everything that they hold, and other accounts keep theirs', async () => {
    const { key, person, listIds } = await filled('third', 3);
    await filled('fourth', 1);
    expect(listIds).toHaveLength(3);
    expect((await key.get('/list/third')).status).toBe(200);
    await gannet('account', 'delete', 'third');
    expect(await names()).toEqual(expect.arrayContaining(['default', 'fourth']));
    expect(await names()).not.toContain('third');
    expect(await key.get('/account')).toMatchObject({ status: 401, body: { code: 'invalid-key' } });
    expect(await person.get('/session')).toMatchObject({ status: 401, body: { code: 'not-signed-in' } });
    // Only the command line is told this: keys and sessions of another account are told that it is out of their
    // scope.
    const unchecked = new ServiceClient(control.address, undefined);
    expect(await unchecked.get('/list/third')).toMatchObject({ status: 404, body: { code: 'account-not-found' } });
    for (const id of listIds) expect(existsSync(join(service.dataDir, 'lists', id)), id).toBe(false);
    // Another account of the same name starts with nothing of the first.
    await ok(control.post('/account', { name: 'third' }));
    expect(await control.get('/list/third')).toMatchObject({ body: { lists: [] } });
    expect(await control.get('/list-group/third')).toMatchObject({ body: { groups: [] } });
    expect(await control.get('/api-key/third')).toMatchObject({ body: { keys: [] } });
    expect(await control.get('/model/third/mine')).toMatchObject({ status: 404 });
    expect(await control.get('/webhook/third')).toMatchObject({ body: { webhooks: [] } });
    expect(await control.get('/contributor/third')).toMatchObject({ body: { contributors: [] } });
    expect(await control.get('/list/fourth/list-0')).toMatchObject({ status: 200, body: { record_count: 1 } });
  });

  it('are either complete or deleted entirely after the service is killed during the deletion', async () => {
    for (let round = 0; round < 4; round += 1) {
      const account = `killed-${round}`;
      const { listIds } = await filled(account, 4);
      const answer = control.delete(`/account/${account}`).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, round * 8));
      await service.stop('SIGKILL');
      const answered = await answer;
      await service.start({ withoutKey: true });
      control = service.control();
      const isThere = (await names()).includes(account);
      if (answered !== undefined) expect(isThere).toBe(false);
      const left = listIds.filter((id) => folders().includes(id));
      expect(left).toHaveLength(isThere ? listIds.length : 0);
      if (isThere) expect(await control.get(`/contributor/${account}`)).toMatchObject({ body: { contributors: [{}] } });
      else await ok(control.post('/account', { name: account }));
      if (!isThere) expect(await control.get(`/api-key/${account}`)).toMatchObject({ body: { keys: [] } });
    }
  });
});
