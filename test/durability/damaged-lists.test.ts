/**
 * Tests what an operator sees of damaged lists: `gannet doctor` names them, with the service running and without, and
 * they can be deleted.
 */
import { closeSync, existsSync, mkdtempSync, openSync, readdirSync, rmSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Check } from '../../src/cli/doctor/check.js';
import { gannet } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { startTestService, type TestService } from '../support/service.js';

const PAGE_BYTES = 4096;

let dataDir: string;
let service: TestService;
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'gannet-damaged-lists-'));
  service = await startTestService({ dataDir });
  for (const name of ['birds', 'fish']) {
    await service.client.post('/list/default', { name, searchable_fields: [{ name: 'title' }] });
    const lines = Array.from({ length: 50 }, (_, index) => ({ name: `${name}-${index}`, title: `word ${index}` }));
    expect((await service.client.bulk('default', name, lines)).status).toBe(200);
  }
});
afterEach(async () => {
  await service.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const ids = () =>
  readdirSync(join(dataDir, 'lists'))
    .filter((name) => !name.startsWith('.'))
    .sort();

function aSegment(): string {
  const segments = ids().flatMap((id) => {
    const folder = join(dataDir, 'lists', id, 'segments');
    return readdirSync(folder).map((file) => join(folder, file));
  });
  const path = segments.find((each) => each.endsWith('.mdb'));
  if (path === undefined) throw new Error('no segment was written');
  return path;
}

function overwrite(path: string, at: number, bytes: number): void {
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(bytes, 0x5a), 0, bytes, at);
  closeSync(file);
}

async function doctor(
  ...options: readonly string[]
): Promise<{ ok: boolean; check: (name: string) => Check | undefined }> {
  const { status, output, notes } = await gannet(dataDir, 'doctor', '--json', ...options);
  expect([0, 1], notes).toContain(status);
  const { ok, checks } = JSON.parse(output) as { readonly ok: boolean; readonly checks: readonly Check[] };
  expect(status).toBe(ok ? 0 : 1);
  return { ok, check: (name) => checks.find((each) => each.name === name) };
}

it('gannet doctor checks a data directory in use through the running service, and both keep working', async () => {
  for (const options of [[], ['--data']]) {
    const { ok, check } = await doctor(...options);
    expect([ok, check('Catalogue')]).toEqual([true, expect.objectContaining({ state: 'fine' })]);
    expect(check('Service')?.detail).toMatch(/running; .*2 lists, 100 records/);
  }
  expect((await service.client.get('/search/default/fish/1', { query: 'word' })).body).toMatchObject({
    total_count: 50,
  });
  expect((await service.client.post('/search-result/default/fish', { name: 'new' })).status).toBe(201);
});

it('A list with a damaged store is named by gannet doctor and the service, and can be deleted', async () => {
  await service.client.post('/list/default', { name: 'bats', searchable_fields: [{ name: 'title' }] });
  const [hit] = ids();
  if (hit === undefined) throw new Error('there is no list');
  await service.stop();
  overwrite(join(dataDir, 'lists', hit, 'store', 'data.mdb'), 0, 2 * PAGE_BYTES);
  const before = await doctor();
  const stores = before.check('Stores of lists');
  expect([before.ok, stores?.state]).toEqual([false, 'failed']);
  const name = /default\/(\w+)/.exec(stores?.detail ?? '')?.[1] ?? '';
  expect(['birds', 'fish', 'bats']).toContain(name);

  await service.start();
  const { lists, unavailable } = (await service.client.get('/list/default')).body as {
    readonly lists: readonly { readonly name: string }[];
    readonly unavailable: readonly { readonly name: string; readonly code: string }[];
  };
  expect(lists).toHaveLength(2);
  expect(unavailable).toMatchObject([{ name, code: 'list-damaged' }]);
  const { output, notes } = await gannet(dataDir, 'list');
  expect([output.split('\n').length, notes]).toEqual([4, expect.stringContaining(`${name} is unavailable: `)]);
  // It is logged once, however many requests meet it.
  const told = () => service.output.split('\n').filter((line) => /"level":[45]0/.test(line) && line.includes(hit));
  await expect.poll(told).toHaveLength(1);
  const beside = await doctor();
  expect(beside.check('Catalogue')).toMatchObject({
    state: 'failed',
    detail: expect.stringContaining(`default/${name}`),
  });
  expect((await doctor('--data')).check(`Records of ${name}`)).toMatchObject({ state: 'failed' });

  expect((await service.client.delete(`/list/default/${name}`)).status).toBe(204);
  expect(existsSync(join(dataDir, 'lists', hit))).toBe(false);
  expect((await doctor()).ok).toBe(true);
  expect((await service.client.post('/list/default', { name, searchable_fields: [{ name: 'title' }] })).status).toBe(
    201,
  );
  await service.stop();
  await service.start();
  const after = (await service.client.get('/list/default')).body as { readonly lists: readonly unknown[] };
  expect(after).not.toHaveProperty('unavailable');
  expect(after.lists).toHaveLength(3);
});

it('A damaged segment is named by gannet doctor --data, and rebuilt at the next start', async () => {
  await service.stop();
  const path = aSegment();
  expect((await doctor('--data')).check('Segment checksums')).toMatchObject({ state: 'fine' });
  overwrite(path, 3 * PAGE_BYTES + 100, 1);
  expect((await doctor('--data')).check('Segment checksums')).toMatchObject({
    state: 'failed',
    detail: expect.stringContaining(path),
  });
  // Whatever opens the list rebuilds the segment, and so does this command.
  const removed = aSegment();
  unlinkSync(removed);
  expect((await doctor('--data')).check('Missing segments')).toMatchObject({
    state: 'notice',
    detail: expect.stringContaining(removed),
  });
  expect((await doctor('--data')).check('Missing segments')).toMatchObject({ state: 'fine' });
  await service.start();
  for (const list of ['birds', 'fish']) {
    const answer = await eventually(
      () => service.client.get(`/search/default/${list}/1`, { query: 'word' }),
      ({ status }) => status !== 503,
    );
    expect([list, (answer.body as { total_count?: number }).total_count]).toEqual([list, 50]);
  }
});

it('Damaged analytics are a notice of gannet doctor, and the service sets them aside and continues', async () => {
  expect((await service.client.get('/search/default/fish/1', { query: 'word' })).status).toBe(200);
  await service.stop();
  const path = join(dataDir, 'analytics', 'events', 'data.mdb');
  overwrite(path, 0, 2 * PAGE_BYTES);
  const { ok, check } = await doctor();
  expect([ok, check('Data of analytics')]).toEqual([
    true,
    expect.objectContaining({ state: 'notice', detail: expect.stringContaining('will set it aside') }),
  ]);
  await service.start();
  await service.client.get('/analytics/list/default/fish');
  await eventually(
    () => Promise.resolve(readdirSync(join(dataDir, 'analytics'))),
    (names) => names.some((name) => name.startsWith('events.damaged-')),
  );
});
