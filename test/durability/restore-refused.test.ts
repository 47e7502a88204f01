/**
 * Tests restores that could not be completed, or whose outcome no service here could open: they are refused before
 * anything moves.
 */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RootDatabase } from 'lmdb';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FORMAT_KEY } from '../../src/platform/index.js';
import { open } from '../../src/platform/lmdb.js';
import { gannet } from '../support/cli.js';
import { startTestService } from '../support/service.js';
import { itWhere } from '../support/skip.js';
import { canMount, SmallFileSystem } from '../support/small-file-system.js';

const mounting = canMount('a restore over what is mounted');
let folder: string;
let dataDir: string;
let backup: string;
let mounted: SmallFileSystem | undefined;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-restore-'));
  dataDir = join(folder, 'data');
  const service = await startTestService({ dataDir });
  try {
    await service.client.post('/list/default', { name: 'films', searchable_fields: [{ name: 'title' }] });
    const made = await gannet(dataDir, 'backup', join(folder, 'backups'), '--json');
    backup = (JSON.parse(made.output) as { path: string }).path;
  } finally {
    await service.stop();
  }
});
afterEach(() => {
  mounted?.unmount();
  mounted = undefined;
  rmSync(folder, { recursive: true, force: true });
});

const here = () => readdirSync(dataDir).sort();

async function expectRefused(sentence: string, ...argv: string[]): Promise<void> {
  const before = here();
  const { status, notes } = await gannet(dataDir, ...argv);
  expect(notes).toContain(sentence);
  expect(status).not.toBe(0);
  expect(here()).toEqual(before);
}

itWhere(mounting, 'only root can mount')(
  'A restore is refused and moves nothing if a part of the data directory is a mounted file system',
  async () => {
    const media = join(dataDir, 'media');
    mounted = SmallFileSystem.mount(media);
    await expectRefused(`${media} is a mounted file system and cannot`, 'restore', backup, '--replace');
    expect((await gannet(dataDir, 'list', 'ls')).output).toContain('films');

    // As an earlier release left it: complete, and not yet moved into place.
    mkdirSync(join(dataDir, '.restored'));
    await expectRefused(`${media} is a mounted file system and cannot`, 'list', 'ls');
    rmSync(join(dataDir, '.restored'), { recursive: true });

    mounted.unmount();
    mounted = undefined;
    expect(await gannet(dataDir, 'restore', backup, '--replace')).toMatchObject({ status: 0 });
    expect((await gannet(dataDir, 'list', 'ls')).output).toContain('films');
  },
);

itWhere(mounting, 'only root can mount')(
  'A backup can be restored into a data directory that is a link to another disk, and an interrupted restore is completed',
  async () => {
    const disk = join(folder, 'disk');
    mounted = SmallFileSystem.mount(disk);
    mkdirSync(join(disk, 'data'));
    const link = join(folder, 'link');
    symlinkSync(join(disk, 'data'), link);
    const restored = () => gannet(link, 'restore', backup, '--replace');
    expect(await restored()).toMatchObject({ status: 0 });
    expect(await restored()).toMatchObject({ status: 0 });

    // Interrupted when everything was there.
    mkdirSync(join(link, '.restored'));
    for (const name of readdirSync(link).filter((each) => !each.startsWith('.') && each !== 'lock')) {
      renameSync(join(link, name), join(link, '.restored', name));
    }
    mkdirSync(join(link, 'media'));
    expect((await gannet(link, 'list', 'ls')).output).toContain('films');
  },
);

const giveFormat = (environment: string, kind: string) =>
  changeInBackup(environment, (root) => root.putSync(FORMAT_KEY, { kind, number: 99, made_by: '99.0.0' }));

async function changeInBackup(environment: string, change: (root: RootDatabase) => void): Promise<void> {
  const path = join(backup, environment);
  const root = open({ path, noSubdir: false, maxDbs: 64, overlappingSync: false });
  change(root);
  await root.close();
  rmSync(join(path, 'lock.mdb'), { force: true });
  const { size } = statSync(join(path, 'data.mdb'));
  const file = join(backup, 'backup.json');
  const description = JSON.parse(readFileSync(file, 'utf8')) as { files: { path: string; bytes: number }[] };
  const files = description.files.map((each) =>
    each.path === `${environment}/data.mdb` ? { ...each, bytes: size } : each,
  );
  writeFileSync(file, JSON.stringify({ ...description, files }));
}

it('A restore of a backup with a newer format is refused and changes nothing', async () => {
  await giveFormat('system', 'system');
  await expectRefused('has format 99, and this release reads format 1', 'restore', backup, '--replace');
  expect((await gannet(dataDir, 'list', 'ls')).output).toContain('films');
});

it('A restore of a backup that contains a list with another format is refused and changes nothing', async () => {
  const [id = ''] = readdirSync(join(backup, 'lists'));
  await giveFormat(join('lists', id, 'store'), 'list');
  await expectRefused('has format 99, and this release reads format 1', 'restore', backup, '--replace');
  expect((await gannet(dataDir, 'list', 'ls')).output).toContain('films');
});

it('A restore of a backup with a list state of a newer release is refused and changes nothing', async () => {
  const [id = ''] = readdirSync(join(backup, 'lists'));
  await changeInBackup(join('lists', id, 'store'), (root) => {
    const meta = root.openDB<object, string>({ name: 'meta', encoding: 'msgpack' });
    meta.putSync('state', { ...meta.get('state'), format: 99 });
  });
  await expectRefused('has format 99, and this release reads format 1', 'restore', backup, '--replace');
  expect((await gannet(dataDir, 'list', 'ls')).output).toContain('films');
});
