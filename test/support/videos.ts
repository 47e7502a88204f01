/** Videos made of drawn pictures by ffmpeg, and programs that replace ffmpeg. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFfmpeg } from '../../src/recordings/frames/ffmpeg.js';
import { drawnPicture } from './pictures.js';

/** Undefined if the machine has none. */
export const FFMPEG = findFfmpeg('ffmpeg');
export const NO_FFMPEG = 'there is no ffmpeg; `node scripts/install-ffmpeg.mjs` installs the one of Debian';

/** Frames per second. */
const RATE = '2';

/** Creates an MP4 or Matroska file that shows a picture of each seed for so many seconds. */
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

/** Writes a shell script that is run in place of ffmpeg. */
export function writeProgram(path: string, script: string): string {
  writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return path;
}
