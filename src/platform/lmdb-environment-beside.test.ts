/**
 * Environments whose commits run in another thread. A preloaded library holds a sync back; it needs a C compiler, as
 * the kernel does.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWhere } from '../../test/support/skip.js';
import { openEnvironment } from './lmdb-environment.js';

const MODULE = new URL('../../dist/src/platform/lmdb-environment.js', import.meta.url).href;
const SOURCE = fileURLToPath(new URL('../../test/support/silent-disk.c', import.meta.url));
const PACKAGE = fileURLToPath(new URL('../..', import.meta.url));

const folder = mkdtempSync(join(tmpdir(), 'gannet-beside-'));
const library = join(folder, 'silent-disk.so');
const isSilent = join(folder, 'is-silent');
beforeAll(() => {
  execFileSync('cc', ['-shared', '-fPIC', '-o', library, SOURCE, '-ldl']);
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Returns what a child process prints that has an environment at `name` containing 'before'. */
function run(name: string, script: string): unknown {
  const all = `
    import { existsSync, rmSync, writeFileSync } from 'node:fs';
    import { spawn } from 'node:child_process';
    import { openEnvironment } from ${JSON.stringify(MODULE)};
    const isSilent = ${JSON.stringify(isSilent)};
    const environment = openEnvironment(${JSON.stringify(join(folder, name))}, { kind: 'system', commitsBeside: true });
    const values = environment.database('values');
    const settled = [];
    const write = (key) => environment.transaction(() => void values.putSync(key, key)).then(() => settled.push(key));
    const turns = async () => { for (let turn = 0; turn < 100; ++turn) await new Promise(setImmediate); };
    const print = (said) => process.stdout.write(JSON.stringify(said));
    /** Until a sync waits for the disk. */
    const held = async () => {
      while (!existsSync(isSilent + '.waiting')) await new Promise((resolve) => setTimeout(resolve, 1));
      rmSync(isSilent + '.waiting');
    };
    /** By another process, for this one waits. */
    const answerSoon = () => spawn('rm', [isSilent]);
    await write('before');
    rmSync(isSilent + '.waiting', { force: true });
    writeFileSync(isSilent, '');
    ${script}
  `;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', all], {
    cwd: PACKAGE,
    encoding: 'utf8',
    env: { ...process.env, LD_PRELOAD: library, SILENT_DISK: isSilent, SILENT_SYNC: '/data.mdb' },
    timeout: 200_000,
  });
  expect([status, stdout === '' ? stderr : ''], stderr).toEqual([0, '']);
  return JSON.parse(stdout);
}

const written = async (name: string) => {
  const environment = openEnvironment(join(folder, name), { kind: 'system', readOnly: true });
  const keys = [...environment.database('values').getKeys()];
  await environment.close();
  return keys;
};

describeWhere(process.platform === 'linux', 'only Linux can have a library in front of others')(
  'an environment on a slow disk',
  () => {
    it('keeps its thread running, shows only what is on disk, and writes in order', async () => {
      const said = run(
        'going',
        `
        const all = [write('one'), write('two')];
        await held();
        await turns();
        const meanwhile = [[...settled], [...values.getKeys()]];
        rmSync(isSilent);
        await Promise.all(all);
        print([meanwhile, settled, [...values.getKeys()]]);
        await environment.close();
        `,
      );
      const all = ['before', 'one', 'two'];
      expect(said).toEqual([[['before'], ['before']], all, all]);
      expect(await written('going')).toEqual(all);
    });

    it('waits for its writes before it is closed, and before databases are opened in it', async () => {
      const said = run(
        'closed',
        `
        void write('one');
        await held();
        answerSoon();
        const other = environment.database('others');
        await other.put('other', 'other');
        writeFileSync(isSilent, '');
        void write('two');
        await held();
        answerSoon();
        await environment.close();
        print(settled);
        `,
      );
      expect(said).toEqual(['before', 'one', 'two']);
      expect(await written('closed')).toEqual(['before', 'one', 'two']);
    });

    it('refuses a change while lmdb-js itself is writing, and works afterwards', async () => {
      const said = run(
        'itself',
        `
        const put = values.put('by itself', 'by itself');
        await held();
        answerSoon();
        // Begins when the disk has answered, with the thread of lmdb-js still there.
        const refusal = await write('one').then(() => 'none', ({ message }) => message);
        await put;
        await write('two');
        print([refusal, [...values.getKeys()]]);
        await environment.close();
        `,
      );
      expect(said).toEqual([expect.stringContaining('lmdb-js writes'), ['before', 'by itself', 'two']]);
      expect(await written('itself')).toEqual(['before', 'by itself', 'two']);
    });

    it('is intact if the process ends meanwhile', async () => {
      expect(
        run('ended', `void write('one'); await held(); print(settled); rmSync(isSilent); process.exit(0);`),
      ).toEqual(['before']);
      // The second commit was not confirmed, so it may be there or not.
      expect([['before'], ['before', 'one']]).toContainEqual(await written('ended'));
    });
  },
);
