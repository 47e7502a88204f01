/** Frames of videos: which are read at which time, and what becomes of damaged videos and misbehaving programs. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import sharp from 'sharp';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mp3Of, mp4Of } from '../../../test/support/recordings.js';
import { describeWhere, itWhere } from '../../../test/support/skip.js';
import { standStill } from '../../../test/support/standstill.js';
import { canMount, SmallFileSystem } from '../../../test/support/small-file-system.js';
import { FFMPEG, NO_FFMPEG, videoOf, writeProgram } from '../../../test/support/videos.js';
import { findFfmpeg } from './ffmpeg.js';
import { PngStream } from './png-stream.js';
import { VideoFrames, type VideoFramesOptions } from './video-frames.js';

const FRAME_BYTES_MAX = 1_000_000;
const ON_LINUX = 'only Linux tells of a process what it takes';
let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-frames-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function opened(options: Partial<VideoFramesOptions> = {}): VideoFrames {
  return new VideoFrames({
    ffmpeg: FFMPEG ?? '',
    folder: join(folder, 'videos'),
    everySeconds: 10,
    framesMax: 100,
    msMax: 300_000,
    memoryMibMax: 768,
    ...options,
  });
}
/** Writes a program that replaces ffmpeg. */
const program = (script: string) => writeProgram(join(folder, 'program'), script);
const never = new AbortController().signal;
const pixelOf = (shade: number) =>
  sharp({ create: { width: 3, height: 2, channels: 3, background: { r: shade, g: 0, b: 0 } } })
    .png()
    .toBuffer();

async function seen(frames: VideoFrames, bytes: Uint8Array, signal = never) {
  const pictures: { readonly seconds: number; readonly picture: Uint8Array }[] = [];
  const truncated = await frames.read(
    bytes,
    (frame) => {
      pictures.push(frame);
      return Promise.resolve();
    },
    signal,
  );
  return { pictures, truncated, seconds: pictures.map(({ seconds }) => seconds) };
}

describeWhere(FFMPEG !== undefined, NO_FFMPEG)('frames of a video', () => {
  it('are read at a fixed interval from the beginning', async () => {
    for (const ending of ['mp4', 'mkv'] as const) {
      const { pictures, seconds, truncated } = await seen(opened(), await videoOf([1, 2, 3], 10, ending));
      expect([seconds.slice(0, 3), truncated]).toEqual([[0, 10, 20], false]);
      const { width, height, format } = await sharp(pictures[0]?.picture).metadata();
      // The frames fill the square that models and the descriptor use, and are no larger.
      expect([format, width, Math.abs(height - 341.3) < 1]).toEqual(['png', 512, true]);
    }
  });

  it('are limited in number, which is reported', async () => {
    const video = await videoOf([1, 2, 3, 4]);
    expect(await seen(opened({ framesMax: 2 }), video)).toMatchObject({ seconds: [0, 10], truncated: true });
    const { version } = opened({ framesMax: 0 });
    expect([version, opened({ framesMax: 2 }).version]).toEqual(['', '10 2']);
  });

  it('are those before the damaged part of a video, and none if all of it is damaged', async () => {
    const video = await videoOf([1, 2, 3, 4], 10, 'mkv');
    const { seconds } = await seen(opened(), video.subarray(0, Math.round(video.length * 0.6)));
    expect(seconds.slice(0, 2)).toEqual([0, 10]);
    const noise = Buffer.from(video);
    noise.fill(0x5a, 64);
    await expect(seen(opened(), noise)).rejects.toMatchObject({ fault: 'damaged' });
    await expect(seen(opened(), Buffer.from('no video'))).rejects.toMatchObject({ fault: 'not-a-recording' });
  });

  it('are none if the recording has no pictures', async () => {
    expect((await seen(opened(), mp3Of({ title: 'A gannet' }))).pictures).toEqual([]);
    expect((await seen(opened(), mp4Of({ title: 'A gannet' }))).pictures).toEqual([]);
  });

  it('end in frames or a RecordingError for any changed bytes', async () => {
    const video = await videoOf([1, 2], 1);
    const frames = opened({ framesMax: 3, msMax: 5000 });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 20 }), async (changes) => {
        const damaged = Buffer.from(video);
        for (const [at, value] of changes) damaged[at % damaged.length] = value;
        try {
          expect((await seen(frames, damaged)).pictures.length).toBeLessThanOrEqual(3);
        } catch (error) {
          expect((error as Error).name).toBe('RecordingError');
        }
      }),
      { numRuns: 15 },
    );
  });
});

