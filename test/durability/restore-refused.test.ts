/** Restores that could not come to their end, or whose outcome no service here could open: they are refused before anything moves. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
  'a restore moves nothing where a part of the data directory is mounted',
  async () => {
    const media = join(dataDir, 'media');
    mounted = SmallFileSystem.mount(media);
    await expectRefused(`${media} is a file system of its own`, 'restore', backup, '--replace');
    expect((await gannet(dataDir, 'list', 'ls')).output).toContain('films');

    // As an earlier release left it: complete, and not in its place.
    mkdirSync(join(dataDir, '.restored'));
    await expectRefused(`${media} is a file system of its own`, 'list', 'ls');
    rmSync(join(dataDir, '.restored'), { recursive: true });

    mounted.unmount();
    mounted = undefined;
    expect(await gannet(dataDir, 'restore', backup, '--replace')).toMatchObject({ status: 0 });
    expect((await gannet(dataDir, 'list', 'ls')).output).toContain('films');
  },
);

it('a backup of a newer release that has another format takes the place of nothing', async () => {
  const path = join(backup, 'system');
  const root = open({ path, noSubdir: false, maxDbs: 64, overlappingSync: false });
  root.putSync(FORMAT_KEY, { kind: 'system', number: 99, made_by: '99.0.0' });
  await root.close();
  rmSync(join(path, 'lock.mdb'), { force: true });
  const { size } = statSync(join(path, 'data.mdb'));
  const file = join(backup, 'backup.json');
  const description = JSON.parse(readFileSync(file, 'utf8')) as { files: { path: string; bytes: number }[] };
  const files = description.files.map((each) => (each.path === 'system/data.mdb' ? { ...each, bytes: size } : each));
  writeFileSync(file, JSON.stringify({ ...description, files }));
  await expectRefused('has format 99, and this release reads format 1', 'restore', backup, '--replace');
  expect((await gannet(dataDir, 'list', 'ls')).output).toContain('films');
});
