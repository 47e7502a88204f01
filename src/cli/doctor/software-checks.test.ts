import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ffmpegCheck } from './software-checks.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-ffmpeg-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** Returns the path of a program that does this. */
function program(commands: string): string {
  const path = join(folder, 'ffmpeg');
  writeFileSync(path, `#!/bin/sh\n${commands}\n`);
  chmodSync(path, 0o755);
  return path;
}

it('An ffmpeg that does not answer is not said to be one that cannot be used', async () => {
  const path = program('exec sleep 3600');
  const check = await ffmpegCheck(path, 10);
  expect(check.detail).toBe(
    `${path} has not said its version within 30 s: it hangs, or the machine is too busy. Run \`gannet doctor\` again`,
  );
  expect(check.state).toBe('notice');
});

it('An ffmpeg that answers is told with its version, and one that fails with what is not possible without it', async () => {
  const path = program('echo "ffmpeg version 7.1 of a test"');
  expect((await ffmpegCheck(path)).detail).toBe(`7.1 (${path})`);
  expect((await ffmpegCheck(program('exit 1'))).detail).toMatch(/: videos can be searched by what is said in them/u);
});
