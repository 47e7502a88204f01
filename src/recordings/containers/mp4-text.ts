/**
 * Reads subtitles and chapters in an MP4 or QuickTime file: the samples of its text tracks (`tx3g`, `text`, `wvtt`),
 * located by its tables or its fragments. Boxes are entered by known paths only, and anything that exceeds the file is
 * skipped. Pure functions.
 *
 * Source: ISO/IEC 14496-12 (boxes and tables of samples), 3GPP TS 26.245 (timed text), ISO/IEC 14496-30 (WebVTT).
 */
import { decodeText, plainText } from '../subtitles/plain-text.js';
import type { Cue } from '../types.js';
import { ByteView } from './byte-view.js';
import { boxesOf, childOf, FULL_BOX_BYTES, isVersion1, type Box, type Sample } from './mp4-boxes.js';
import { fragmentSamples } from './mp4-fragments.js';

/** Text of a file; chapters are separate from subtitles. */
export interface TextTracks {
  readonly chapters: readonly Cue[];
  /** One array per track. */
  readonly subtitles: readonly (readonly Cue[])[];
  readonly truncated: boolean;
}

const TIMED_TEXT: readonly string[] = ['tx3g', 'text'];
const WEB_VTT = 'wvtt';
/** Units per second (100 ns) of the older kind of chapters. */
const CHAPTER_UNITS = 10_000_000;
const TRACKS_MAX = 64;
/** Limit per track, with text or without. */
const SAMPLES_MAX = 1_000_000;

/** Returns at most `cuesMax` cues over all tracks. */
export function mp4Text(bytes: Uint8Array, cuesMax: number): TextTracks {
  const file = new ByteView(bytes);
  const movie = childOf(file, { begin: 0, end: bytes.length }, 'moov');
  if (movie === undefined) return { chapters: [], subtitles: [], truncated: false };
  const tracks = [...boxesOf(file, movie)].filter(({ type }) => type === 'trak').slice(0, TRACKS_MAX);
  const ofChapters = new Set(tracks.flatMap((track) => chapterTracksOf(file, track)));
  const texts = tracks.filter((track) => codecOf(file, track) !== undefined);
  const fragments = fragmentSamples(
    file,
    movie,
    texts.map((track) => trackId(file, track)),
  );
  let [chapters, truncated] = [listedChapters(file, movie), false];
  const subtitles: Cue[][] = [];
  let left = cuesMax - chapters.length;
  for (const track of texts) {
    const cues = cuesOf(file, track, fragments.get(trackId(file, track)) ?? [], Math.max(0, left) + 1);
    if (cues.length > left) truncated = true;
    const kept = cues.slice(0, Math.max(0, left));
    left -= kept.length;
    if (kept.length === 0) continue;
    if (!ofChapters.has(trackId(file, track))) subtitles.push(kept);
    // The same chapters are often present in both forms.
    else if (chapters.length === 0) chapters = kept;
  }
  return { chapters, subtitles, truncated };
}

function trackId(file: ByteView, track: Box): number {
  const header = childOf(file, track, 'tkhd');
  if (header === undefined) return 0;
  const timesBytes = isVersion1(file, header) ? 16 : 8;
  return file.number(header.begin + FULL_BOX_BYTES + timesBytes, 4);
}

/** Returns the ids of the tracks with this track's chapters. */
function chapterTracksOf(file: ByteView, track: Box): number[] {
  const references = childOf(file, track, 'tref', 'chap');
  if (references === undefined) return [];
  const count = Math.min(TRACKS_MAX, Math.floor((references.end - references.begin) / 4));
  return Array.from({ length: count }, (_, index) => file.number(references.begin + index * 4, 4));
}

/**
 * Reads `chpl`: u8 version | u24 flags | u32 reserved, in version 1 | u8 count | per chapter: u64 time | u8 length |
 * text.
 */
function listedChapters(file: ByteView, movie: Box): Cue[] {
  const list = childOf(file, movie, 'udta', 'chpl');
  if (list === undefined) return [];
  let offset = list.begin + FULL_BOX_BYTES + (isVersion1(file, list) ? 4 : 0);
  const count = file.number(offset, 1);
  offset += 1;
  const chapters: Cue[] = [];
  for (let index = 0; index < count && offset + 9 <= list.end; index++) {
    const seconds = file.number(offset, 8) / CHAPTER_UNITS;
    const end = Math.min(offset + 9 + file.number(offset + 8, 1), list.end);
    addCue(chapters, seconds, decodeText(file.slice(offset + 9, end)));
    offset = end;
  }
  return chapters;
}

