/**
 * Tests catalogues that were lost, emptied or replaced by an older copy: no start deletes a record, what does not fit
 * is reported, and `gannet doctor --adopt-lists` restores the lists.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from '../../src/platform/lmdb.js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openEnvironment } from '../../src/platform/index.js';
import { gannet } from '../support/cli.js';
import type { ServiceClient } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { TestService } from '../support/service.js';

const SETTINGS = {
  language: 'de',
  searchable_fields: [{ name: 'title', weight: 2 }],
  facets: [{ name: 'year', type: 'number' }],
  location_field: 'place',
  synonym_rules: [{ kind: 'equivalent', terms: ['vogel', 'tier'] }],
  query_rules: [{ name: 'years', pattern: String.raw`\b(\d{4})\b`, filter: 'year = $1' }],
  suggestions: { require_click: true },
};
interface Check {
  readonly name: string;
  readonly state: string;
  readonly detail: string;
}

/**
 * A data directory with the list `birds`, as left by a service: each test gets a copy of it, without a running
 * service.
 */
const original = mkdtempSync(join(tmpdir(), 'gannet-lost-'));
let birds: unknown;
let service: TestService;
let dataDir: string;
beforeAll(async () => {
  service = new TestService(original, { dataDir: original });
  await service.start();
  await make('birds', SETTINGS);
  birds = await resource(service.client, 'birds');
  await service.stop();
});
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'gannet-lost-'));
  cpSync(original, dataDir, { recursive: true, filter: (path) => !path.endsWith('.sock') });
  service = new TestService(dataDir, { dataDir });
});
afterEach(async () => {
  await service.close();
  rmSync(dataDir, { recursive: true, force: true });
});
afterAll(() => rmSync(original, { recursive: true, force: true }));

async function make(name: string, settings: object = {}): Promise<void> {
  const made = await service.client.post('/list/default', {
    name,
    searchable_fields: [{ name: 'title' }],
    ...settings,
  });
  expect(made.status, made.text).toBe(201);
  const records = Array.from({ length: 20 }, (_, number) => ({ name: `${name}-${number}`, title: `vogel ${name}` }));
  expect((await service.client.bulk('default', name, records)).body).toMatchObject({ created: 20 });
}

async function idOf(name: string): Promise<string> {
  await service.stop();
  const environment = openEnvironment(join(dataDir, 'system'), { kind: 'system', readOnly: true });
  try {
    return (environment.database('lists').get(`default/${name}`) as { readonly id: string }).id;
  } finally {
    await environment.close();
  }
}

const system = () => join(dataDir, 'system');
const folders = () =>
  readdirSync(join(dataDir, 'lists'))
    .filter((name) => name !== '.unknown')
    .sort();
const unknown = () => {
  const path = join(dataDir, 'lists', '.unknown');
  return existsSync(path) ? readdirSync(path).sort() : [];
};

async function resource(client: ServiceClient, name: string): Promise<unknown> {
  const { body } = await client.get(`/list/default/${name}`);
  // The time of the last change is the time at which the list was adopted.
  return { ...(body as object), modified_utc: undefined };
}

async function found(name: string): Promise<number> {
  const { body, text } = await service.client.get(`/search/default/${name}/1`, { query: 'vogel' });
  expect(body, text).toHaveProperty('total_count');
  return (body as { readonly total_count: number }).total_count;
}

async function check(name: string): Promise<Check | undefined> {
  const { output } = await gannet(dataDir, 'doctor', '--json');
  return (JSON.parse(output) as { readonly checks: readonly Check[] }).checks.find((each) => each.name === name);
}

/** Ways to lose the catalogue. */
const WAYS: readonly (readonly [string, () => Promise<void> | void])[] = [
  ['missing', () => rmSync(system(), { recursive: true })],
  ['empty', () => truncateSync(join(system(), 'data.mdb'), 0)],
  ['without its file', () => rmSync(join(system(), 'data.mdb'))],
  [
    'new',
    async () => {
      rmSync(system(), { recursive: true });
      await openEnvironment(system(), { kind: 'system' }).close();
    },
  ],
];

