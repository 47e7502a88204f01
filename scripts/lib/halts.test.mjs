import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { itWhere } from '../../test/support/skip.ts';
import { treeOf } from './halts.mjs';

const PROGRAM = fileURLToPath(new URL('halts.mjs', import.meta.url));

/** Exits with 7 when it continues after it was stopped. */
const WATCHING = `process.once('SIGCONT', () => process.exit(7));
setInterval(() => undefined, 1000);`;

itWhere(process.platform === 'linux', 'only Linux tells what is beneath a process')(
  'halts.mjs lets a halted command continue and exits with its status',
  () => {
    const { status, stdout } = spawnSync(process.execPath, [PROGRAM, '--seed', '1', process.execPath, '-e', WATCHING], {
      encoding: 'utf8',
    });
    expect([status, stdout]).toEqual([7, expect.stringMatching(/^Halted [1-9]\d* times \(seed 1\)\.\n$/)]);
  },
);

itWhere(process.platform === 'linux', 'only Linux tells what is beneath a process')(
  'treeOf leaves out processes that something else has stopped',
  async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)'], { stdio: 'ignore' });
    try {
      expect(treeOf(process.pid)).toContain(child.pid);
      child.kill('SIGSTOP');
      await expect.poll(() => treeOf(process.pid)).not.toContain(child.pid);
      child.kill('SIGCONT');
      await expect.poll(() => treeOf(process.pid)).toContain(child.pid);
    } finally {
      child.kill('SIGKILL');
    }
  },
);
