/** Tests a data directory of one user that another user, mostly root, works on with good intentions. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { gannet } from '../support/cli.js';
import { startTestService } from '../support/service.js';
import { describeWhere, itWhere } from '../support/skip.js';

const NOBODY = 65_534;
const ANY_PORT = '0';
const PROGRAM = fileURLToPath(new URL('../../bin/gannet.js', import.meta.url));

let folder: string;
let backup: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-owners-'));
  chmodSync(folder, 0o755);
  const service = await startTestService({ dataDir: join(folder, 'first') });
  try {
    await service.client.post('/list/default', { name: 'films', searchable_fields: [{ name: 'title' }] });
    await service.client.bulk('default', 'films', [{ name: 'one', title: 'red' }]);
    const made = await gannet(service.dataDir, 'backup', join(folder, 'backups'), '--json');
    backup = (JSON.parse(made.output) as { path: string }).path;
  } finally {
    await service.stop();
  }
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const hasBindfs = process.getuid?.() === 0 && spawnSync('bindfs', ['--version']).status === 0;

/** Creates a data directory that belongs to the user nobody. */
function directoryOfNobody(): string {
  const path = join(folder, 'of-nobody');
  mkdirSync(path, { mode: 0o700 });
  chownSync(path, NOBODY, NOBODY);
  return path;
}

function giveToNobody(path: string): void {
  chownSync(path, NOBODY, NOBODY);
  if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) giveToNobody(join(path, name));
}

function asNobody(dataDir: string, ...argv: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...argv], {
    uid: NOBODY,
    gid: NOBODY,
    cwd: '/',
    encoding: 'utf8',
    env: { ...process.env, GANNET_DATA_DIR: dataDir, GANNET_PORT: ANY_PORT, HOME: '/nonexistent' },
  });
  return { status, said: stdout + stderr };
}

itWhere(hasBindfs, 'it takes root, and bindfs')(
  'Root may use a data directory on a file system that gives every file to the same user',
  async () => {
    const mounted = join(folder, 'mounted');
    mkdirSync(mounted);
    const options = ['--force-user=nobody', '--force-group=nogroup', '--chown-ignore'];
    execFileSync('bindfs', [...options, directoryOfNobody(), mounted]);
    try {
      expect(lstatSync(mounted).uid).toBe(NOBODY);
      expect(await gannet(mounted, 'restore', backup)).toMatchObject({ status: 0 });
      expect(lstatSync(join(mounted, 'system', 'data.mdb')).uid).toBe(NOBODY);
      expect((await gannet(mounted, 'list', 'ls')).output).toContain('films');
      expect((await gannet(mounted, 'doctor')).output).toContain('not running on this data directory');
      expect(readdirSync(mounted).filter((name) => name.startsWith('.owner'))).toEqual([]);
    } finally {
      execFileSync('umount', ['-l', mounted]);
    }
  },
);

