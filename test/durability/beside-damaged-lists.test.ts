/** Tests an account with a damaged list: whatever is about the account, or about its other lists, still works. */
import { closeSync, mkdtempSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { allOperations } from '../../src/main.js';
import { gannet } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { startTestService, type TestService } from '../support/service.js';

const PAGE_BYTES = 4096;
const SETTINGS = { GANNET_PLANS_OFFERED: 'some records=1000 lists=10 feeds=10 storage_bytes=1000000000' };
/** Operations for people only, those that need more than an account, and a stream without an end. */
const LEFT_OUT = new Set(['progress.watch', 'session.read', 'session.list', 'backup.list', 'backup.check']);

const operations = await allOperations();
const ofAccounts = operations.filter(
  ({ name, method, path }) => method === 'GET' && !LEFT_OUT.has(name) && path.replace('{account}', '').indexOf('{') < 0,
);

let dataDir: string;
let service: TestService;
beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'gannet-beside-damaged-'));
  service = await startTestService({ dataDir, env: SETTINGS });
  await make('fish');
  const damaged = await make('birds');
  await service.client.post('/list-group/default', { name: 'animals', lists: [{ list: 'fish' }, { list: 'birds' }] });
  expect((await service.control().put('/plan/default', { plan: 'some' })).status).toBe(200);
  await service.stop();
  const file = openSync(join(dataDir, 'lists', damaged, 'store', 'data.mdb'), 'r+');
  writeSync(file, Buffer.alloc(2 * PAGE_BYTES, 0x5a), 0, 2 * PAGE_BYTES, 0);
  closeSync(file);
  await service.start();
  const answer = await eventually(
    () => service.client.get('/search/default/birds/1', { query: 'word' }),
    ({ status }) => status !== 200,
  );
  expect(answer).toMatchObject({ status: 503, body: { code: 'list-damaged' } });
});
afterAll(async () => {
  await service.close();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Creates a list with a record, and returns its folder. */
async function make(name: string): Promise<string> {
  const folders = () => readdirSync(join(dataDir, 'lists')).filter((folder) => !folder.startsWith('.'));
  const before = new Set(folders());
  await service.client.post('/list/default', { name, searchable_fields: [{ name: 'title' }] });
  await service.client.post(`/search-result/default/${name}`, { name: 'one', fields: { title: 'word' } });
  const made = folders().find((folder) => !before.has(folder));
  if (made === undefined) throw new Error('a list has no folder');
  return made;
}

it.each(ofAccounts.map(({ name, path }) => [name, path]))(
  '%s works for an account with a damaged list',
  async (_, path) => {
    const { status, text } = await service.control().get(path.replace('{account}', 'default'));
    expect([status, text.slice(0, 300)]).toEqual([200, expect.anything()]);
  },
);

it('The plan counts the lists that can be opened, and the damaged list is named as a trouble', async () => {
  const control = service.control();
  expect((await control.get('/plan/default')).body).toMatchObject({
    usage: { records: { used: 1 }, lists: { used: 2 } },
  });
  expect((await control.get('/list/default')).body).toMatchObject({
    lists: [{ name: 'fish' }],
    unavailable: [{ name: 'birds', code: 'list-damaged' }],
  });
  expect((await control.get('/service/state/default')).body).toMatchObject({
    troubles: [{ kind: 'list', account: 'default', name: 'birds', detail: expect.stringContaining('is damaged') }],
    databases: { unreadable: [], set_aside: [] },
  });
  const { output } = await gannet(dataDir, 'service', 'state');
  expect(output).toMatch(/^Trouble +list default\/birds: /m);
});

it('Other lists of the account can be written, created, copied and searched', async () => {
  const { client } = service;
  const statuses = [
    await client.post('/search-result/default/fish', { name: 'two', fields: { title: 'word' } }),
    await client.bulk('default', 'fish', [{ name: 'three', title: 'word' }]),
    await client.post('/list/default', { name: 'bats', searchable_fields: [{ name: 'title' }] }),
    await client.post('/list/default/fish/clone', { name: 'more-fish' }),
    await client.get('/search/default/fish/1', { query: 'word' }),
  ].map(({ status }) => status);
  expect(statuses).toEqual([201, 200, 201, 201, 200]);
});

it('A search of a group names its damaged list, which can be removed from the group', async () => {
  const { client } = service;
  const search = () => client.get('/search/group/default/animals/latest', { query: 'word' });
  expect(await search()).toMatchObject({ status: 503, body: { code: 'list-damaged' } });
  expect((await client.put('/list-group/default/animals', { lists: [{ list: 'fish' }] })).status).toBe(200);
  expect((await search()).status).toBe(200);
});
