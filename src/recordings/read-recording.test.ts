/** What is read of hand-made recordings of every kind, and of damaged ones, which end in a known fault. */
import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../test/support/random.js';
import { fragmentedMp4Of, matroskaOf, mp3Of, mp4Of, subtitlesOf, wavOf } from '../../test/support/recordings.js';
import { recordingFormat } from './recording-format.js';
import { readRecording } from './read-recording.js';
import { RECORDING_FAULTS, RecordingError, type RecordingLimits } from './types.js';

const LIMITS: RecordingLimits = { cuesMax: 1000, charactersMax: 100_000, msMax: 10_000 };
const DIVES = { seconds: 3, text: 'The gannet dives' };
const NESTS = { seconds: 75.5, text: 'It nests on cliffs' };
const SAID = [DIVES, NESTS];

async function cuesOf(bytes: Uint8Array, limits: Partial<RecordingLimits> = {}) {
  const { passages } = await readRecording(bytes, { ...LIMITS, ...limits });
  return passages.flat();
}

async function faultOf(bytes: Uint8Array): Promise<string> {
  try {
    await readRecording(bytes, LIMITS);
  } catch (error) {
    if (error instanceof RecordingError) return error.fault;
    throw error;
  }
  return 'none';
}

describe('tags of a recording', () => {
  it('are read from a sound file at second 0, with its duration', async () => {
    const bytes = wavOf({ title: 'Sea cliffs', artist: 'Ada Lovelace', seconds: 3 });
    expect(await readRecording(bytes, LIMITS)).toEqual({
      duration: 3,
      passages: [
        [
          { seconds: 0, text: 'Sea cliffs' },
          { seconds: 0, text: 'Ada Lovelace' },
        ],
      ],
      truncated: false,
    });
  });

  it('of an MP3 include chapters and lyrics with their times', async () => {
    const bytes = mp3Of({
      title: 'Seabirds',
      artist: 'Ada',
      chapters: SAID,
      timedLyrics: [{ seconds: 9, text: 'La la' }],
    });
    expect(await cuesOf(bytes)).toEqual([
      { seconds: 0, text: 'Seabirds' },
      { seconds: 0, text: 'Ada' },
      DIVES,
      NESTS,
      { seconds: 9, text: 'La la' },
    ]);
    expect(await cuesOf(mp3Of({ lyrics: 'One line\nAnother line' }))).toEqual([
      { seconds: 0, text: 'One line' },
      { seconds: 0, text: 'Another line' },
    ]);
  });
});

describe('text in a video', () => {
  it('is read from MP4 text tracks, timed text or WebVTT, and chapters', async () => {
    expect(await cuesOf(mp4Of({ title: 'Birds', subtitles: [SAID, [{ seconds: 4, text: 'Le fou plonge' }]] }))).toEqual(
      [{ seconds: 0, text: 'Birds' }, ...SAID, { seconds: 4, text: 'Le fou plonge' }],
    );
    expect(await cuesOf(mp4Of({ webVtt: [{ seconds: 3, text: '<v Ada>The <i>gannet</i> dives' }, NESTS] }))).toEqual(
      SAID,
    );
    expect(await cuesOf(mp4Of({ chapters: SAID, subtitles: [[{ seconds: 1, text: 'Hello' }]] }))).toEqual([
      ...SAID,
      { seconds: 1, text: 'Hello' },
    ]);
  });

  it('is read from tracks of a fragmented MP4, without repeats at fragment boundaries', async () => {
    const goesOn = [DIVES, { seconds: 10, text: 'and' }, { seconds: 20, text: 'and' }, NESTS];
    const cues = [DIVES, { seconds: 10, text: 'and' }, NESTS];
    expect(await cuesOf(fragmentedMp4Of({ cues: goesOn }))).toEqual(cues);
    expect(await cuesOf(fragmentedMp4Of({ cues: goesOn, codec: 'tx3g' }))).toEqual(cues);
    expect(await cuesOf(fragmentedMp4Of({ cues: goesOn, isOld: true }))).toEqual(cues);
  });

  it('is read from Matroska tracks, compressed or not, with sizes or without', async () => {
    const whole = { title: 'Birds', subtitles: SAID, chapters: [{ seconds: 60, text: 'The cliff' }] };
    const expected = [{ seconds: 0, text: 'Birds' }, { seconds: 60, text: 'The cliff' }, ...SAID];
    expect(await cuesOf(matroskaOf(whole))).toEqual(expected);
    expect(await cuesOf(matroskaOf({ ...whole, packed: { kind: 0, pack: deflateSync } }))).toEqual(expected);
    const header = Buffer.from('The ');
    const stripped = { kind: 3, header, pack: (text: Buffer) => text.subarray(header.length) };
    expect(await cuesOf(matroskaOf({ subtitles: [DIVES], packed: stripped }))).toEqual([DIVES]);
    const events = [{ seconds: 3, text: '0,0,Default,,0,0,0,,{\\i1}The gannet\\Ndives' }];
    expect(await cuesOf(matroskaOf({ codec: 'S_TEXT/ASS', subtitles: events }))).toEqual([DIVES]);
    expect((await cuesOf(matroskaOf({ subtitles: SAID, isStream: true }))).slice(-2)).toEqual(SAID);
  });
});

