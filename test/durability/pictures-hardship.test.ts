/**
 * Tests pictures of records with crashes, a full disk, damaged files and a backup: nothing is missing in the end, and
 * nothing that was read is read again. `GANNET_PICTURE_KILLS` kills (default 2), from `GANNET_PICTURE_SEED`.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Check } from '../../src/cli/doctor/check.js';
import { segmentsPath } from '../../src/store/index.js';
import { gannet } from '../support/cli.js';
import type { Answer } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { jpegOf } from '../support/pictures.js';
import { SeededRandom } from '../support/random.js';
import { ScriptedServer } from '../support/scripted-server.js';
import { TestService } from '../support/service.js';
import { itWhere } from '../support/skip.js';
import { canMount, SmallFileSystem } from '../support/small-file-system.js';

const KILLS = Number(process.env['GANNET_PICTURE_KILLS'] ?? 2);
const SEED = Number(process.env['GANNET_PICTURE_SEED'] ?? 1);
const KILL_MS_MAX = 240_000;
const POLL = { interval: 5, timeout: KILL_MS_MAX };
const RECORDS_A_ROUND = 16;
/** Pictures that are read at the same time, whose outcome is unknown after a crash. */
const PARALLEL = 3;
const SIZE = { width: 96, height: 64 };
const FULL = { status: 507, body: { code: 'storage-full' } };
/** Ways in which a file of vectors may be unusable. */
const DAMAGE: Readonly<Record<string, (path: string) => void>> = {
  missing: (path) => {
    rmSync(path);
  },
  empty: (path) => {
    truncateSync(path, 0);
  },
  'cut in half': (path) => {
    truncateSync(path, Math.floor(statSync(path).size / 2));
  },
  'with a flipped bit': (path) => {
    const bytes = readFileSync(path);
    const middle = Math.floor(bytes.length / 2);
    bytes[middle] = (bytes[middle] as number) ^ 1;
    writeFileSync(path, bytes);
  },
};
const DEFINITION = {
  name: 'photos',
  image_model: 'built-in',
  searchable_fields: [{ name: 'title' }],
  resources: [{ name: 'photo', kind: 'image' }],
};

let folder: string;
let dataDir: string;
let service: TestService;
let server: ScriptedServer;
let disk: SmallFileSystem | undefined;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-pictures-hardship-'));
  dataDir = join(folder, 'data');
  server = await ScriptedServer.start();
  server.script = ({ path }, response) => {
    void pictureAt(path).then((bytes) => response.end(bytes));
  };
  service = serviceOn(dataDir);
});
afterEach(async () => {
  await service.stop('SIGKILL');
  await server.close();
  disk?.unmount();
  disk = undefined;
  rmSync(folder, { recursive: true, force: true });
});

function serviceOn(path: string): TestService {
  const env = {
    GANNET_LOG_LEVEL: 'fatal',
    GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true',
    GANNET_RESOURCES_PARALLEL_PER_LIST: String(PARALLEL),
    GANNET_RESOURCES_CONNECTIONS_PER_HOST: String(PARALLEL),
  };
  return new TestService(path, { dataDir: path, env });
}

const pictureOf = (number: number) => jpegOf(number, SIZE);
const pictureAt = (path: string) => pictureOf(Number(/\d+/.exec(path)?.[0]));
const startWithList = async () => {
  await service.start();
  expect((await service.client.post('/list/default', DEFINITION)).status).toBe(201);
};
/** Returns the hits of one of the pictures, and the number of requests made for all of them. */
const startWithPictures = async () => {
  await startWithList();
  await bulk(0, RECORDS_A_ROUND);
  await expect.poll(state, POLL).toMatchObject({ read: RECORDS_A_ROUND, pending: 0 });
  return { before: await found(5), asked: server.asked.length };
};
const state = async () =>
  ((await service.client.get('/list/default/photos')).body as { resources_state: Record<string, unknown> | null })
    .resources_state;
const bulk = async (begin: number, count: number) => {
  const records = Array.from({ length: count }, (_, place) => {
    const number = begin + place;
    return { name: `r${number}`, title: `Photo ${number}`, photo: server.url(`/${number}.jpg`) };
  });
  expect((await service.client.bulk('default', 'photos', records)).status).toBe(200);
};
const search = async (number: number) =>
  service.client.send('POST', '/search/image/default/photos/1', {
    headers: { 'content-type': 'image/jpeg' },
    bytes: await pictureOf(number),
    query: { size: 100 },
  });
/** Returns names and scores of everything near the picture. */
const found = async (number: number) => {
  const { status, body, text } = await search(number);
  expect(status, text).toBe(200);
  const { results } = body as { results: { name: string; '@image_score': number }[] };
  return results.map((hit) => [hit.name, hit['@image_score']] as const);
};
const expectAllFound = async (count: number) => {
  for (let number = 0; number < count; number += 1) {
    const [best] = await found(number);
    expect(best).toEqual([`r${number}`, 1]);
  }
};
const vectorFiles = () =>
  readdirSync(join(dataDir, 'lists'))
    .filter((name) => !name.startsWith('.'))
    .map((id) => segmentsPath(join(dataDir, 'lists', id)))
    .flatMap((at) => readdirSync(at).map((name) => join(at, name)))
    .filter((path) => path.endsWith('.gvs'));
const isReady = ({ body }: Answer) => (body as { code?: string }).code !== 'not-ready';
const changed = (image_model: string | null) => service.client.put('/list/default/photos', { image_model });
const problems = async () => (await service.control().post('/list/default/photos/check', undefined)).body;
const ALL_WELL = { ok: true, problems: [] };