function cuesOf(file: ByteView, track: Box, fragments: readonly Sample[], cuesMax: number): Cue[] {
  const media = childOf(file, track, 'mdia');
  const tables = childOf(file, media, 'minf', 'stbl');
  const times = childOf(file, media, 'mdhd');
  if (tables === undefined || times === undefined) return [];
  const scale = file.number(times.begin + FULL_BOX_BYTES + (isVersion1(file, times) ? 16 : 8), 4);
  if (scale === 0) return [];
  const textOf = codecOf(file, track) === WEB_VTT ? webVttOf : timedTextOf;
  const cues: Cue[] = [];
  for (const sample of samplesOf(file, tables)) {
    if (cues.length >= cuesMax) return cues;
    addCue(cues, sample.time / scale, textOf(file, sample));
  }
  let before = '';
  for (const sample of fragments) {
    if (cues.length >= cuesMax) break;
    const text = textOf(file, sample);
    // Text that continues across a fragment's end is repeated in the next one.
    if (text !== before) addCue(cues, sample.time / scale, text);
    before = text;
  }
  return cues;
}

/** Undefined if the track is not text. */
function codecOf(file: ByteView, track: Box): string | undefined {
  const descriptions = childOf(file, track, 'mdia', 'minf', 'stbl', 'stsd');
  if (descriptions === undefined) return undefined;
  const codec = file.letters(descriptions.begin + FULL_BOX_BYTES + 4 + 4);
  return codec === WEB_VTT || TIMED_TEXT.includes(codec) ? codec : undefined;
}

/** Layout: u16 length | text | boxes of its style. */
function timedTextOf(file: ByteView, { begin, end }: Sample): string {
  const length = file.number(begin, 2);
  return decodeText(file.slice(begin + 2, Math.min(begin + 2 + length, end)));
}

/** Layout: boxes of cues, each with its payload among other boxes. */
function webVttOf(file: ByteView, { begin, end }: Sample): string {
  const texts: string[] = [];
  for (const box of boxesOf(file, { begin, end })) {
    const payload = box.type === 'vttc' ? childOf(file, box, 'payl') : undefined;
    if (payload !== undefined) texts.push(decodeText(file.slice(payload.begin, payload.end)));
  }
  return texts.join(' ');
}

/**
 * Yields the samples in order. The tables give chunks at offsets, the number of samples in each, and size and duration
 * of each sample.
 */
function* samplesOf(file: ByteView, tables: Box): Iterable<Sample> {
  const sizes = tableOf(file, tables, 'stsz');
  const chunks = tableOf(file, tables, 'stco') ?? tableOf(file, tables, 'co64');
  const runs = tableOf(file, tables, 'stsc');
  if (sizes === undefined || chunks === undefined || runs === undefined) return;
  const offsetBytes = chunks.type === 'co64' ? 8 : 4;
  // Before the count is the size of all samples, or 0 if sizes differ.
  const sizeOfAll = file.number(sizes.begin, 4);
  const durations = durationsOf(file, tables);
  let [time, sample, run] = [0, 0, 0];
  for (let chunk = 0; chunk < entriesOf(file, chunks, offsetBytes); chunk++) {
    while (run + 1 < entriesOf(file, runs, 12) && file.number(runs.begin + 4 + (run + 1) * 12, 4) <= chunk + 1)
      run += 1;
    let begin = file.number(chunks.begin + 4 + chunk * offsetBytes, offsetBytes);
    const inChunk = file.number(runs.begin + 4 + run * 12 + 4, 4);
    for (let index = 0; index < inChunk; index++) {
      const at = sizes.begin + 8 + sample * 4;
      if (sample >= Math.min(SAMPLES_MAX, file.number(sizes.begin + 4, 4))) return;
      if (sizeOfAll === 0 && at + 4 > sizes.end) return;
      const size = sizeOfAll === 0 ? file.number(at, 4) : sizeOfAll;
      if (begin + size > file.length) return;
      yield { begin, end: begin + size, time };
      time += durations.next().value ?? 0;
      begin += size;
      sample += 1;
    }
  }
}

/** Yields the duration of each sample; 0 after the end of the table. */
function* durationsOf(file: ByteView, tables: Box): Generator<number, number> {
  const table = tableOf(file, tables, 'stts');
  for (let entry = 0; table !== undefined && entry < entriesOf(file, table, 8); entry++) {
    const count = file.number(table.begin + 4 + entry * 8, 4);
    for (let index = 0; index < count; index++) yield file.number(table.begin + 4 + entry * 8 + 4, 4);
  }
  return 0;
}

/** Returns the table without version and flags. */
function tableOf(file: ByteView, tables: Box, type: string): Box | undefined {
  const table = childOf(file, tables, type);
  return table === undefined ? undefined : { ...table, begin: Math.min(table.begin + FULL_BOX_BYTES, table.end) };
}

/** Returns the stated number of entries, limited by the table's length. */
function entriesOf(file: ByteView, { begin, end }: Box, entryBytes: number): number {
  return Math.min(file.number(begin, 4), Math.max(0, Math.floor((end - begin - 4) / entryBytes)));
}

function addCue(cues: Cue[], seconds: number, text: string): void {
  const line = plainText(text);
  if (line !== '' && Number.isFinite(seconds)) cues.push({ seconds, text: line });
}