it('readRecording reads a file of subtitles', async () => {
  expect(await cuesOf(subtitlesOf(SAID))).toEqual(SAID);
  expect(await cuesOf(subtitlesOf(SAID, 'vtt'))).toEqual(SAID);
});

it('recordingFormat recognizes recordings by their bytes', () => {
  const named: readonly (readonly [string, Uint8Array])[] = [
    ['mp4', mp4Of({})],
    ['matroska', matroskaOf({})],
    ['mp3', mp3Of({ frames: 1 })],
    ['mp3', mp3Of({ frames: 1 }).subarray(10)],
    ['wav', wavOf({})],
    ['ogg', Buffer.from('OggS and more')],
    ['flac', Buffer.from('fLaC and more')],
    ['aiff', Buffer.from('FORM\0\0\0\0AIFF')],
    ['aac', Uint8Array.of(0xff, 0xf1, 0x50, 0x80)],
  ];
  for (const [format, bytes] of named) expect([format, recordingFormat(bytes)]).toEqual([format, format]);
  const others = [
    '%PDF-1.7',
    '\0\0\0\x1cftypavif',
    '\0\0\0\x1cftypheic',
    'RIFF\0\0\0\0WEBP',
    '',
    'ID3',
    '\xff\xd8\xff\xe0',
  ];
  for (const other of others) expect(recordingFormat(Buffer.from(other, 'latin1'))).toBeUndefined();
});

describe('a recording without text', () => {
  it('ends in a known fault', async () => {
    expect(await faultOf(Buffer.from('<!doctype html>'))).toBe('not-a-recording');
    expect(await faultOf(new Uint8Array())).toBe('not-a-recording');
    expect(await faultOf(wavOf({}))).toBe('no-text');
    expect(await faultOf(Buffer.from('ID3\x04\0\0\x7f\x7f\x7f\x7fand nothing else'))).toBe('damaged');
  });
});

it('readRecording reads up to its limits, and reports that there is more', async () => {
  const many = Array.from({ length: 30 }, (_, index) => ({ seconds: index, text: `Line number ${index}` }));
  for (const bytes of [
    mp4Of({ subtitles: [many] }),
    fragmentedMp4Of({ cues: many }),
    matroskaOf({ subtitles: many }),
    subtitlesOf(many),
  ]) {
    const read = await readRecording(bytes, { ...LIMITS, cuesMax: 10 });
    expect(read.passages.flat()).toEqual(many.slice(0, 10));
    expect(read.truncated).toBe(true);
  }
  const few = await readRecording(subtitlesOf(many), { ...LIMITS, charactersMax: 30 });
  expect(few.passages.flat()).toHaveLength(2);
  expect(few.truncated).toBe(true);
});

it('readRecording takes linear time for texts of zeros', async () => {
  const zeros = { seconds: 1, text: `Zeros${'\0'.repeat(60_000)}end` };
  const before = process.cpuUsage();
  await readRecording(matroskaOf({ chapters: [zeros, zeros], subtitles: SAID }), LIMITS);
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(2000);
  const filled = { seconds: 1, text: 'Birds\0\0\0' };
  const { passages } = await readRecording(matroskaOf({ chapters: [filled], subtitles: [] }), LIMITS);
  expect(passages.flat().map(({ text }) => text)).toEqual(['Birds']);
});

it('readRecording returns text or a known fault, whatever bytes are changed', async () => {
  const random = new SeededRandom(7);
  const good = [
    mp4Of({ title: 'Birds', subtitles: [SAID], chapters: SAID }),
    fragmentedMp4Of({ cues: SAID }),
    matroskaOf({ title: 'Birds', subtitles: SAID, chapters: SAID, packed: { kind: 0, pack: deflateSync } }),
    matroskaOf({ subtitles: SAID, isStream: true }),
    mp3Of({ title: 'Birds', chapters: SAID, timedLyrics: SAID }),
    wavOf({ title: 'Birds' }).subarray(0, 2000),
  ];
  for (let run = 0; run < 1500; run++) {
    const bytes = Uint8Array.from(random.pick(good));
    for (let changes = random.below(8); changes >= 0; changes--) bytes[random.below(bytes.length)] = random.below(256);
    const fault = await faultOf(bytes.subarray(0, random.below(4) === 0 ? random.below(bytes.length) : bytes.length));
    expect(['none', ...RECORDING_FAULTS]).toContain(fault);
  }
});
