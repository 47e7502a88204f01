/** A data directory of one user and what another one does to it who means well: root, most of all. */
import { spawnSync } from 'node:child_process';
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
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { gannet } from '../support/cli.js';
import { startTestService } from '../support/service.js';
import { describeWhere } from '../support/skip.js';

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

/** A data directory of nobody's. */
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

describeWhere(process.getuid?.() === 0, 'only root can be another user')(
  'root on the data directory of somebody else',
  () => {
    it('restores nothing that its owner could not open, and says as whom to do it', async () => {
      const dataDir = directoryOfNobody();
      const restored = await gannet(dataDir, 'restore', backup);
      expect(restored.status).not.toBe(0);
      expect(restored.notes).toContain(`belongs to the user with the id ${NOBODY}`);
      expect(readdirSync(dataDir)).toEqual([]);

      giveToNobody(join(folder, 'backups'));
      expect(asNobody(dataDir, 'restore', backup)).toMatchObject({ status: 0 });
      expect(asNobody(dataDir, 'list', 'ls').said).toContain('films');
    });

    it('leaves it as it is with every other command that would open it, and with doctor', async () => {
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
        expect(notes + output).toContain(`belongs to the user with the id ${NOBODY}`);
      }
      expect((await gannet(dataDir, 'doctor')).output).toContain(`its data belongs to the user with the id ${NOBODY}`);
      expect(existsSync(join(dataDir, 'lock'))).toBe(false);
      expect(existsSync(join(dataDir, 'system', 'lock.mdb'))).toBe(false);
      expect(asNobody(dataDir, 'list', 'ls').said).toContain('films');
    });

    it('has left files that its owner cannot open: a start and doctor name them, and what to do', () => {
      const dataDir = directoryOfNobody();
      for (const name of readdirSync(backup)) cpSync(join(backup, name), join(dataDir, name), { recursive: true });
      for (const argv of [['serve'], ['list', 'ls'], ['doctor']]) {
        const { status, said } = asNobody(dataDir, ...argv);
        expect(status, argv.join(' ')).not.toBe(0);
        expect(said).toMatch(
          /of-nobody\/lists.* cannot be opened by this user, for they belong to the user with the id 0: chown them/,
        );
        expect(said).not.toContain('defect');
      }
    });
  },
);
