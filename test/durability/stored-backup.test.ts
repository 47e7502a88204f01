/**
 * Tests backups into media stores of a service under writes, and restores of them: one moment for each list, nothing
 * sent twice, damage is named, nothing in reach of an API key, and kills in the middle of all of it.
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { contentOf, expectMoment, killed, LISTS, startWithLists, Writer, type Content } from '../support/backups.js';
import { gannet, gannetWith } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { SeededRandom } from '../support/random.js';
import { s3Server } from '../support/s3-server.js';
import { startTestService, type TestService } from '../support/service.js';
import { canMount, SmallFileSystem } from '../support/small-file-system.js';

const KILLS = Number(process.env['GANNET_BACKUP_KILLS'] ?? 3);
const SEED = 20_261_123;
const KILL_MS_MAX = 1500;
const PLACE = 'media:nightly/of-films';
const APART = '.gannet-backups';

const server = await s3Server();
const mounting = canMount('backups into a media store on a full disk');
afterAll(() => server?.close());

let folder: string;
let dataDir: string;
let stored: string;
let service: TestService | undefined;
let buckets = 0;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-stored-'));
  dataDir = join(folder, 'data');
  stored = join(folder, 'stored');
  mkdirSync(stored);
});

afterEach(async () => {
  await service?.stop('SIGKILL');
  service = undefined;
  rmSync(folder, { recursive: true, force: true });
});

const environment = () => ({ GANNET_MEDIA_FOLDERS: folder, GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true' });
const ofFolder = () => ({ kind: 'folder', folder: stored });

async function startWithStore(settings: object = ofFolder()): Promise<TestService> {
  service = await startWithLists(dataDir, environment());
  await addStore(service, settings);
  return service;
}

/** Added as by the command line, which has the secret of a bucket. */
async function addStore(running: TestService, settings: object): Promise<void> {
  const made = await running.control().post('/media-store/default', { name: 'nightly', ...settings });
  expect(made.status, made.text).toBe(201);
}

interface Made {
  readonly path: string;
  readonly bytes: number;
  readonly bytes_shared: number;
  readonly removed: readonly string[];
}

async function backUp(...options: string[]): Promise<Made> {
  const { status, output, notes } = await gannet(dataDir, 'backup', PLACE, '--json', ...options);
  expect(status, notes).toBe(0);
  return JSON.parse(output) as Made;
}

async function listed(): Promise<{
  readonly backups: readonly { path: string }[];
  readonly unreadable: readonly string[];
}> {
  const { status, output, notes } = await gannet(dataDir, 'backup', 'list', PLACE, '--json');
  expect(status, notes).toBe(0);
  return JSON.parse(output) as Awaited<ReturnType<typeof listed>>;
}

/** Creates a data directory that has only the store, as after everything else was lost. */
async function emptyWithStore(name: string, settings: object = ofFolder()): Promise<string> {
  const at = join(folder, name);
  const fresh = await startTestService({ dataDir: at, env: environment() });
  await addStore(fresh, settings);
  await fresh.stop();
  return at;
}

const restored = (at: string, from: string) => gannetWith(environment(), at, 'restore', from, '--replace');

async function contentAfter(at: string, from: string): Promise<Content> {
  const { status, notes } = await restored(at, from);
  expect(status, notes).toBe(0);
  return contentOf(at);
}

/** Returns every file of the place on disk, by its path there; uploads come and go meanwhile. */
function filesThere(): string[] {
  const at = join(stored, 'of-films', APART);
  if (!existsSync(at)) return [];
  return readdirSync(at, { recursive: true, encoding: 'utf8' }).filter(
    (path) => statSync(join(at, path), { throwIfNoEntry: false })?.isFile() === true,
  );
}

const piecesThere = () => filesThere().filter((path) => path.startsWith('pieces/'));
const at = (path: string) => join(stored, 'of-films', APART, path);