describeWhere(process.getuid?.() === 0, 'only root can be another user')(
  'root in the data directory of another user',
  () => {
    it('restores nothing that its owner could not open, and says which user must do it', async () => {
      const dataDir = directoryOfNobody();
      const restored = await gannet(dataDir, 'restore', backup);
      expect(restored.status).not.toBe(0);
      expect(restored.notes).toContain(`belongs to the user with id ${NOBODY}`);
      expect(readdirSync(dataDir)).toEqual([]);
      const link = join(folder, 'link');
      symlinkSync(dataDir, link);
      expect((await gannet(link, 'restore', backup)).notes).toContain(`belongs to the user with id ${NOBODY}`);
      expect(readdirSync(dataDir)).toEqual([]);

      giveToNobody(join(folder, 'backups'));
      expect(asNobody(dataDir, 'restore', backup)).toMatchObject({ status: 0 });
      expect(asNobody(dataDir, 'list', 'ls').said).toContain('films');
    });

    it('does not block the owner with readable files that it added, or with folders moved aside', () => {
      const dataDir = directoryOfNobody();
      for (const name of readdirSync(backup)) cpSync(join(backup, name), join(dataDir, name), { recursive: true });
      const uploaded = join(dataDir, 'media', 'default', 'default', 'blobs');
      mkdirSync(uploaded, { recursive: true });
      giveToNobody(dataDir);
      writeFileSync(join(uploaded, 'a'), 'of root');
      chmodSync(join(uploaded, 'a'), 0o644);
      mkdirSync(join(dataDir, '.before-restore-20260101T000000Z', 'lists'), { recursive: true, mode: 0o700 });
      expect(asNobody(dataDir, 'list', 'ls').said).toContain('films');
      expect(asNobody(dataDir, 'doctor').said).not.toContain('cannot be opened by this user');

      chmodSync(join(uploaded, 'a'), 0o600);
      expect(asNobody(dataDir, 'list', 'ls').said).toContain(
        `${join(uploaded, 'a')} cannot be opened by this user, for it belongs to the user with the id 0: chown it, or`,
      );
      chownSync(join(uploaded, 'a'), NOBODY, NOBODY);
      chownSync(join(dataDir, 'system', 'data.mdb'), 0, NOBODY);
      chmodSync(join(dataDir, 'system', 'data.mdb'), 0o640);
      expect(asNobody(dataDir, 'list', 'ls').said).toContain('system/data.mdb cannot be opened by this user');
    });

    it('owns a folder behind a link, which a backup leaves out if it is lost+found, and names otherwise', () => {
      const dataDir = directoryOfNobody();
      for (const name of readdirSync(backup)) cpSync(join(backup, name), join(dataDir, name), { recursive: true });
      giveToNobody(dataDir);
      const disk = join(folder, 'disk');
      mkdirSync(join(disk, 'lost+found'), { recursive: true });
      chmodSync(join(disk, 'lost+found'), 0o700);
      chmodSync(disk, 0o755);
      rmSync(join(dataDir, 'media'), { recursive: true, force: true });
      symlinkSync(disk, join(dataDir, 'media'));
      const more = join(folder, 'more');
      mkdirSync(more);
      chownSync(more, NOBODY, NOBODY);
      expect(asNobody(dataDir, 'backup', more)).toMatchObject({ status: 0 });
      mkdirSync(join(disk, 'closed'), { mode: 0o700 });
      expect(asNobody(dataDir, 'backup', more)).toEqual({
        status: 1,
        said: expect.stringContaining(
          `${join(dataDir, 'media', 'closed')} cannot be read, and belongs into the backup`,
        ) as string,
      });
    });

    it('owns lost+found on disks mounted at lists or media, which does not block the owner', () => {
      const dataDir = directoryOfNobody();
      for (const name of readdirSync(backup)) cpSync(join(backup, name), join(dataDir, name), { recursive: true });
      mkdirSync(join(dataDir, 'media'), { recursive: true });
      giveToNobody(dataDir);
      const found = ['lists', 'media'].map((name) => join(dataDir, name, 'lost+found'));
      for (const path of found) mkdirSync(path, { mode: 0o700 });
      expect(asNobody(dataDir, 'doctor').said).not.toContain('cannot be opened by this user');
      expect(asNobody(dataDir, 'list', 'ls').said).toContain('films');
    });

    it('leaves the directory unchanged with every other command that would open it, and with doctor', async () => {
      const dataDir = directoryOfNobody();
      for (const name of readdirSync(backup)) cpSync(join(backup, name), join(dataDir, name), { recursive: true });
      giveToNobody(dataDir);
      for (const argv of [
        ['backup', join(folder, 'more')],
        ['list', 'ls'],
        ['doctor', '--adopt-lists'],
        ['doctor', '--data'],
      ]) {
        const { status, notes, output } = await gannet(dataDir, ...argv);
        expect(status, argv.join(' ')).not.toBe(0);
        expect(notes + output).toContain(`belongs to the user with id ${NOBODY}`);
      }
      expect((await gannet(dataDir, 'doctor')).output).toContain(`The data belongs to the user with id ${NOBODY}`);
      expect(existsSync(join(dataDir, 'lock'))).toBe(false);
      expect(existsSync(join(dataDir, 'system', 'lock.mdb'))).toBe(false);
      expect(asNobody(dataDir, 'list', 'ls').said).toContain('films');
    });

    it('left files that their owner cannot open, which a start and doctor name, and say what to do', () => {
      const dataDir = directoryOfNobody();
      for (const name of readdirSync(backup)) cpSync(join(backup, name), join(dataDir, name), { recursive: true });
      for (const argv of [['serve'], ['list', 'ls'], ['doctor']]) {
        const { status, said } = asNobody(dataDir, ...argv);
        expect(status, argv.join(' ')).not.toBe(0);
        expect(said).toMatch(
          /of-nobody\/lists.* cannot be opened by this user, for they belong to the user with the id 0: chown them/,
        );
        expect(said).not.toContain('because of a bug');
      }
      // As with the volume of a container, whose user exists nowhere else.
      expect(asNobody(join(folder, 'first'), 'serve').said).toContain(
        `it belongs to the user with the id 0, and this one has the id ${NOBODY}.`,
      );
    });
  },
);
