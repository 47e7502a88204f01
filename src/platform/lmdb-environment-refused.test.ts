/**
 * Environments on a disk that refuses writes in every way: quota, read-only, broken. A library that is preloaded into
 * a child process makes them fail; it needs a C compiler, as the kernel does.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWhere } from '../../test/support/skip.js';

const MODULE = new URL('../../dist/src/platform/lmdb-environment.js', import.meta.url).href;
const SOURCE = fileURLToPath(new URL('../../test/support/failing-disk.c', import.meta.url));
const PACKAGE = fileURLToPath(new URL('../..', import.meta.url));
const { EDQUOT, EFBIG, EIO, ENOSPC, EROFS } = constants.errno;

const folder = mkdtempSync(join(tmpdir(), 'gannet-refused-'));
const library = join(folder, 'failing-disk.so');
beforeAll(() => {
  execFileSync('cc', ['-shared', '-fPIC', '-o', library, SOURCE, '-ldl']);
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

interface Outcome {
  /** The error codes of the transactions, or `written`. */
  readonly failing: readonly string[];
  readonly readMeanwhile: unknown;
  readonly afterwards: string;
  readonly values: unknown;
}

/** Runs one transaction that succeeds, two concurrent ones and one that fail, and one when the disk works again. */
function run(code: number, part: 'all' | 'meta' | 'sync', commitsBeside: boolean): Outcome {
  const script = `
    import { openEnvironment } from ${JSON.stringify(MODULE)};
    const environment = openEnvironment(${JSON.stringify(join(folder, `${code}-${part}-${commitsBeside}`))}, { kind: 'system', commitsBeside: ${commitsBeside} });
    const values = environment.database('values');
    const write = (key) => environment.transaction(() => void values.putSync(key, key)).then(() => 'written', (error) => error.code ?? String(error));
    await write('before');
    process.env.FAILING_DISK_PART = ${JSON.stringify(part)};
    process.env.FAILING_DISK = ${JSON.stringify(String(code))};
    const failing = [...(await Promise.all([write('one'), write('two')])), await write('three')];
    let readMeanwhile;
    try { readMeanwhile = values.get('before') ?? null; } catch (error) { readMeanwhile = String(error); }
    delete process.env.FAILING_DISK;
    const afterwards = await write('after');
    let all;
    try { values.resetReadTxn(); all = [...values.getKeys()]; } catch (error) { all = String(error); }
    process.stdout.write(JSON.stringify({ failing, readMeanwhile, afterwards, values: all }));
    if (afterwards === 'written') await environment.close();
    else process.exit(0);
  `;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: PACKAGE,
    encoding: 'utf8',
    env: { ...process.env, LD_PRELOAD: library },
    timeout: 200_000,
  });
  expect([status, stdout === '' ? stderr : ''], stderr).toEqual([0, '']);
  return JSON.parse(stdout) as Outcome;
}

describeWhere(process.platform === 'linux', 'only Linux can have a library in front of others')(
  'an environment whose disk refuses writes',
  () => {
    for (const commitsBeside of [false, true]) {
      const waits = commitsBeside ? 'another thread' : 'its own thread';
      for (const [name, code, expected] of [
        ['quota', EDQUOT, 'storage-full'],
        ['no space', ENOSPC, 'storage-full'],
        ['file too large', EFBIG, 'storage-full'],
        ['read-only', EROFS, 'storage-failed'],
        ['input/output error', EIO, 'storage-failed'],
      ] as const) {
        for (const part of ['all', 'sync'] as const) {
          it(`(${name}, ${part}, ${waits} waits for it) reports it, can be read, and can be written when the disk works again`, () => {
            expect(run(code, part, commitsBeside)).toEqual({
              failing: [expected, expected, expected],
              readMeanwhile: 'before',
              afterwards: 'written',
              values: ['after', 'before'],
            });
          });
        }
      }

      it(`at a meta page, for which ${waits} waits, reports it at each transaction without waiting for ever`, () => {
        const { failing, afterwards } = run(EIO, 'meta', commitsBeside);
        expect([...failing, afterwards]).toEqual(Array.from({ length: 4 }, () => 'storage-failed'));
      });
    }
  },
);
