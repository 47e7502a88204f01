/** Generates video and audio files with tags, chapters and subtitles, but hardly any sound or picture. */
export interface SaidAt {
  readonly seconds: number;
  readonly text: string;
}

const u8 = (...values: readonly number[]) => Buffer.from(values);
const u16 = (value: number) => Buffer.from([value >>> 8, value & 0xff]);
const ascii = (text: string) => Buffer.from(text, 'latin1');
const all = (parts: readonly Uint8Array[]) => Buffer.concat(parts);

function u32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, 4 * index);
  return bytes;
}

// ---- MP3

export interface Mp3 {
  readonly title?: string;
  readonly artist?: string;
  readonly chapters?: readonly SaidAt[];
  readonly lyrics?: string;
  readonly timedLyrics?: readonly SaidAt[];
  /** Number of frames of 26 ms. */
  readonly frames?: number;
}

const UTF_8 = 3;
const MPEG_FRAME_BYTES = 417;

function id3Frame(id: string, content: Buffer): Buffer {
  return all([ascii(id), syncSafe(content.length), u16(0), content]);
}

function syncSafe(value: number): Buffer {
  return u8((value >>> 21) & 0x7f, (value >>> 14) & 0x7f, (value >>> 7) & 0x7f, value & 0x7f);
}

const textFrame = (id: string, text: string) => id3Frame(id, all([u8(UTF_8), Buffer.from(text)]));

/** Returns ID3v2.4 tags and silent frames. */
export function mp3Of({ title, artist, chapters = [], lyrics, timedLyrics, frames = 4 }: Mp3): Buffer {
  const tags: Buffer[] = [];
  if (title !== undefined) tags.push(textFrame('TIT2', title));
  if (artist !== undefined) tags.push(textFrame('TPE1', artist));
  for (const [index, { seconds, text }] of chapters.entries()) {
    const times = u32(seconds * 1000, seconds * 1000 + 1000, 0xffffffff, 0xffffffff);
    tags.push(id3Frame('CHAP', all([ascii(`c${index}\0`), times, textFrame('TIT2', text)])));
  }
  if (lyrics !== undefined) tags.push(id3Frame('USLT', all([u8(UTF_8), ascii('eng\0'), Buffer.from(lyrics)])));
  if (timedLyrics !== undefined) {
    const lines = timedLyrics.map(({ seconds, text }) => all([Buffer.from(`${text}\0`), u32(seconds * 1000)]));
    tags.push(id3Frame('SYLT', all([u8(UTF_8), ascii('eng'), u8(2, 1, 0), ...lines])));
  }
  const content = all(tags);
  const frame = Buffer.alloc(MPEG_FRAME_BYTES);
  frame.set([0xff, 0xfb, 0x90, 0x00]);
  const sound = Array.from({ length: frames }, () => frame);
  return all([ascii('ID3'), u8(4, 0, 0), syncSafe(content.length), content, ...sound]);
}

// ---- WAV

export interface Wav {
  readonly title?: string;
  readonly artist?: string;
  readonly seconds?: number;
}

function littleEndian(value: number, bytes: 2 | 4): Buffer {
  const written = Buffer.alloc(bytes);
  if (bytes === 2) written.writeUInt16LE(value);
  else written.writeUInt32LE(value);
  return written;
}

function chunk(id: string, content: Buffer): Buffer {
  return all([ascii(id), littleEndian(content.length, 4), content, Buffer.alloc(content.length % 2)]);
}

/** Returns one silent channel with 8,000 samples of 16 bits per second. */
export function wavOf({ title, artist, seconds = 1 }: Wav): Buffer {
  const info = [title === undefined ? [] : chunk('INAM', ascii(`${title}\0`))]
    .concat(artist === undefined ? [] : chunk('IART', ascii(`${artist}\0`)))
    .flat();
  const format = all([
    littleEndian(1, 2),
    littleEndian(1, 2),
    littleEndian(8000, 4),
    littleEndian(16_000, 4),
    littleEndian(2, 2),
    littleEndian(16, 2),
  ]);
  const parts = [chunk('fmt ', format)];
  if (info.length > 0) parts.push(chunk('LIST', all([ascii('INFO'), ...info])));
  parts.push(chunk('data', Buffer.alloc(16_000 * seconds)));
  const content = all([ascii('WAVE'), ...parts]);
  return all([ascii('RIFF'), littleEndian(content.length, 4), content]);
}

// ---- MP4

export interface Mp4 {
  readonly title?: string;
  /** One array per track. */
  readonly subtitles?: readonly (readonly SaidAt[])[];
  readonly webVtt?: readonly SaidAt[];
  readonly chapters?: readonly SaidAt[];
}

const SCALE = 1000;
const box = (type: string, ...content: readonly Uint8Array[]) => {
  const length = content.reduce((sum, part) => sum + part.length, 8);
  return all([u32(length), ascii(type), ...content]);
};
const fullBox = (type: string, ...content: readonly Uint8Array[]) => box(type, u32(0), ...content);

