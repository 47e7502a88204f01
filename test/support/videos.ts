/** Videos that ffmpeg makes of drawn pictures, and programs that stand in its place. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFfmpeg } from '../../src/recordings/frames/ffmpeg.js';
import { drawnPicture } from './pictures.js';

/** Undefined where the machine has none. */
export const FFMPEG = findFfmpeg('ffmpeg');
export const NO_FFMPEG = 'there is no ffmpeg; `node scripts/install-ffmpeg.mjs` installs the one of Debian';

/** Two frames a second are enough to be seen. */
const RATE = '2';

/** An MP4 or Matroska file in which each of the pictures of these seeds is seen for so many seconds. */
export async function videoOf(
  seeds: readonly number[],
  secondsEach = 10,
  ending: 'mp4' | 'mkv' = 'mp4',
): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-video-'));
  try {
    for (const [place, seed] of seeds.entries())
      writeFileSync(join(folder, `${place}.png`), await drawnPicture(seed).png().toBuffer());
    const path = join(folder, `video.${ending}`);
    const input = ['-framerate', `1/${secondsEach}`, '-i', join(folder, '%d.png'), '-r', RATE];
    const quiet = ['-hide_banner', '-nostdin', '-loglevel', 'error'];
    execFileSync(FFMPEG ?? 'ffmpeg', [...quiet, ...input, '-c:v', 'mpeg4', '-q:v', '2', path]);
    return readFileSync(path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A program that is called as ffmpeg is and runs this script of the shell instead. */
export function writeProgram(path: string, script: string): string {
  writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return path;
}
