/**
 * Tests that every environment states its kind and format, and that others are refused. The environments are found on
 * disk, so that a new one without a format number fails here.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { open } from '../../src/platform/lmdb.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FEATURES } from '../../src/features.js';
import { ENVIRONMENT_FORMATS, FORMAT_KEY, type FormatRow } from '../../src/platform/index.js';
import { gannet } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { changeFormat, segmentFilesOf } from '../support/segment-damage.js';
import { TestService } from '../support/service.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';

const FORMATS = [
  ...Object.values(ENVIRONMENT_FORMATS),
  ...FEATURES.flatMap(({ environments = [] }) => environments.map(({ format }) => format)),
];
const KINDS = FORMATS.map(({ kind }) => kind);
const SETTINGS = { GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true' };

let dataDir: string;
let receiver: WebhookReceiver;
/** Folders of environments, by their kind. */
let folders: Map<string, string>;

/** Returns every folder with an environment in it. */
function environmentsIn(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  return entries.filter(({ name }) => name === 'data.mdb').map(({ parentPath }) => parentPath);
}

function rowOf(path: string): FormatRow | undefined {
  const root = open({ path, noSubdir: false, readOnly: true, maxDbs: 64 });
  const row = root.get(FORMAT_KEY) as FormatRow | undefined;
  void root.close();
  return row;
}

function changeRow(path: string, row: unknown, overlappingSync = false): void {
  const root = open({ path, noSubdir: false, maxDbs: 64, overlappingSync });
  if (row === undefined) root.removeSync(FORMAT_KEY);
  else root.putSync(FORMAT_KEY, row);
  void root.close();
}

/** Starts the service on the data directory, runs the action, and stops it. */
async function withService<Result>(action: (service: TestService) => Promise<Result>): Promise<Result> {
  const service = new TestService(dataDir, { dataDir, env: SETTINGS });
  try {
    await service.start();
    return await action(service);
  } finally {
    await service.stop();
  }
}

const folderOf = (kind: string) => folders.get(kind) ?? '';
const numberOf = (kind: string) => FORMATS.find((format) => format.kind === kind)?.number ?? 0;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'gannet-formats-'));
  receiver = await WebhookReceiver.start();
  await withService(async ({ client }) => {
    for (const [path, body] of [
      ['/list/default', { name: 'films', searchable_fields: [{ name: 'title' }] }],
      ['/webhook', { url: receiver.url(), events: ['searchresult.created'] }],
      ['/search-result/default/films', { name: 'one', fields: { title: 'red' } }],
    ] as const) {
      const { status, text } = await client.post(path, body);
      expect(status, text).toBe(201);
    }
    await client.get('/search/default/films/1', { query: 'red' });
    await eventually(
      () => Promise.resolve(receiver.received),
      ({ length }) => length > 0,
    );
  });
  folders = new Map(environmentsIn(dataDir).map((path) => [rowOf(path)?.kind ?? path, path]));
});
afterAll(async () => {
  await receiver.close();
  rmSync(dataDir, { recursive: true, force: true });
});

