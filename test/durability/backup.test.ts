/**
 * Tests backups of a service under writes, restores of them, and kills in the middle of both: a list is restored as
 * of one moment, nothing that was acknowledged before is missing, and nothing incomplete is taken for a backup.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { backupsIn } from '../../src/backup/kept-backups.js';
import { contentOf, expectMoment, killed, LISTS, startWithLists as started, Writer } from '../support/backups.js';
import { gannet } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { SeededRandom } from '../support/random.js';
import { startTestService, type TestService } from '../support/service.js';
import { canMount, SmallFileSystem } from '../support/small-file-system.js';

const KILLS = Number(process.env['GANNET_BACKUP_KILLS'] ?? 4);
const SEED = 20_261_122;
const KILL_MS_MAX = 400;

const mounting = canMount('backups on a full disk and on another one');
let folder: string;
let dataDir: string;
let backups: string;
let service: TestService | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-backup-'));
  dataDir = join(folder, 'data');
  backups = join(folder, 'backups');
});

afterEach(async () => {
  await service?.stop('SIGKILL');
  service = undefined;
  rmSync(folder, { recursive: true, force: true });
});

async function startWithLists(): Promise<TestService> {
  service = await started(dataDir);
  return service;
}

interface Shared {
  readonly path: string;
  readonly bytes: number;
  readonly bytes_shared: number;
}

/** Returns the path of the backup that the command prints. */
async function backUp(...options: string[]): Promise<string> {
  const { status, output, notes } = await gannet(dataDir, 'backup', backups, '--json', ...options);
  expect(status, notes).toBe(0);
  return (JSON.parse(output) as { path: string }).path;
}

async function restore(from: string, to: string, ...options: string[]): Promise<void> {
  const { status, notes } = await gannet(to, 'restore', from, ...options);
  expect(status, notes).toBe(0);
}

