/**
 * Environments that are opened on a read-only file system: they can be read, and written as soon as the file system is
 * writable.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { canMount, SmallFileSystem } from '../../test/support/small-file-system.js';
import { describeWhere } from '../../test/support/skip.js';
import { openEnvironment, type LmdbEnvironment } from './lmdb-environment.js';

const COMMITS = 50;
const ROWS = 200;
const PACKAGE = fileURLToPath(new URL('../..', import.meta.url));
const DIST = new URL('../../dist/src/platform/', import.meta.url).href;

let root: string;
let disk: SmallFileSystem;
let path: string;
let open: LmdbEnvironment[];

function opened(): LmdbEnvironment {
  const environment = openEnvironment(path, { kind: 'system' });
  open.push(environment);
  return environment;
}

/** Writes rows that contain the number of the commit. */
const write = (environment: LmdbEnvironment, commit: number) => {
  const rows = environment.database<{ readonly commit: number; readonly filling: string }, number>('rows');
  return environment.transaction(() => {
    for (let row = 0; row < ROWS; ++row) rows.putSync(row, { commit, filling: 'x'.repeat(200) });
  });
};

/** Returns what another process prints when it opens the environment. */
function saidElsewhere(): string {
  const script = `
    import { openEnvironment } from ${JSON.stringify(`${DIST}lmdb-environment.js`)};
    try { openEnvironment(${JSON.stringify(path)}, { kind: 'system' }); console.log('opened'); } catch (error) { console.log(error.message); }
  `;
  return execFileSync(process.execPath, ['--input-type=module', '--eval', script], { cwd: PACKAGE, encoding: 'utf8' });
}

describeWhere(canMount('An environment that can only be read'), 'no file system can be mounted here (root)')(
  'an environment on a read-only file system',
  () => {
    beforeEach(async () => {
      root = mkdtempSync(join(tmpdir(), 'gannet-unwritable-'));
      disk = SmallFileSystem.mount(root);
      path = join(root, 'environment');
      open = [];
      const environment = opened();
      await write(environment, 0);
      await environment.close();
      open = [];
      disk.refuseWrites();
    });
    afterEach(async () => {
      for (const environment of open) await environment.close();
      disk.unmount();
      rmSync(root, { recursive: true, force: true });
    });

    it('can be read, refuses writes, and can be written when the file system is writable, without harm to readers', async () => {
      const reader = opened();
      const writer = opened();
      const rows = reader.database<{ readonly commit: number }, number>('rows');
      for (const turn of [1, 2]) {
        await expect(write(writer, turn)).rejects.toMatchObject({ code: 'storage-failed' });
        expect(rows.get(ROWS - 1)).toMatchObject({ commit: 0 });
      }
      const transaction = rows.useReadTransaction();
      expect(rows.get(0, { transaction })).toMatchObject({ commit: 0 });
      disk.takeWrites();
      for (let commit = 1; commit <= COMMITS; ++commit) await write(writer, commit);
      // The pages of an unregistered reader would have been overwritten.
      for (let row = 0; row < ROWS; ++row) expect(rows.get(row, { transaction })).toMatchObject({ commit: 0 });
      transaction.done();
      reader.root.resetReadTxn();
      for (let row = 0; row < ROWS; ++row) expect(rows.get(row)).toMatchObject({ commit: COMMITS });
    });

    it('belongs to the process that has it open', () => {
      opened();
      for (const how of ['refuseWrites', 'takeWrites'] as const) {
        disk[how]();
        expect(saidElsewhere()).toMatch(/temporarily unavailable/);
      }
    });

    it('is not written if another file has taken its place', async () => {
      const environment = opened();
      disk.takeWrites();
      renameSync(path, `${path}-before`);
      mkdirSync(path);
      execFileSync('cp', ['-a', `${path}-before/.`, path]);
      await expect(write(environment, 1)).rejects.toThrow();
      expect(environment.database<{ readonly commit: number }, number>('rows').get(0)).toMatchObject({ commit: 0 });
      expect(readdirSync(path).toSorted()).toEqual(['data.mdb', 'lock.mdb']);
    });
  },
);