describe('environments', () => {
  it('all state their kind and format', () => {
    expect([...folders.keys()].sort()).toEqual([...KINDS].sort());
    for (const kind of KINDS) {
      expect(rowOf(folderOf(kind))).toEqual({ kind, number: numberOf(kind), made_by: expect.any(String) as string });
    }
  });

  it('with a newer or unknown format stop the start, with an error that names the folder and both formats', async () => {
    for (const kind of KINDS.filter((each) => each !== 'list')) {
      for (const number of [numberOf(kind) + 1, 'of another kind', undefined]) {
        changeRow(folderOf(kind), { kind, number, made_by: '99.0.0' });
        const failure = await withService(() => Promise.resolve()).catch(String);
        const sentence = `has format ${String(number)}, and this release reads format ${numberOf(kind)}`;
        expect(failure).toContain(folderOf(kind));
        expect(failure).toContain(sentence);
        expect(failure).not.toContain('    at ');
      }
      changeRow(folderOf(kind), { kind, number: numberOf(kind), made_by: '0.1.0' });
    }
  });

  it('of a list with a newer format close only that list, and are left unchanged', async () => {
    changeRow(folderOf('list'), { kind: 'list', number: 2, made_by: '99.0.0' });
    await withService(async (service) => {
      const { client } = service;
      await client.post('/list/default', { name: 'others', searchable_fields: [{ name: 'title' }] });
      expect((await client.get('/search/default/others/1')).status).toBe(200);
      const closed = { code: 'list-format', detail: expect.stringContaining("The list 'films' was written") as string };
      expect(await client.get('/search/default/films/1')).toMatchObject({ status: 503, body: closed });
      const { body } = await client.get('/list/default');
      expect(body).toMatchObject({ unavailable: [{ name: 'films', ...closed }] });
      await expect.poll(() => service.output).toContain('has format 2, and this release reads format 1');
      await client.delete('/list/default/others');
    });
    expect(rowOf(folderOf('list'))).toEqual({ kind: 'list', number: 2, made_by: '99.0.0' });
    // While the service is stopped, doctor reports it.
    const lock = join(folderOf('list'), 'lock.mdb');
    rmSync(lock);
    const { status, output } = await gannet(dataDir, 'doctor');
    expect([status, existsSync(lock)]).toEqual([1, false]);
    expect(output).toMatch(
      /✗ Stores of lists .*another release.*default\/films \(.* has format 2, and this release reads format 1/,
    );
    changeRow(folderOf('list'), { kind: 'list', number: 1, made_by: '0.1.0' });
  });

  it('with an index of another release are named by doctor, which leaves them as they are, and rebuilt by a start', async () => {
    const list = dirname(folderOf('list'));
    const [segment = ''] = segmentFilesOf(list);
    changeFormat(segment, 1);
    const folder = join(list, 'segments');
    const before = [readdirSync(folder), readFileSync(segment)];
    for (const options of [[], ['--data']]) {
      const { output } = await gannet(dataDir, 'doctor', ...options);
      expect(output).toMatch(/! Indexes .*1 list with an index of another release .*rebuilds it.*default\/films/);
      if (options.length > 0) expect(output).toMatch(/! Records .*not compared, because the index of 1 list/);
      expect([readdirSync(folder), readFileSync(segment)]).toEqual(before);
    }
    await withService(async ({ client }) => {
      const answer = await eventually(
        () => client.get('/search/default/films/1', { query: 'red' }),
        ({ status }) => status !== 503,
      );
      expect(answer).toMatchObject({ status: 200, body: { total_count: 1 } });
    });
    const { output } = await gannet(dataDir, 'doctor', '--data');
    expect(output).toMatch(/✓ Indexes .*format of this release/);
    expect(output).toMatch(/✓ Records of films .*agree/);
  });

  it('are refused in the place of another, with and without their format number', async () => {
    const [system, queue] = [folderOf('system'), folderOf('queue')];
    for (const isNumbered of [true, false]) {
      if (!isNumbered) for (const folder of [system, queue]) changeRow(folder, undefined);
      swap(system, queue);
      const failure = await withService(() => Promise.resolve()).catch(String);
      expect(failure).toContain(isNumbered ? "an environment of kind 'queue'" : 'another environment');
      expect(failure).toContain(system);
      swap(system, queue);
    }
  });

  it('of a release without format numbers count as the first format, and get their number', async () => {
    for (const kind of KINDS) {
      // As such a release commits, except for lists.
      changeRow(folderOf(kind), undefined, kind !== 'list');
      expect(rowOf(folderOf(kind))).toBeUndefined();
    }
    const total = await withService(async (service) => {
      const found = await service.client.get('/search/default/films/1', { query: 'red' });
      await service.client.post('/search-result/default/films', { name: 'two', fields: { title: 'blue' } });
      return (found.body as { total_count: number }).total_count;
    });
    expect(total).toBe(1);
    for (const kind of KINDS) expect(rowOf(folderOf(kind)), kind).toMatchObject({ kind, number: 1 });
  });
});

function swap(first: string, second: string): void {
  const aside = join(dirname(first), 'aside');
  renameSync(first, aside);
  renameSync(second, first);
  renameSync(aside, second);
  expect(existsSync(first)).toBe(true);
}
