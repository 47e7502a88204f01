import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { itWhere } from '../../test/support/skip.ts';

const PROGRAM = fileURLToPath(new URL('halts.mjs', import.meta.url));

/** Ends with 7 once it has stood still for longer than it ever waits. */
const WATCHING = `let last = performance.now();
setInterval(() => {
  if (performance.now() - last > 40) process.exit(7);
  last = performance.now();
}, 1);`;

itWhere(process.platform === 'linux', 'only Linux tells what is beneath a process')(
  'a command that is halted goes on, and has its own end',
  () => {
    const { status, stdout } = spawnSync(process.execPath, [PROGRAM, '--seed', '1', process.execPath, '-e', WATCHING], {
      encoding: 'utf8',
    });
    expect([status, stdout]).toEqual([7, expect.stringMatching(/^Halted [1-9]\d* times \(seed 1\)\.\n$/)]);
  },
);
