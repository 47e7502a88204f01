/** Tests that what an operator asks first is in one answer, one command, and the metrics that alerts are made of. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { gannet } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { startTestService, type TestService } from '../support/service.js';
import { listResource } from '../../src/operations/api/list-schemas.js';
import { meaningDetail } from '../../src/service-state.js';

interface State {
  readonly release: string;
  readonly started_utc: string;
  readonly disk: { readonly free_bytes: number; readonly used: readonly { readonly name: string }[] };
  readonly lists: { readonly all: number };
  readonly backup: {
    readonly last: { readonly path: string; readonly finished_utc: string } | null;
    readonly failure: { readonly detail: string } | null;
  };
  readonly troubles: readonly { readonly kind: string; readonly name: string; readonly detail: string }[];
}

let service: TestService;
let backups: string;
beforeAll(async () => {
  backups = mkdtempSync(join(tmpdir(), 'gannet-state-backups-'));
  service = await startTestService({ env: { GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true' } });
  await service.client.post('/list/default', { name: 'films' });
  await service.client.post('/search-result/default/films', { name: 'one', fields: { title: 'Heat' } });
});
afterAll(async () => {
  await service.close();
  rmSync(backups, { recursive: true, force: true });
});

const state = async () => (await service.control().get('/service/state/default')).body as State;

it('The state of the service shows the release, the start, the free space, and what uses the disk', async () => {
  const { release, started_utc: started, disk, lists } = await state();
  expect(release).toMatch(/^\d+\.\d+\.\d+/);
  expect(Math.abs(Date.now() - Date.parse(started))).toBeLessThan(3_600_000);
  expect(disk.free_bytes).toBeGreaterThan(0);
  expect(disk.used.map(({ name }) => name)).toEqual(expect.arrayContaining(['lists', 'system']));
  expect(lists.all).toBe(1);
  expect(await service.metric('gannet_disk_free_bytes')).toBeGreaterThan(0);
  expect(await service.metric(`gannet_build_info{release="${release}",node="${process.versions.node}"}`)).toBe(1);
  expect((await service.client.get('/service/state/default')).status).toBe(403);
});

it('A record that shares no word with another one is counted by its list, and is no trouble: the demo had one when it began', async () => {
  const titles = Array.from({ length: 70 }, (_, at) => `gull${at % 7} wave${at % 5} sea`);
  const records = [...titles, 'unheard of'].map((title, at) => ({ name: `record ${at}`, title }));
  await service.client.post('/list/default', {
    name: 'sea',
    model: 'built-in',
    searchable_fields: [{ name: 'title' }],
  });
  await service.client.bulk('default', 'sea', records);
  const { meaning } = await eventually(
    async () => (await service.client.get('/list/default/sea')).body as { meaning: { embedded: number } },
    ({ meaning: { embedded } }) => embedded === titles.length,
  );
  expect(meaning).toEqual({ state: 'ready', embedded: 70, pending: 0, failed: 1, error: 'unknown-words' });
  expect((await state()).troubles).toEqual([]);
  expect(await service.metric('gannet_records_embedding_failed')).toBe(0);
});

it('The state of the service shows the last backup and a later failed one, also after a restart', async () => {
  expect((await state()).backup).toEqual({ last: null, failure: null });
  expect(await service.metric('gannet_backup_last_success_timestamp_seconds')).toBe(0);
  expect((await gannet(service.dataDir, 'backup', backups)).status).toBe(0);
  const { last } = (await state()).backup;
  expect(last?.path).toContain(backups);
  const seconds = await service.metric('gannet_backup_last_success_timestamp_seconds');
  expect(seconds).toBeCloseTo(Date.parse(last?.finished_utc ?? '') / 1000, 2);
  const file = join(backups, 'file');
  writeFileSync(file, '');
  expect((await gannet(service.dataDir, 'backup', join(file, 'below'))).status).not.toBe(0);
  const { backup } = await state();
  expect(backup).toEqual({
    last,
    failure: expect.objectContaining({ detail: expect.stringContaining(file) as string }) as object,
  });
  await service.stop();
  await service.start({ withoutKey: true });
  expect((await state()).backup).toEqual(backup);
  const { output } = await gannet(service.dataDir, 'doctor');
  expect(output).toMatch(/! Last backup +20.* the last attempt failed at/);
});

it('The state of the service reports a feed whose source cannot be reached', async () => {
  const control = service.control();
  const website = createServer((_, response) => response.end('<title>Docs</title><p>Some words of it.'));
  await new Promise<void>((resolve) => website.listen(0, '127.0.0.1', resolve));
  const { port } = website.address() as AddressInfo;
  const feed = { name: 'docs', provider: 'website', settings: { start_urls: [`http://127.0.0.1:${port}/`] } };
  expect(await control.post('/feed/default/connect', feed)).toMatchObject({ body: { name: 'docs' } });
  website.closeAllConnections();
  website.close();
  await control.send('POST', '/feed/default/docs/sync');
  const found = await eventually(
    async () => (await state()).troubles,
    (troubles) => troubles.length > 0,
  );
  expect(found).toEqual([expect.objectContaining({ kind: 'feed', account: 'default', name: 'docs' })]);
  expect((await gannet(service.dataDir, 'doctor')).output).toMatch(/! Trouble +feed default\/docs: /);
  expect((await gannet(service.dataDir, 'service', 'state')).output).toMatch(/Trouble +feed default\/docs: /);
});

it('Each reason why records have no vectors has its words', () => {
  const reasons =
    /most frequent reason why records failed: (.+?)\. At most/.exec(JSON.stringify(listResource))?.[1] ?? '';
  const codes = Array.from(reasons.matchAll(/`([a-z-]+)`/g), ([, code]) => code as string);
  expect(codes).toContain('unknown-words');
  const bare = codes.filter((error) =>
    meaningDetail({ state: 'ready', failed: 1, pending: 0, error }).endsWith(`: ${error}`),
  );
  expect(bare).toEqual([]);
});