describe('a lost catalogue', () => {
  it.each(WAYS)('stops the start if it is %s, and adopting restores the lists', async (_how, lose) => {
    const ids = folders();
    await lose();
    for (let time = 0; time < 2; ++time) {
      await expect(service.start()).rejects.toThrow(/gannet doctor --adopt-lists/);
      expect(folders()).toEqual(ids);
    }
    expect(await check('Catalogue')).toMatchObject({ state: 'failed' });
    const adopted = await gannet(dataDir, 'doctor', '--adopt-lists');
    expect(adopted.status, adopted.notes).toBe(0);
    expect(adopted.output).toMatch(
      /Created the account default again[^]*Adopted the list default\/birds with 20 records[^]*API keys, groups/,
    );
    await service.start();
    expect(folders()).toEqual(ids);
    expect(await resource(service.client, 'birds')).toEqual(birds);
    expect(await found('birds')).toBe(20);
  });

  it('has the latest settings after its lists were adopted', async () => {
    await service.start();
    await service.client.put('/list/synonyms/default/birds', { rules: [] });
    await service.client.put('/list/default/birds', { suggestions: { require_click: false } });
    await service.client.post('/facet/default/birds', { name: 'size', type: 'number' });
    const before = await resource(service.client, 'birds');
    await service.stop();
    rmSync(system(), { recursive: true });
    await gannet(dataDir, 'doctor', '--adopt-lists');
    await service.start();
    const after = await eventually(
      () => resource(service.client, 'birds'),
      (list) => (list as { readonly current_version: number }).current_version === 2,
    );
    expect(after).toMatchObject({ synonym_rules: [], suggestions: { require_click: false }, facets: [{}, {}] });
    expect(after).toMatchObject({ created_utc: (before as { readonly created_utc: string }).created_utc });
  });

  it('is created again in a data directory without lists', async () => {
    await service.start();
    await service.client.delete('/list/default/birds');
    await service.stop();
    expect(folders()).toEqual([]);
    rmSync(system(), { recursive: true });
    await service.start();
    expect((await service.client.get('/list/default')).body).toEqual({ lists: [] });
  });
});

describe('an older copy of the catalogue', () => {
  it('loses no list: newer lists are moved aside, and deleted ones are named', async () => {
    await service.start();
    await make('deleted');
    await service.stop();
    cpSync(system(), join(dataDir, 'copy'), { recursive: true });
    await service.start();
    await make('young');
    await service.client.delete('/list/default/deleted');
    const youngId = await idOf('young');
    renameSync(system(), join(dataDir, 'right'));
    renameSync(join(dataDir, 'copy'), system());
    await service.start();
    expect(unknown()).toEqual([youngId]);
    await expect.poll(() => service.output).toContain(join(dataDir, 'lists', '.unknown', youngId));
    for (const path of ['/list/default/deleted', '/search/default/deleted/1', '/search-result/default/deleted']) {
      expect((await service.client.get(path)).body).toMatchObject({ status: 503, code: 'list-missing' });
    }
    expect((await service.client.post('/search-result/default/deleted', { name: 'a' })).status).toBe(503);
    expect((await service.client.get('/list/default')).body).toMatchObject({
      lists: [{ name: 'birds' }],
      unavailable: [{ name: 'deleted', code: 'list-missing' }],
    });
    expect(await found('birds')).toBe(20);
    expect(await check('Catalogue')).toMatchObject({
      state: 'failed',
      detail: expect.stringContaining('default/deleted'),
    });
    expect(await check('Unknown lists')).toMatchObject({ state: 'notice', detail: expect.stringContaining(youngId) });
    // Nothing was created in their place.
    expect(folders()).toHaveLength(1);
    expect((await service.client.delete('/list/default/deleted')).status).toBe(204);

    await service.stop();
    cpSync(system(), join(dataDir, 'older'), { recursive: true });
    expect((await gannet(dataDir, 'doctor', '--adopt-lists')).output).toContain('Adopted the list default/young');
    await service.start();
    expect([await found('young'), unknown()]).toEqual([20, []]);

    // The right catalogue, put back after the older one was used, finds the folder that was moved aside.
    await service.stop();
    rmSync(system(), { recursive: true });
    renameSync(join(dataDir, 'older'), system());
    await service.start();
    expect(unknown()).toEqual([youngId]);
    await service.stop();
    rmSync(system(), { recursive: true });
    renameSync(join(dataDir, 'right'), system());
    await service.start();
    expect([await found('young'), unknown()]).toEqual([20, []]);
  });
});

describe('adopting lists', () => {
  it('names lists of an earlier release by their id, and adds a suffix to names that are taken', async () => {
    await service.start();
    await make('fish');
    const [birdsId, fish] = [await idOf('birds'), await idOf('fish')];
    const store = open({ path: join(dataDir, 'lists', fish, 'store'), noSubdir: false, maxDbs: 128 });
    await store.openDB({ name: 'meta', encoding: 'msgpack' }).remove('entry');
    await store.close();
    cpSync(join(dataDir, 'lists', birdsId), join(dataDir, 'lists', '.unknown', birdsId), { recursive: true });
    mkdirSync(join(dataDir, 'lists', '.unknown', 'x1', 'store'), { recursive: true });
    rmSync(system(), { recursive: true });
    const { status, output } = await gannet(dataDir, 'doctor', '--adopt-lists');
    // A folder without a list stays, and the exit status shows it.
    expect([status, unknown()]).toEqual([1, ['x1']]);
    expect(output).toContain(
      'Adopted the list default/birds-2 with 20 records; its name birds is taken by another list',
    );
    expect(output).toContain(`Adopted the list default/list-${fish} with 20 records; its name and account are unknown`);
    await service.start();
    expect(await Promise.all(['birds', 'birds-2', `list-${fish}`].map(found))).toEqual([20, 20, 20]);
  });

  it('is refused while the service runs', async () => {
    await service.start();
    const { status, notes } = await gannet(dataDir, 'doctor', '--adopt-lists');
    expect(status).not.toBe(0);
    expect(notes).toMatch(/in use by another process/);
  });
});