interface TextTrack {
  readonly id: number;
  readonly codec: string;
  readonly cues: readonly SaidAt[];
  readonly chaptersIn?: number;
}

const HEAD = box('ftyp', ascii('isom'), u32(0), ascii('isommp42'));

/** Returns a file with subtitles and chapters in text tracks, and no other track. */
export function mp4Of({ title, subtitles = [], webVtt, chapters }: Mp4): Buffer {
  const chapterId = chapters === undefined ? undefined : 99;
  const tracks: TextTrack[] = subtitles.map((cues, index) => ({ id: index + 1, codec: 'tx3g', cues }));
  if (webVtt !== undefined) tracks.push({ id: 50, codec: 'wvtt', cues: webVtt });
  if (chapters !== undefined) tracks.push({ id: 99, codec: 'text', cues: chapters });
  if (chapterId !== undefined) tracks.push({ id: 98, codec: 'avc1', cues: [], chaptersIn: chapterId });
  const samples: Buffer[] = [];
  let offset = HEAD.length + 8;
  const boxes = tracks.map((track) => {
    const own = samplesOf(track);
    const made = trackBox(track, own, offset);
    for (const sample of own) offset += sample.length;
    samples.push(...own);
    return made;
  });
  const named = title === undefined ? [] : [box('udta', tagsOf(title))];
  const header = fullBox('mvhd', u32(0, 0, SCALE, 60 * SCALE), Buffer.alloc(80));
  return all([HEAD, box('mdat', ...samples), box('moov', header, ...boxes, ...named)]);
}

/** Fills the time between cues with samples without text. */
function timesOf(cues: readonly SaidAt[]): readonly { readonly text: string; readonly duration: number }[] {
  const times: { text: string; duration: number }[] = [];
  const [first] = cues;
  if (first !== undefined && first.seconds > 0) times.push({ text: '', duration: first.seconds * SCALE });
  for (const [index, { seconds, text }] of cues.entries())
    times.push({ text, duration: ((cues[index + 1]?.seconds ?? seconds + 2) - seconds) * SCALE });
  return times;
}

function samplesOf({ codec, cues }: TextTrack): Buffer[] {
  return timesOf(cues).map(({ text }) => {
    const bytes = Buffer.from(text);
    if (codec !== 'wvtt') return all([u16(bytes.length), bytes]);
    return text === '' ? box('vtte') : box('vttc', box('payl', bytes));
  });
}

function trackBox({ id, codec, cues, chaptersIn }: TextTrack, samples: readonly Buffer[], offset: number): Buffer {
  const durations = timesOf(cues).flatMap(({ duration }) => [1, duration]);
  const tables = box(
    'stbl',
    fullBox('stsd', u32(1), box(codec, Buffer.alloc(8))),
    fullBox('stts', u32(durations.length / 2, ...durations)),
    fullBox('stsc', u32(1, 1, samples.length, 1)),
    fullBox('stsz', u32(0, samples.length, ...samples.map(({ length }) => length))),
    fullBox('stco', u32(1, offset)),
  );
  const handler = fullBox('hdlr', u32(0), ascii(codec === 'avc1' ? 'vide' : 'sbtl'), Buffer.alloc(13));
  const media = box('mdia', fullBox('mdhd', u32(0, 0, SCALE, 60 * SCALE, 0)), handler, box('minf', tables));
  const references = chaptersIn === undefined ? [] : [box('tref', box('chap', u32(chaptersIn)))];
  return box('trak', fullBox('tkhd', u32(0, 0, id, 0, 0), Buffer.alloc(60)), ...references, media);
}

export interface FragmentedMp4 {
  readonly codec?: 'tx3g' | 'wvtt';
  readonly cues: readonly SaidAt[];
  /** True if each fragment states its offset in the file and no times, as in older streams. */
  readonly isOld?: boolean;
}

/** Returns a file with its cues in fragments of two samples each, after a fragment of a track without text. */
export function fragmentedMp4Of({ codec = 'wvtt', cues, isOld = false }: FragmentedMp4): Buffer {
  const track: TextTrack = { id: 2, codec, cues };
  const times = timesOf(cues);
  const samples = samplesOf(track);
  const extensions = box('mvex', fullBox('trex', u32(2, 1, 0, 0, 0)), fullBox('trex', u32(1, 1, SCALE, 9, 0)));
  const header = fullBox('mvhd', u32(0, 0, SCALE, 0), Buffer.alloc(80));
  const other = trackBox({ id: 1, codec: 'avc1', cues: [] }, [], 0);
  const parts = [HEAD, box('moov', header, other, trackBox({ ...track, cues: [] }, [], 0), extensions)];
  let [start, time] = [parts.reduce((sum, part) => sum + part.length, 0), 0];
  for (let first = 0; first < samples.length; first += 2) {
    const own = samples.slice(first, first + 2);
    const durations = times.slice(first, first + 2).map(({ duration }) => duration);
    const fragmentOf = (offset: number) => {
      const head = isOld
        ? box('tfhd', u32(0x1, 2, 0, start))
        : all([box('tfhd', u32(0x2_0000, 2)), box('tfdt', u32(2 ** 24, 0, time))]);
      const run = own.flatMap(({ length }, index) => [durations[index] ?? 0, length]);
      const text = box('traf', head, box('trun', u32(0x301, own.length, offset, ...run)));
      const video = box('traf', box('tfhd', u32(0x2_0000, 1)), box('trun', u32(0x1, 1, offset)));
      return box('moof', fullBox('mfhd', u32(first / 2 + 1)), video, text);
    };
    const fragment = all([fragmentOf(fragmentOf(0).length + 8), box('mdat', ...own)]);
    parts.push(fragment);
    start += fragment.length;
    for (const duration of durations) time += duration;
  }
  return all(parts);
}

