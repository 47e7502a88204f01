/**
 * Recordings are read in processes of their own: what happens to such a process is reported, and affects no other
 * recording.
 */
import { deflateSync } from 'node:zlib';
import { afterEach, expect, it } from 'vitest';
import { matroskaOf, mp4Of, wavOf } from '../../test/support/recordings.js';
import { RecordingReader } from './recording-reader.js';
import { RECORDING_FAULTS, RecordingError, type RecordingLimits } from './types.js';

const LIMITS: RecordingLimits = { cuesMax: 100_000, charactersMax: 2_000_000, msMax: 30_000 };
const readers: RecordingReader[] = [];
afterEach(async () => {
  await Promise.all(readers.splice(0).map((reader) => reader.close()));
});

function readerOf({ processes = 1, memoryMibMax = 768, limits = LIMITS } = {}): RecordingReader {
  const reader = new RecordingReader({
    processes,
    memoryMibMax,
    limits,
    onDeath: () => undefined,
    onBug: (stack) => {
      throw new Error(stack);
    },
  });
  readers.push(reader);
  return reader;
}

async function outcome(reader: RecordingReader, bytes: Uint8Array): Promise<string> {
  try {
    const { passages } = await reader.read(bytes);
    return passages.flatMap((passage) => passage.map(({ text }) => text)).join('|');
  } catch (error) {
    if (error instanceof RecordingError) return error.fault;
    throw error;
  }
}

const good = (title = 'Still here') => wavOf({ title });

it('Recordings are read concurrently, each by itself', async () => {
  const reader = readerOf({ processes: 2 });
  const titles = Array.from({ length: 8 }, (_, index) => `Recording ${index}`);
  expect(await Promise.all(titles.map((title) => outcome(reader, good(title))))).toEqual(titles);
});

it('A recording that takes too long fails with timed-out, and the next one is read', async () => {
  const reader = readerOf({ limits: { ...LIMITS, msMax: 1 } });
  const cue = '00:00:01,000 --> 00:00:02,000\nIt goes on\n\n';
  expect(await outcome(reader, Buffer.from(cue.repeat(200_000)))).toBe('timed-out');
  expect(await outcome(readerOf(), good())).toBe('Still here');
});

/** Files that claim to be larger than they are, or that have far too much content. */
const BOMBS: Readonly<Record<string, () => Uint8Array>> = {
  'a million cues': () => Buffer.from('00:00:01,000 --> 00:00:02,000\nAgain\n\n'.repeat(1_000_000)),
  'samples without end': () => {
    const bytes = mp4Of({ subtitles: [[{ seconds: 1, text: 'Once' }]] });
    const sizes = bytes.indexOf('stsz') + 8;
    // The file claims over four thousand million samples of one byte.
    bytes.writeUInt32BE(1, sizes);
    bytes.writeUInt32BE(0xffffffff, sizes + 4);
    bytes.writeUInt32BE(0xffffffff, bytes.indexOf('stsc') + 16);
    return Buffer.concat([bytes, Buffer.alloc(8_000_000)]);
  },
  'boxes in boxes': () => {
    const head = Buffer.from('\0\0\0\x10ftypisom\0\0\0\0', 'latin1');
    const nested = Buffer.alloc(8 * 200_000);
    for (let at = 0; at < nested.length; at += 8) {
      nested.writeUInt32BE(nested.length - at, at);
      nested.write('moov', at + 4, 'latin1');
    }
    return Buffer.concat([head, nested]);
  },
  'a line that unpacks to a gigabyte': () =>
    matroskaOf({
      subtitles: [{ seconds: 1, text: 'x' }],
      packed: { kind: 0, pack: () => deflateSync(Buffer.alloc(200_000_000)) },
    }),
  'chapters in chapters': () => {
    const chapter = Buffer.from([0xb6, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
    return Buffer.concat([matroskaOf({ isStream: true }), ...Array.from({ length: 300_000 }, () => chapter)]);
  },
  'a tag of a quarter of a gigabyte': () =>
    Buffer.concat([Buffer.from('ID3\x04\0\0\x7f\x7f\x7f\x7f', 'latin1'), Buffer.alloc(1_000_000)]),
};

it.each(Object.entries(BOMBS))(
  'A file with %s ends in text or a fault, and the next one is read',
  async (_name, bomb) => {
    const reader = readerOf({ limits: { ...LIMITS, cuesMax: 1000, msMax: 10_000 } });
    const read = await outcome(reader, bomb());
    const isFault = RECORDING_FAULTS.some((fault) => fault === read);
    expect(isFault || /^(?:Once|Again)(?:\|Again)*$/u.test(read)).toBe(true);
    expect(await outcome(reader, good())).toBe('Still here');
  },
);
