import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { itWhere } from '../../test/support/skip.ts';

const PROGRAM = fileURLToPath(new URL('halts.mjs', import.meta.url));

/** Ends with 7 once it goes on after it was stopped. */
const WATCHING = `process.once('SIGCONT', () => process.exit(7));
setInterval(() => undefined, 1000);`;

itWhere(process.platform === 'linux', 'only Linux tells what is beneath a process')(
  'a command that is halted goes on, and has its own end',
  () => {
    const { status, stdout } = spawnSync(process.execPath, [PROGRAM, '--seed', '1', process.execPath, '-e', WATCHING], {
      encoding: 'utf8',
    });
    expect([status, stdout]).toEqual([7, expect.stringMatching(/^Halted [1-9]\d* times \(seed 1\)\.\n$/)]);
  },
);