describe('a backup', () => {
  it('has each list as of one moment during writes, and shares unchanged files with the backup before it', async () => {
    const running = await startWithLists();
    const writer = new Writer(running);
    const taken: { path: string; atLeast: ReadonlyMap<string, number>; atMost: ReadonlyMap<string, number> }[] = [];
    for (let round = 0; round < 3; round += 1) {
      const atLeast = writer.counts();
      await eventually(
        () => Promise.resolve(writer.counts()),
        (counts) => LISTS.every((list) => (counts.get(list) ?? 0) > (atLeast.get(list) ?? 0) + 3),
      );
      const before = writer.counts();
      const path = await backUp();
      taken.push({ path, atLeast: before, atMost: writer.counts() });
    }
    await writer.stop();
    expect(backupsIn(backups).map(({ path }) => path)).toEqual(taken.map(({ path }) => path));
    for (const [index, { path, atLeast, atMost }] of taken.entries()) {
      const target = join(folder, `restored-${index}`);
      await restore(path, target);
      expectMoment(await contentOf(target), atLeast, atMost);
    }
    expect(readdirSync(dataDir)).not.toContain('.backup-staging');
  });

  it('of an idle service contains everything, with API keys and analytics, and shares nearly all with a second one', async () => {
    // As left by a service that was killed while it sent a file to a bucket.
    const parts = join(dataDir, 'media', '.parts');
    mkdirSync(parts, { recursive: true });
    writeFileSync(join(parts, 'left'), '');
    const { client } = await startWithLists();
    expect(existsSync(parts)).toBe(false);
    await client.get(`/search/default/films/1`, { query: 'first' });
    mkdirSync(parts);
    writeFileSync(join(parts, 'on-its-way'), '');
    const first = await backUp();
    expect(existsSync(join(first, 'media', '.parts'))).toBe(false);
    const second = await gannet(dataDir, 'backup', backups, '--keep', '2', '--json');
    const { bytes, bytes_shared: shared, path } = JSON.parse(second.output) as Shared;
    expect(shared).toBeGreaterThan(0);
    expect(shared).toBeLessThan(bytes);
    const third = await gannet(dataDir, 'backup', backups, '--keep', '2', '--json');
    expect(JSON.parse(third.output)).toMatchObject({ removed: [first] });
    expect(backupsIn(backups)).toHaveLength(2);
    await service?.stop();
    const target = join(folder, 'restored');
    await restore(path, target);
    const restored = await startTestService({ dataDir: target });
    const sameKey = await restored.clientWith(client.key).get('/account');
    expect(sameKey.status).toBe(200);
    await restored.stop();
    // Without a running service, the command makes the backup itself.
    const stopped = await gannet(dataDir, 'backup', backups);
    expect(stopped).toMatchObject({ status: 0 });
    expect(stopped.output).toContain('gannet restore');
  });

  it('explains what is wrong with a folder that cannot be used, and works with another afterwards', async () => {
    await startWithLists();
    const file = join(folder, 'file');
    writeFileSync(file, '');
    // Node.js never returns when it creates folders there.
    const nowhere = existsSync('/proc/self') ? [['/proc/backups', /does not exist/] as const] : [];
    for (const [at, reason] of [[file, /not a folder/], [join(file, 'below'), /not a folder/], ...nowhere] as const)
      for (const words of [[at], ['list', at], ['check', at]]) {
        const { status, output, notes } = await gannet(dataDir, 'backup', ...words);
        const isThere = at === file || words[0] === at;
        if (isThere) expect(notes).toMatch(reason);
        else expect(notes).toMatch(words[0] === 'list' ? `There is no folder ${at}.` : `There is no backup at ${at}.`);
        expect(notes).not.toContain('Something went wrong');
        expect(status, output + notes).toBe(1);
      }
    expect((await gannet(dataDir, 'backup', '')).status).toBe(1);
    await backUp();
  });

  it('can be listed and checked without a data directory, and creates none', async () => {
    await startWithLists();
    const path = await backUp();
    const other = join(folder, 'other-machine');
    expect((await gannet(other, 'backup', 'list', backups)).output).toContain(path);
    expect(await gannet(other, 'backup', 'check', backups)).toMatchObject({ status: 0 });
    writeFileSync(join(path, 'backup.json'), '{');
    expect((await gannet(other, 'backup', 'list', backups)).output).toContain(
      `Cannot be read by this release: ${path}`,
    );
    expect(await gannet(other, 'backup', 'check', backups)).toMatchObject({ status: 1 });
    expect((await gannet(other, 'backup', 'check', 'media:nightly')).notes).toContain('There is no data directory');
    expect((await gannet(other, 'backup', backups)).notes).toContain('There is no data directory');
    expect(await gannet(other, 'backup', 'list', join(folder, 'none'))).toMatchObject({ status: 1, output: '' });
    expect(existsSync(other)).toBe(false);
  });

  it('is refused inside the data directory, and leaves nothing behind if the disk is full', async () => {
    await startWithLists();
    const inside = await gannet(dataDir, 'backup', join(dataDir, 'backups'));
    expect(inside).toMatchObject({ status: 1 });
    expect(inside.notes).toContain('is in the data directory');
    symlinkSync(dataDir, join(folder, 'link'));
    for (const at of ['link', join('link', 'backups')])
      expect((await gannet(dataDir, 'backup', join(folder, at))).notes).toContain('is in the data directory');
    const relative = await gannet(dataDir, 'call', 'backup.create', '--param', 'folder=backups');
    expect(relative.notes).toContain('/folder');
    // As if the disk of the backups is not mounted.
    const above = join(folder, 'not-mounted');
    const missing = await gannet(dataDir, 'backup', join(above, 'disk', 'backups'));
    expect(missing).toMatchObject({
      status: 1,
      notes: expect.stringContaining(`There is no folder ${above}, so that`),
    });
    expect(existsSync(above)).toBe(false);
    if (!mounting) return;
    const disk = SmallFileSystem.mount(backups);
    try {
      disk.shrinkTo(100_000);
      const full = await gannet(dataDir, 'backup', backups);
      expect(full.status).toBe(1);
      // Two disks are involved.
      expect(full.notes).toContain(`The disk of ${backups}, the folder of backups, is full`);
      expect(readdirSync(backups)).toEqual([]);
      expect((await service?.client.get('/health'))?.status).toBe(200);
      disk.grow();
      // On another file system, files cannot be hard-linked to the data directory.
      const target = join(folder, 'restored');
      await restore(await backUp(), target);
      const second = await gannet(dataDir, 'backup', backups, '--json');
      expect((JSON.parse(second.output) as { bytes_shared: number }).bytes_shared).toBeGreaterThan(0);
      expectMoment(await contentOf(target), new Map(), new Map());
    } finally {
      disk.unmount();
    }
  });
});

