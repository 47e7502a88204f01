/**
 * Pictures are read in processes of their own: what happens to such a process is reported, and affects no other
 * picture.
 */
import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { afterEach, expect, it } from 'vitest';
import { jpegOf } from '../../test/support/pictures.js';
import { childrenOf } from '../../test/support/processes.js';
import { itWhere } from '../../test/support/skip.js';
import { DESCRIPTOR_DIMENSIONS } from './descriptor.js';
import { PictureReader } from './picture-reader.js';
import { PictureError } from './types.js';

const ON_LINUX = process.platform === 'linux';
const deaths: string[] = [];
const readers: PictureReader[] = [];
afterEach(async () => {
  await Promise.all(readers.splice(0).map((reader) => reader.close()));
  deaths.splice(0);
});

function readerOf({ processes = 1, memoryMibMax = 768, msMax = 60_000 } = {}): PictureReader {
  const reader = new PictureReader({
    processes,
    memoryMibMax,
    limits: { pixelsMax: 100_000_000, msMax },
    onDeath: ({ message }) => void deaths.push(message),
    onBug: (stack) => {
      throw new Error(stack);
    },
  });
  readers.push(reader);
  return reader;
}

async function outcome(reader: PictureReader, bytes: Uint8Array, signal?: AbortSignal): Promise<string | number> {
  try {
    return (await reader.read(bytes, signal)).vector.length;
  } catch (error) {
    if (error instanceof PictureError) return error.fault;
    throw error;
  }
}

/** A picture that must be completely in memory before the first pixel can be read, because its lines are interlaced. */
const large = () =>
  sharp({ create: { width: 9000, height: 9000, channels: 4, background: '#203040' } })
    .png({ progressive: true, compressionLevel: 1 })
    .toBuffer();

it('Pictures are read concurrently, each by itself, and wait if there are more of them than processes', async () => {
  const reader = readerOf({ processes: 2 });
  const files = await Promise.all(Array.from({ length: 12 }, (_, seed) => jpegOf(seed)));
  const read = await Promise.all(files.map((file) => reader.read(file)));
  const again = await Promise.all(files.map((file) => reader.readToSearch(file)));
  expect(again).toEqual(read);
  expect(new Set(read.map(({ vector }) => vector.join())).size).toBe(12);
  expect(await outcome(reader, deflateSync(Buffer.alloc(99)))).toBe('not-a-picture');
  expect(deaths).toEqual([]);
});

it('A picture that takes too much memory or time ends its process with an error, and the next one is read', async () => {
  const bytes = await large();
  const small = await jpegOf(1);
  const frugal = readerOf({ memoryMibMax: 220 });
  expect(await outcome(frugal, bytes)).toBe('too-large');
  expect(deaths).toEqual(['The process took more than 220 MiB']);
  expect(await outcome(frugal, small)).toBe(DESCRIPTOR_DIMENSIONS);
  const hasty = readerOf({ msMax: 40 });
  expect(await outcome(hasty, bytes)).toBe('timed-out');
});

itWhere(ON_LINUX, 'only Linux tells of the processes that one has started')(
  'A picture is read by another process if something else kills the first one',
  async () => {
    const reader = readerOf();
    const small = await jpegOf(1);
    await outcome(reader, small);
    const reading = outcome(reader, small);
    // The process has got the task, but had no time to read.
    for (const { pid } of childrenOf(process.pid).filter(({ command }) => command.includes('picture.worker')))
      process.kill(pid, 'SIGKILL');
    expect(await reading).toBe(DESCRIPTOR_DIMENSIONS);
    expect(deaths).toEqual(['The process ended with SIGKILL']);
  },
);

it('Reading a picture ends at once when it is aborted', async () => {
  const reader = readerOf();
  const small = await jpegOf(1);
  await outcome(reader, small);
  const stopped = new AbortController();
  const reading = outcome(reader, await large(), stopped.signal);
  setImmediate(() => {
    stopped.abort(new Error('gone'));
  });
  await expect(reading).rejects.toThrow('gone');
  expect(await outcome(reader, small)).toBe(DESCRIPTOR_DIMENSIONS);
});