function tagsOf(title: string): Buffer {
  const handler = fullBox('hdlr', u32(0), ascii('mdirappl'), Buffer.alloc(9));
  return fullBox('meta', handler, box('ilst', box('\xa9nam', box('data', u32(1, 0), Buffer.from(title)))));
}

// ---- Matroska

export interface Matroska {
  readonly title?: string;
  readonly subtitles?: readonly SaidAt[];
  /** How lines are packed, and how that is declared. */
  readonly packed?: {
    readonly kind: number;
    readonly header?: Uint8Array;
    readonly pack: (text: Buffer) => Uint8Array;
  };
  readonly codec?: string;
  readonly chapters?: readonly SaidAt[];
  /** True to leave sizes of larger elements unknown, as in a stream. */
  readonly isStream?: boolean;
}

const UNKNOWN_SIZE = u8(0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff);

function element(id: number, ...content: readonly Uint8Array[]): Buffer {
  return all([idBytes(id), u8(0x08), u32(content.reduce((sum, part) => sum + part.length, 0)), ...content]);
}

function idBytes(id: number): Buffer {
  const bytes = u32(id);
  return bytes.subarray(bytes.findIndex((byte) => byte !== 0));
}

const number = (id: number, value: number) => element(id, u32(Math.floor(value / 2 ** 32), value % 2 ** 32));

export function matroskaOf({
  title,
  subtitles = [],
  packed,
  codec = 'S_TEXT/UTF8',
  chapters = [],
  isStream,
}: Matroska) {
  const large = (id: number, ...content: readonly Uint8Array[]) =>
    isStream === true ? all([idBytes(id), UNKNOWN_SIZE, ...content]) : element(id, ...content);
  const encoding =
    packed === undefined
      ? []
      : [
          element(
            0x6d80,
            element(
              0x6240,
              element(0x5034, number(0x4254, packed.kind), element(0x4255, packed.header ?? Buffer.alloc(0))),
            ),
          ),
        ];
  const track = element(0xae, number(0xd7, 1), number(0x83, 17), element(0x86, ascii(codec)), ...encoding);
  const blocks = subtitles.map(({ seconds, text }) => {
    const line = packed === undefined ? Buffer.from(text) : packed.pack(Buffer.from(text));
    const block = element(0xa1, u8(0x81), u16((seconds % 1) * 1000), u8(0), line);
    return large(0x1f43b675, number(0xe7, Math.floor(seconds) * 1000), element(0xa0, block, number(0x9b, 2000)));
  });
  const atoms = chapters.map(({ seconds, text }) =>
    element(0xb6, number(0x91, seconds * 1e9), element(0x80, element(0x85, Buffer.from(text)))),
  );
  const duration = Buffer.alloc(8);
  duration.writeDoubleBE(90_000);
  const named = title === undefined ? [] : [element(0x4489, duration), element(0x7ba9, Buffer.from(title))];
  return all([
    element(0x1a45dfa3, element(0x4282, ascii('matroska'))),
    large(
      0x18538067,
      element(0x1549a966, number(0x2ad7b1, 1_000_000), ...named),
      element(0x1654ae6b, track),
      ...(atoms.length === 0 ? [] : [element(0x1043a770, element(0x45b9, ...atoms))]),
      ...blocks,
    ),
  ]);
}

// ---- subtitles

/** Returns SubRip or WebVTT. */
export function subtitlesOf(cues: readonly SaidAt[], kind: 'srt' | 'vtt' = 'srt'): Buffer {
  const time = (seconds: number) => {
    const clock = new Date(Math.round(seconds * 1000)).toISOString().slice(11, 23);
    return kind === 'srt' ? clock.replace('.', ',') : clock;
  };
  const written = cues.map(
    ({ seconds, text }, index) => `${index + 1}\n${time(seconds)} --> ${time(seconds + 2)}\n${text}\n`,
  );
  return Buffer.from(`${kind === 'vtt' ? 'WEBVTT\n\n' : ''}${written.join('\n')}`);
}