describe('a restore', () => {
  it('refuses anything incomplete, and deletes nothing in the target folder', async () => {
    await startWithLists();
    const path = await backUp();
    await service?.stop();
    const target = join(folder, 'restored');
    const refused = async (from: string, sentence: string, ...options: string[]) => {
      const { status, notes } = await gannet(target, 'restore', from, ...options);
      expect(notes).toContain(sentence);
      expect(status).not.toBe(0);
      expect(readdirSync(target).filter((name) => name !== 'lock')).toEqual(
        existsSync(join(target, 'mine')) ? ['mine'] : [],
      );
    };
    await refused(backups, 'is not a backup');
    const checked = async (at: string) => {
      const { status, output, notes } = await gannet(dataDir, 'backup', 'check', at);
      return { status, said: output + notes };
    };
    expect(await checked(backups)).toMatchObject({ status: 0, said: expect.stringMatching(/\bwhole\n$/) });
    expect(await checked(join(folder, 'nowhere'))).toMatchObject({
      status: 1,
      said: expect.stringContaining('There is no backup'),
    });
    const copy = join(folder, 'copy');
    const damaged = (change: (copy: string) => void) => {
      rmSync(copy, { recursive: true, force: true });
      cpSync(path, copy, { recursive: true });
      change(copy);
      return copy;
    };
    await refused(
      damaged((at) => rmSync(join(at, 'system', 'data.mdb'))),
      'is missing',
    );
    await refused(
      damaged((at) => truncateSync(join(at, 'system', 'data.mdb'), 4096)),
      'the backup is incomplete',
    );
    expect(await checked(copy)).toMatchObject({
      status: 1,
      said: expect.stringMatching(/system\/data.mdb has 4096 bytes in place of/),
    });
    await refused(
      damaged((at) => truncateSync(join(at, 'backup.json'), 100)),
      'is damaged',
    );
    const description = JSON.parse(readFileSync(join(path, 'backup.json'), 'utf8')) as { files: object[] };
    await refused(
      damaged((at) => writeFileSync(join(at, 'backup.json'), JSON.stringify({ ...description, format: 99 }))),
      'format 99',
    );
    const leaving = { ...description, files: [...description.files, { path: '../outside', bytes: 1 }] };
    await refused(
      damaged((at) => writeFileSync(join(at, 'backup.json'), JSON.stringify(leaving))),
      'is damaged',
    );

    // A folder with other things in it is not replaced; a data directory is, along with what lies next to its data.
    writeFileSync(join(target, 'mine'), 'x');
    await refused(path, 'has other things in it (mine)');
    await refused(path, 'has other things in it (mine)', '--replace');
    rmSync(join(target, 'mine'));
    await restore(path, target);
    writeFileSync(join(target, 'mine'), 'x');
    const again = await gannet(target, 'restore', path);
    expect(again.notes).toContain('--replace');
    expect(again.status).not.toBe(0);
    await restore(path, target, '--replace');
    const [aside = ''] = readdirSync(target).filter((name) => name.startsWith('.before-restore-'));
    expect(readFileSync(join(target, aside, 'mine'), 'utf8')).toBe('x');
    expectMoment(await contentOf(target), new Map(), new Map());
  });

  it('is refused while a service runs on the data directory', async () => {
    await startWithLists();
    const path = await backUp();
    const { status, notes } = await gannet(dataDir, 'restore', path, '--replace');
    expect(status).not.toBe(0);
    expect(notes).toContain('in use');
  });
});

describe('a backup or restore that is killed', () => {
  it(`leaves only complete backups and data directories, over ${KILLS} backups and ${KILLS} restores`, async () => {
    await startWithLists();
    await service?.stop();
    const random = new SeededRandom(SEED);
    for (let round = 0; round < KILLS; round += 1) {
      // No service runs: the command opens the data directory itself, and is what is killed.
      await killed(['backup', backups], dataDir, 300 + random.below(KILL_MS_MAX));
      for (const { path } of backupsIn(backups))
        expect(statSync(join(path, 'system', 'data.mdb')).size).toBeGreaterThan(0);
    }
    const path = await backUp();
    expect(readdirSync(backups).filter((name) => name.startsWith('.'))).toEqual([]);
    expect(existsSync(join(dataDir, '.backup-staging'))).toBe(false);

    const target = join(folder, 'restored');
    for (let round = 0; round < KILLS; round += 1) {
      await killed(['restore', path, '--replace'], target, 100 + random.below(KILL_MS_MAX));
    }
    await restore(path, target, '--replace');
    expectMoment(await contentOf(target), new Map(), new Map());
    expect(readdirSync(target).filter((name) => /^\.(?:restor|placing)/u.test(name))).toEqual([]);
  });
});