const kinds = [{ name: 'folder', settings: () => Promise.resolve<object>(ofFolder()) }];
if (server !== undefined) {
  kinds.push({
    name: 's3',
    settings: async () => {
      const bucket = `backups-${(buckets += 1)}`;
      expect((await fetch(`${server.endpoint}/${bucket}`, { method: 'PUT' })).ok).toBe(true);
      const access = { access_key_id: 'AKIATEST', secret_access_key: 'secret' };
      return { kind: 's3', endpoint: server.endpoint, bucket, prefix: 'all', ...access };
    },
  });
}

describe.each(kinds)('a backup into a media store of the kind $name', ({ settings }) => {
  it('has each list as of one moment during writes, and sends unchanged content only once', async () => {
    const place = await settings();
    const running = await startWithStore(place);
    const writer = new Writer(running);
    const taken: { path: string; atLeast: ReadonlyMap<string, number>; atMost: ReadonlyMap<string, number> }[] = [];
    for (let round = 0; round < 2; round += 1) {
      const begun = writer.counts();
      await eventually(
        () => Promise.resolve(writer.counts()),
        (counts) => LISTS.every((list) => (counts.get(list) ?? 0) > (begun.get(list) ?? 0) + 3),
      );
      const atLeast = writer.counts();
      taken.push({ path: (await backUp()).path, atLeast, atMost: writer.counts() });
    }
    await writer.stop();
    // Merges caused by the writes may go on for a while.
    const resting: Made[] = [];
    await eventually(
      async () => {
        resting.push(await backUp());
        return resting.at(-1);
      },
      (made) => made !== undefined && made.bytes_shared > made.bytes / 2,
    );
    const last = await backUp('--keep', String(resting.length + 2));
    const [first, second] = taken;
    expect(last.removed).toEqual([first?.path]);
    expect((await listed()).backups).toMatchObject([second, ...resting, last].map((each) => ({ path: each?.path })));
    expect(readdirSync(dataDir)).not.toContain('.backup-staging');
    // The account's API key reaches the store's files, but not the backups.
    const { client } = running;
    expect((await client.get('/media/default/nightly')).body).toMatchObject({ files: [] });
    await running.stop();

    const target = await emptyWithStore('target', place);
    const content = await contentAfter(target, second?.path ?? '');
    expectMoment(content, second?.atLeast ?? new Map(), second?.atMost ?? new Map());
    const newest = await contentAfter(target, PLACE);
    expectMoment(newest, writer.counts(), writer.counts());
    const whose = await startTestService({ dataDir: target });
    expect((await whose.clientWith(client.key).get('/account')).status).toBe(200);
    await whose.stop();
  });
});