describe('a program in place of ffmpeg', () => {
  const video = mp4Of({ title: 'A gannet' });

  itWhere(process.platform === 'linux', ON_LINUX)('is killed if it hangs', async () => {
    const hanging = opened({ ffmpeg: program('exec sleep 100000'), idleMsMax: 300 });
    await expect(seen(hanging, video)).rejects.toMatchObject({ fault: 'timed-out' });
  });

  it('is in time if it writes and ends while the service stands still', async () => {
    writeFileSync(join(folder, 'frame'), await pixelOf(1));
    const clockMsMax = 3000;
    const ffmpeg = program(
      `cat ${folder}/frame; until [ -e ${folder}/go ]; do sleep 0.01; done; cat ${folder}/frame; : > ${folder}/done`,
    );
    let count = 0;
    const truncated = await opened({ ffmpeg, clockMsMax, idleMsMax: clockMsMax }).read(
      video,
      async () => {
        count += 1;
        if (count > 1) return;
        setImmediate(() => {
          writeFileSync(join(folder, 'go'), '');
          standStill(1.5 * clockMsMax, join(folder, 'done'));
        });
      },
      never,
    );
    expect([count, truncated]).toEqual([2, false]);
  });

  itWhere(process.platform === 'linux', ON_LINUX)('is killed if it computes without end', async () => {
    const busy = opened({ ffmpeg: program('while :; do :; done'), msMax: 200 });
    await expect(seen(busy, video)).rejects.toMatchObject({ fault: 'timed-out' });
  });

  it('is killed if it is nearly idle for ever', async () => {
    const dozing = opened({ ffmpeg: program('while :; do sleep 0.05; done'), clockMsMax: 300 });
    await expect(seen(dozing, video)).rejects.toMatchObject({ fault: 'timed-out' });
  });

  itWhere(process.platform === 'linux', ON_LINUX)('is killed if it takes too much memory', async () => {
    const greedy = opened({
      ffmpeg: program(`exec ${process.execPath} -e 'for (;;) (globalThis.kept ??= []).push(Buffer.alloc(1e6, 1))'`),
      memoryMibMax: 200,
    });
    await expect(seen(greedy, video)).rejects.toMatchObject({ fault: 'too-large' });
  });

  it('that writes something other than pictures ends in a fault', async () => {
    const writing = opened({ ffmpeg: program('exec cat /dev/zero') });
    await expect(seen(writing, video)).rejects.toMatchObject({
      fault: 'damaged',
      message: expect.stringContaining('what ffmpeg writes are no pictures') as string,
    });
  });

  it('that writes pictures without end is ended when there are enough', async () => {
    writeFileSync(join(folder, 'seen.png'), await pixelOf(1));
    const endless = program(`while :; do cat '${folder}/seen.png'; done`);
    expect(await seen(opened({ ffmpeg: endless, framesMax: 2 }), video)).toMatchObject({
      seconds: [0, 10],
      truncated: true,
    });
  });

  it('that starts others which hold its pipes open is not waited for, and its group is killed with it', async () => {
    const leaving = program('sleep 100000 &');
    await expect(seen(opened({ ffmpeg: leaving }), video)).resolves.toMatchObject({ seconds: [] });
    const waiting = program('sleep 100000; exit 0');
    await expect(seen(opened({ ffmpeg: waiting, idleMsMax: 300 }), video)).rejects.toMatchObject({
      fault: 'timed-out',
    });
    // A process that has left the group is not killed.
    const leader = `${process.execPath} -e '
      const { pid } = require("node:child_process").spawn("sleep", ["100000"], { detached: true, stdio: "inherit" });
      require("node:fs").writeFileSync("${folder}/pid", String(pid));
      process.exit();'`;
    await expect(seen(opened({ ffmpeg: program(leader) }), video)).resolves.toMatchObject({ seconds: [] });
    process.kill(Number(readFileSync(join(folder, 'pid'), 'utf8')), 'SIGKILL');
  });

  it('that something else kills is no fault of the video, even if it had written some pictures', async () => {
    writeFileSync(join(folder, 'seen.png'), await pixelOf(1));
    for (const before of ['', `cat '${folder}/seen.png'\n`])
      await expect(seen(opened({ ffmpeg: program(`${before}kill -9 $$`) }), video)).rejects.toMatchObject({
        code: 'internal-error',
        detail: expect.stringContaining('ffmpeg was killed (SIGKILL), and not by the service') as string,
      });
    await expect(seen(opened({ ffmpeg: program('ulimit -c 0; kill -SEGV $$') }), video)).rejects.toThrow(
      'No frame of the video can be decoded: ffmpeg ended with SIGSEGV',
    );
  });

  it('that is installed later is found then, and stays found', () => {
    const path = join(folder, 'later');
    const frames = opened({ ffmpeg: path, framesMax: 2 });
    expect([frames.lookForProgram(), frames.version]).toEqual([false, '']);
    writeProgram(path, 'exit 0');
    expect([frames.lookForProgram(), frames.version]).toEqual([true, '10 2']);
    rmSync(path);
    expect([frames.lookForProgram(), frames.version]).toEqual([true, '10 2']);
    expect(opened({ ffmpeg: program('exit 0'), framesMax: 0 }).lookForProgram()).toBe(false);
  });

  it('that fails has its own message reported, without control characters and memory addresses', async () => {
    const failing = opened({ ffmpeg: program("printf 'no \\033[31mluck\\nmore\\n' >&2; exit 1") });
    await expect(seen(failing, video)).rejects.toThrow(/^No frame of the video can be decoded: no {2}\[31mluck$/);
    const located = opened({ ffmpeg: program("echo '[ogg @ 0x55ae5177fc80] CRC mismatch!' >&2; exit 1") });
    await expect(seen(located, video)).rejects.toThrow(/: \[ogg\] CRC mismatch!$/);
  });

  it('that cannot be run is no fault of the video', async () => {
    const path = join(folder, 'unreadable');
    writeFileSync(path, '#!/nowhere/sh\n', { mode: 0o755 });
    await expect(seen(opened({ ffmpeg: path }), video)).rejects.toMatchObject({
      code: 'internal-error',
      detail: `ffmpeg cannot be run: ${path} cannot be run: No such file or directory.`,
    });
  });

  it('is killed when reading is aborted', async () => {
    const leaving = new AbortController();
    const hanging = opened({ ffmpeg: program(`echo begun > '${folder}/begun'; exec sleep 100000`) });
    const reading = seen(hanging, video, leaving.signal);
    await expect.poll(() => readdirSync(folder)).toContain('begun');
    leaving.abort(new Error('left'));
    await expect(reading).rejects.toThrow('left');
  });

  it('is not found if it does not exist or is not executable', () => {
    expect(findFfmpeg('')).toBeUndefined();
    expect(findFfmpeg('ffmpeg', folder)).toBeUndefined();
    expect(findFfmpeg(join(folder, 'none'))).toBeUndefined();
    expect(findFfmpeg(folder)).toBeUndefined();
    expect(findFfmpeg('program', `/nowhere:${folder}`)).toBeUndefined();
    expect(findFfmpeg('program', `/nowhere:${program('exit 0')}/..:${folder}`)).toBe(join(folder, 'program'));
  });

  it('gets the video from an open file without a name, in a folder for its user only', async () => {
    const looking = program(`ls -l '${folder}/videos' > '${folder}/listed'; cat /dev/fd/0 > '${folder}/given'`);
    await expect(seen(opened({ ffmpeg: looking }), video)).resolves.toMatchObject({ seconds: [] });
    expect(readFileSync(join(folder, 'given'))).toEqual(video);
    expect(readFileSync(join(folder, 'listed'), 'utf8').trim()).toBe('total 0');
    expect(statSync(join(folder, 'videos')).mode & 0o777).toBe(0o700);
  });

  itWhere(canMount('a video'), 'mounting takes the right to')(
    'is not started if there is no room for the video',
    async () => {
      const small = SmallFileSystem.mount(join(folder, 'videos'));
      try {
        small.shrink();
        const frames = opened({ ffmpeg: program('exit 0') });
        await expect(seen(frames, Buffer.concat([video, Buffer.alloc(1e6)]))).rejects.toMatchObject({
          code: 'storage-full',
        });
        small.grow();
        await expect(seen(frames, video)).resolves.toMatchObject({ seconds: [] });
      } finally {
        small.unmount();
      }
    },
  );
});

describe('PngStream', () => {
  it('splits a stream into its PNG files, wherever its parts end', async () => {
    const files = await Promise.all([1, 2, 3].map(pixelOf));
    const whole = Buffer.concat(files);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: whole.length }), { maxLength: 20 }), (cuts) => {
        const stream = new PngStream(FRAME_BYTES_MAX);
        const ends = [...cuts.toSorted((a, b) => a - b), whole.length];
        const found = ends.flatMap((end, at) => stream.add(whole.subarray(ends[at - 1] ?? 0, end)));
        expect(found).toEqual(files);
      }),
    );
  });

  it('fails if the stream is no PNG, or a file is too large', async () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          expect(new PngStream(FRAME_BYTES_MAX).add(bytes)).toEqual([]);
        } catch (error) {
          expect((error as Error).name).toBe('PngStreamError');
        }
      }),
    );
    const file = await pixelOf(1);
    expect(() => new PngStream(file.length - 1).add(file)).toThrow('has more than');
    expect(() => new PngStream(file.length).add(file)).not.toThrow();
  });
});