it(
  `After ${KILLS} kills during reading, every picture is found, and only those being read are read again`,
  async () => {
    const random = new SeededRandom(SEED);
    await startWithList();
    let records = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const asked = server.asked.length;
      await bulk(records, RECORDS_A_ROUND);
      records += RECORDS_A_ROUND;
      const wanted = asked + 1 + random.below(RECORDS_A_ROUND - PARALLEL);
      await expect.poll(() => server.asked.length, POLL).toBeGreaterThanOrEqual(wanted);
      await service.stop('SIGKILL');
      await service.start();
    }
    await expect.poll(state, POLL).toEqual({ read: records, pending: 0, failed: 0, errors: [] });
    expect(server.asked.length).toBeLessThanOrEqual(records + KILLS * PARALLEL);
    await expectAllFound(records);
    expect(await problems()).toMatchObject(ALL_WELL);
  },
  KILL_MS_MAX * (KILLS + 1),
);

it(
  'A kill right after a change of the picture model leaves the acknowledged setting',
  async () => {
    await startWithList();
    await bulk(0, RECORDS_A_ROUND);
    for (let kill = 0; kill < KILLS; kill += 1) {
      const image_model = kill % 2 === 0 ? null : 'built-in';
      expect((await changed(image_model)).body).toMatchObject({ image_model });
      await service.stop('SIGKILL');
      await service.start();
      const { body } = await service.client.get('/list/default/photos');
      expect(body).toMatchObject({ image_model });
      if (image_model === null) expect((await search(0)).body).toMatchObject({ code: 'image-model-required' });
    }
    expect((await changed('built-in')).status).toBe(200);
    await expect.poll(state, POLL).toMatchObject({ read: RECORDS_A_ROUND, pending: 0, failed: 0 });
    await expectAllFound(RECORDS_A_ROUND);
    expect(await problems()).toMatchObject(ALL_WELL);
  },
  KILL_MS_MAX * (KILLS + 1),
);

itWhere(canMount('a full disk under a list whose pictures are read'), 'it needs the right to mount')(
  'Pictures are searched on a full disk, and what was read meanwhile is written when there is room',
  async () => {
    disk = SmallFileSystem.mount(join(dataDir, 'lists'));
    await startWithList();
    await bulk(0, 3);
    await expect.poll(state, POLL).toMatchObject({ read: 3, pending: 0 });
    const open: (() => void)[] = [];
    const script = server.script;
    server.script = (asked, response) => void open.push(() => script(asked, response));
    await bulk(3, 3);
    await expect.poll(() => open.length, POLL).toBe(3);
    disk.shrink();
    server.script = script;
    for (const answer of open) answer();
    await expect.poll(() => service.metric('gannet_resource_pictures_total'), POLL).toBe(6);
    expect(await state()).toMatchObject({ read: 3, pending: 3 });
    await expectAllFound(3);
    const { status, body } = await changed(null);
    if (status !== 200) expect({ status, body }).toMatchObject(FULL);
    disk.grow();
    await eventually(
      () => changed('built-in'),
      ({ status: now }) => now === 200,
    );
    await expect.poll(state, POLL).toMatchObject({ read: 6, pending: 0, failed: 0 });
    await expectAllFound(6);
    expect(await problems()).toMatchObject(ALL_WELL);
  },
);

it('Damaged or missing files of vectors are rebuilt without requests for the pictures, and gannet doctor names them', async () => {
  const { before, asked } = await startWithPictures();
  for (const [kind, damage] of Object.entries(DAMAGE)) {
    await service.stop();
    const files = vectorFiles();
    expect(files.length, kind).toBeGreaterThan(0);
    for (const file of files) damage(file);
    await service.start();
    expect((await eventually(() => search(5), isReady)).status, kind).toBe(200);
    expect(await found(5), kind).toEqual(before);
    expect(await problems(), kind).toMatchObject(ALL_WELL);
  }
  expect(server.asked).toHaveLength(asked);
  await service.stop();
  const [file = ''] = vectorFiles();
  DAMAGE['with a flipped bit']?.(file);
  const { output } = await gannet(dataDir, 'doctor', '--data', '--json');
  const { checks } = JSON.parse(output) as { readonly checks: readonly Check[] };
  expect(checks.find(({ name }) => name === 'Segment checksums')).toMatchObject({
    state: 'failed',
    detail: expect.stringMatching(
      `^${file} .*: the next start rebuilds the vector index of these lists from the stored vectors$`,
    ) as string,
  });
});

it('A restored backup finds pictures as before, without requests for them', async () => {
  const { before, asked } = await startWithPictures();
  const backup = await gannet(dataDir, 'backup', join(folder, 'backups'), '--json');
  expect(backup.status, backup.notes).toBe(0);
  expect((await service.client.delete('/list/default/photos')).status).toBe(204);
  await service.stop();
  const restored = join(folder, 'restored');
  const { path } = JSON.parse(backup.output) as { path: string };
  expect((await gannet(restored, 'restore', path)).status).toBe(0);
  service = serviceOn(restored);
  await service.start();
  expect(await found(5)).toEqual(before);
  expect(await state()).toMatchObject({ read: RECORDS_A_ROUND, pending: 0 });
  expect(await problems()).toMatchObject(ALL_WELL);
  expect(server.asked).toHaveLength(asked);
});