describe('a place for backups', () => {
  it('is reached by the operator only, and by no path of a file', async () => {
    const { client } = await startWithStore();
    await backUp();
    expect((await client.post('/backup', { folder: PLACE })).status).toBe(403);
    expect((await client.get('/backup', { folder: PLACE })).status).toBe(403);
    const [piece = ''] = piecesThere();
    for (const path of [`of-films/${APART}/${piece}`, `${APART}/x`]) {
      for (const method of ['GET', 'PUT', 'DELETE'] as const) {
        const answer = await client.send(method, `/media/default/nightly/${encodeURIComponent(path)}`, { bytes: 'x' });
        expect([method, path, answer.status]).toEqual([method, path, 400]);
      }
    }
    for (const path of filesThere()) expect(statSync(at(path)).mode & 0o077).toBe(0);
  });

  it('cannot be in the built-in store, in one that does not exist, or in one that another service writes to', async () => {
    await startWithStore();
    const refused = async (place: string, sentence: string) => {
      const { status, notes } = await gannet(dataDir, 'backup', place);
      expect(notes).toContain(sentence);
      expect(status).toBe(1);
    };
    await refused('media:default', 'is built in');
    await refused('media:other', "no media store 'other'");
    await refused('media:nightly/../x', "'..'");
    await refused(`${PLACE}/20261122T081500Z`, 'not one of them');
    await backUp();
    writeFileSync(
      at('writing.json'),
      JSON.stringify({ token: 'x', host: 'elsewhere', data_dir: '/srv/gannet', since: '' }),
    );
    await refused(PLACE, 'The service of /srv/gannet on elsewhere writes backups');
    rmSync(at('writing.json'));
    await backUp();
  });

  it('deletes the content that only the oldest backups need along with them', async () => {
    const { client } = await startWithStore();
    const first = await backUp();
    const named = ({ path }: Made) =>
      new Set(readFileSync(at(`${path.split('/').at(-1) ?? ''}.json`), 'utf8').match(/[0-9a-f]{64}(?=")/gu));
    const before = named(first);
    writeFileSync(at('pieces/other'), 'of somebody else');
    expect((await client.delete('/list/default/films')).status).toBeLessThan(300);
    const second = await backUp('--keep', '1');
    expect(second.removed).toEqual([first.path]);
    const after = named(second);
    expect([...before].filter((digest) => !after.has(digest))).not.toEqual([]);
    const left = piecesThere().map((path) => path.split('/').at(-1) ?? '');
    expect(left.sort()).toEqual([...after, 'other'].sort());
  });

  it('on a full disk keeps its backups, and the service keeps running', async () => {
    if (!mounting) return;
    const disk = SmallFileSystem.mount(stored);
    try {
      await startWithStore();
      const first = await backUp();
      const { client } = service as TestService;
      for (let number = 0; number < 4; number += 1) {
        const bytes = Buffer.alloc(300_000, number + 1).toString('latin1');
        expect((await client.send('PUT', `/media/default/default/new-${number}`, { bytes })).status).toBe(201);
      }
      disk.shrinkTo(500_000);
      const full = await gannet(dataDir, 'backup', PLACE);
      expect(full.notes).toContain(`The disk of ${PLACE} is full`);
      expect(full.status).toBe(1);
      expect((await client.get('/health')).status).toBe(200);
      expect((await listed()).backups.map(({ path }) => path)).toEqual([first.path]);
      disk.grow();
      await backUp();
      expect((await listed()).backups).toHaveLength(2);
    } finally {
      await service?.stop();
      disk.unmount();
    }
  });
});

describe('a restore from a media store', () => {
  it('names what is missing or damaged, and changes nothing in that case', async () => {
    await startWithStore();
    const none = await gannet(dataDir, 'restore', PLACE, '--replace');
    expect(none.notes).toContain('in use');
    const { path } = await backUp();
    await service?.stop();
    const target = await emptyWithStore('target');
    const entries = () => readdirSync(target).sort();
    const there = entries();
    const refused = async (from: string, sentence: string) => {
      const { status, notes } = await restored(target, from);
      expect(notes).toContain(sentence);
      expect(status).not.toBe(0);
      expect(entries()).toEqual(there);
    };
    const without = await gannet(target, 'restore', PLACE);
    expect(without.notes).toContain('--replace');
    // Although it would replace nothing.
    expect((await gannet(target, 'restore', 'media:nowhere')).notes).toContain("media store 'nowhere'");
    const nothing = join(target, '..', 'nothing');
    expect((await gannet(nothing, 'restore', PLACE)).notes).toContain(`There is no data directory ${nothing}`);
    expect(existsSync(nothing)).toBe(false);
    await refused('media:nightly', 'There are no backups in media:nightly');
    await refused(`${PLACE}/20011122T081500Z`, 'is not a backup');

    const changed = async (file: string, change: (bytes: Buffer) => Buffer | undefined, sentence: string) => {
      const bytes = readFileSync(at(file));
      const next = change(bytes);
      if (next === undefined) rmSync(at(file));
      else writeFileSync(at(file), next);
      await refused(PLACE, sentence);
      writeFileSync(at(file), bytes);
    };
    const [piece = ''] = piecesThere();
    const checked = () => gannet(target, 'backup', 'check', PLACE);
    expect(await checked()).toMatchObject({ status: 0, output: expect.stringContaining(`${path}`) });
    const whole = readFileSync(at(piece));
    writeFileSync(at(piece), Buffer.alloc(whole.length, 'x'));
    const found = await checked();
    expect([found.status, found.output]).toEqual([
      1,
      expect.stringContaining(`the piece ${piece.split('/').at(-1)} is damaged`),
    ]);
    writeFileSync(at(piece), whole);
    expect((await gannet(target, 'backup', 'check', 'media:nightly')).notes).toContain('There is no backup');
    await changed(piece, () => undefined, `The piece ${piece} of `);
    await changed(piece, (bytes) => Buffer.concat([bytes, Buffer.from('x')]), 'is damaged');
    await changed(
      piece,
      (bytes) => Buffer.from(bytes.map((byte, place) => (place === 0 ? byte ^ 1 : byte))),
      'is damaged',
    );
    const manifest = `${path.split('/').at(-1) ?? ''}.json`;
    await changed(manifest, (bytes) => bytes.subarray(0, bytes.length - 70), 'is damaged');
    await changed(manifest, (bytes) => Buffer.from(bytes.toString().replace('"lists":2', '"lists":3')), 'is damaged');
    const signed = (change: (text: string) => string) => (bytes: Buffer) => {
      const text = change(bytes.toString().split('\n').slice(0, 2).join('\n') + '\n');
      return Buffer.from(`${text}${createHash('sha256').update(text).digest('hex')}\n`);
    };
    await changed(
      manifest,
      signed((text) => text.replace('"format":1', '"format":99')),
      'format 99',
    );
    await changed(
      manifest,
      signed((text) => text.replace('"system/data.mdb"', '"../outside"')),
      'is damaged',
    );

    const content = await contentAfter(target, PLACE);
    expectMoment(content, new Map(), new Map());
    const [aside = ''] = readdirSync(target).filter((name) => name.startsWith('.before-restore-'));
    expect(readdirSync(join(target, aside))).toContain('system');
  });
});

describe('a backup into a media store, or a restore, that is killed', () => {
  it(`leaves only complete backups and data directories, over ${KILLS} backups and ${KILLS} restores`, async () => {
    await startWithStore();
    await service?.stop();
    const random = new SeededRandom(SEED);
    for (let round = 0; round < KILLS; round += 1) {
      // No service runs: the command opens the data directory itself, and is what is killed.
      await killed(['backup', PLACE, '--keep', '2'], dataDir, 300 + random.below(KILL_MS_MAX));
    }
    const { path } = await backUp('--keep', '2');
    expect(existsSync(join(dataDir, '.backup-staging'))).toBe(false);
    expect(existsSync(at('writing.json'))).toBe(false);
    const target = await emptyWithStore('target');
    for (let round = 0; round < KILLS; round += 1) {
      await killed(['restore', path, '--replace'], target, 300 + random.below(KILL_MS_MAX));
    }
    for (const each of (await listed()).backups)
      expectMoment(await contentAfter(target, each.path), new Map(), new Map());
    expect(readdirSync(target).filter((name) => /^\.(?:restor|placing)/u.test(name))).toEqual([]);
  });

  it('with the service leaves no backup, and the next one uses the content sent before', async () => {
    const running = await startWithStore();
    const blob = 'x'.repeat(1000);
    for (let number = 0; number < 40; number += 1) {
      await running.client.send('PUT', `/media/default/default/file-${number}`, { bytes: `${blob}${number}` });
    }
    const cut = gannet(dataDir, 'backup', PLACE);
    await eventually(
      () => Promise.resolve(piecesThere().length),
      (count) => count > 3,
    );
    await running.stop('SIGKILL');
    const { status } = await cut;
    service = await startTestService({ dataDir, env: environment() });
    expect((await listed()).backups).toHaveLength(status === 0 ? 1 : 0);
    const made = await backUp();
    expect(made.bytes_shared).toBeGreaterThan(0);
    await service.stop();
    const target = await emptyWithStore('target');
    expectMoment(await contentAfter(target, PLACE), new Map(), new Map());
  });
});
