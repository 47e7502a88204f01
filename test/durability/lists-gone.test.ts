/**
 * Tests a disk with the lists that disappears while the service runs: nobody is told to delete lists that return with
 * the disk.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { gannet } from '../support/cli.js';
import { TestService } from '../support/service.js';
import { itWhere } from '../support/skip.js';
import { canMount } from '../support/small-file-system.js';

/** The fewest lists that may be open at a time, and more lists than that. */
const OPEN_MAX = 4;
const LISTS = Array.from({ length: 2 * OPEN_MAX }, (_, index) => `list-${index}`);
const SENTENCE = expect.stringMatching(
  /^The folder of all lists cannot be reached, .* bring it back .*; if its lists are gone for good, delete them\.$/u,
) as string;

let dataDir: string;
let service: TestService;
let unmount: (() => void) | undefined;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'gannet-gone-'));
  service = new TestService(dataDir, {
    dataDir,
    env: { GANNET_LISTS_OPEN_MAX: String(OPEN_MAX), GANNET_LOG_LEVEL: 'fatal' },
  });
});
afterEach(async () => {
  await service.stop('SIGKILL');
  unmount?.();
  unmount = undefined;
  rmSync(dataDir, { recursive: true, force: true });
});

const listOf = (name: string) => ({ name, searchable_fields: [{ name: 'title' }] });

/** Creates more lists than may be open, so that most of them are closed. */
async function makeLists(): Promise<void> {
  await service.start();
  const { client } = service;
  for (const name of LISTS) {
    expect((await client.post('/list/default', listOf(name))).status).toBe(201);
    expect((await client.bulk('default', name, [{ name: 'one', title: 'red' }])).status).toBe(200);
  }
  // The restart closes those that were used least recently.
  await service.stop();
  await service.start();
}

/** Checks every list, and returns how many are refused. */
async function expectGone(): Promise<number> {
  const answers = await Promise.all(
    LISTS.map((name) => service.client.get(`/search/default/${name}/1`, { query: 'red' })),
  );
  const refused = answers.filter(({ status }) => status !== 200);
  for (const { status, body } of refused)
    expect({ status, body }).toMatchObject({ status: 503, body: { code: 'list-missing', detail: SENTENCE } });
  expect(await service.client.post('/list/default', listOf('another'))).toMatchObject({
    status: 507,
    body: { code: 'storage-failed', detail: SENTENCE },
  });
  return refused.length;
}

async function expectBack(): Promise<void> {
  await service.stop();
  await service.start();
  for (const name of LISTS)
    expect((await service.client.get(`/search/default/${name}/1`, { query: 'red' })).body).toMatchObject({
      total_count: 1,
    });
  expect((await service.client.post('/list/default', listOf('another'))).status).toBe(201);
}

it('Lists whose common folder is gone are refused with that reason, no others are created, and all return with the folder', async () => {
  await makeLists();
  const [lists, away] = [join(dataDir, 'lists'), join(dataDir, 'away')];
  renameSync(lists, away);
  expect(await expectGone()).toBeGreaterThan(0);
  renameSync(away, lists);
  await expectBack();
});

it('The only list can be deleted if its folder is gone for good, as the refusal says, and new lists can be created', async () => {
  await service.start();
  const [name = ''] = LISTS;
  expect((await service.client.post('/list/default', listOf(name))).status).toBe(201);
  await service.stop();
  rmSync(join(dataDir, 'lists'), { recursive: true });
  await service.start();
  const { client } = service;
  expect((await client.post('/list/default', listOf('another'))).body).toMatchObject({ detail: SENTENCE });
  expect((await client.delete(`/list/default/${name}`)).status).toBeLessThan(300);
  expect((await client.post('/list/default', listOf('another'))).status).toBe(201);
});

/** Mounts a folder as a disk: unmounted, its content is gone, but the folder itself stays. */
function mountAtLists(): void {
  const [disk, lists] = [join(dataDir, '.disk'), join(dataDir, 'lists')];
  for (const folder of [disk, lists]) mkdirSync(folder, { recursive: true });
  execFileSync('mount', ['--bind', disk, lists]);
  unmount = () => {
    execFileSync('umount', ['-l', lists]);
    unmount = undefined;
  };
}

itWhere(canMount('lists on a disk that is unmounted'), 'mounting takes root')(
  'Lists on an unmounted disk are refused with that reason, also after a start and by doctor, and return with the disk',
  async () => {
    mountAtLists();
    await makeLists();
    unmount?.();
    expect(await expectGone()).toBeGreaterThan(0);
    await service.stop();
    await service.start();
    expect(await expectGone()).toBe(LISTS.length);
    await service.stop();
    const { checks } = JSON.parse((await gannet(dataDir, 'doctor', '--json')).output) as {
      checks: readonly { readonly name: string }[];
    };
    expect(checks.find(({ name }) => name === 'Catalogue')).toMatchObject({ state: 'failed', detail: SENTENCE });
    mountAtLists();
    await expectBack();
  },
);
