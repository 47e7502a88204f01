/**
 * Reads subtitles and chapters in a Matroska or WebM file. Elements are visited one after the other, and the larger
 * ones entered, without regard to nesting depth or unknown sizes; an invalid element ends the reading. Pure functions.
 *
 * Source: RFC 8794 (EBML), RFC 9559 (Matroska).
 */
import { inflateSync } from 'node:zlib';
import { plainText } from '../subtitles/plain-text.js';
import type { Cue } from '../types.js';
import { ByteView } from './byte-view.js';
import type { TextTracks } from './mp4-text.js';

const ID = {
  segment: 0x18538067,
  info: 0x1549a966,
  timestampScale: 0x2ad7b1,
  tracks: 0x1654ae6b,
  track: 0xae,
  trackNumber: 0xd7,
  codec: 0x86,
  encodings: 0x6d80,
  encoding: 0x6240,
  compression: 0x5034,
  compressionKind: 0x4254,
  compressionHeader: 0x4255,
  cluster: 0x1f43b675,
  clusterTime: 0xe7,
  blockGroup: 0xa0,
  block: 0xa1,
  simpleBlock: 0xa3,
  chapters: 0x1043a770,
  edition: 0x45b9,
  chapter: 0xb6,
  chapterTime: 0x91,
  chapterDisplay: 0x80,
  chapterText: 0x85,
} as const;
const ENTERED: ReadonlySet<number> = new Set<number>([
  ...[ID.segment, ID.info, ID.tracks, ID.track, ID.encodings, ID.encoding, ID.compression],
  ...[ID.cluster, ID.blockGroup, ID.chapters, ID.edition, ID.chapter, ID.chapterDisplay],
]);
const CODECS: ReadonlyMap<string, 'plain' | 'ass'> = new Map([
  ['S_TEXT/UTF8', 'plain'],
  ['S_TEXT/ASCII', 'plain'],
  ['S_TEXT/WEBVTT', 'plain'],
  ['S_TEXT/ASS', 'ass'],
  ['S_TEXT/SSA', 'ass'],
]);
/** Commas of an ASS event before its text. */
const ASS_COMMAS = 8;
const SECOND_NS = 1_000_000_000;
const TIMESTAMP_SCALE_DEFAULT = 1_000_000;
const ZLIB = 0;
const HEADER_STRIPPING = 3;
/** Limit for one line of subtitles, after decompression. */
const LINE_BYTES_MAX = 65_536;
const TIME_BYTES = 2;
const ID_BYTES_MAX = 4;
const SIZE_BYTES_MAX = 8;
const TRACKS_MAX = 64;

interface Track {
  number: number;
  codec: 'plain' | 'ass' | undefined;
  /** Undefined if its lines are not compressed. */
  compression: number | undefined;
  header: Uint8Array;
  readonly cues: Cue[];
}

export function matroskaText(bytes: Uint8Array, cuesMax: number): TextTracks {
  const reading = new MatroskaReading(bytes, cuesMax);
  reading.read();
  const subtitles = reading.tracks.map(({ cues }) => cues).filter((cues) => cues.length > 0);
  return { chapters: reading.chapters, subtitles, truncated: reading.truncated };
}

class MatroskaReading {
  readonly tracks: Track[] = [];
  readonly chapters: Cue[] = [];
  truncated = false;
  private readonly file: ByteView;
  private scale = TIMESTAMP_SCALE_DEFAULT;
  private clusterTime = 0;
  private chapterTime = 0;
  private count = 0;

  constructor(
    bytes: Uint8Array,
    private readonly cuesMax: number,
  ) {
    this.file = new ByteView(bytes);
  }

  read(): void {
    for (let offset = 0; offset < this.file.length && !this.truncated;) {
      const id = this.variable(offset, ID_BYTES_MAX, true);
      const size = id && this.variable(offset + id.bytes, SIZE_BYTES_MAX, false);
      if (id === undefined || size === undefined) return;
      const begin = offset + id.bytes + size.bytes;
      if (ENTERED.has(id.value)) {
        this.enter(id.value);
        offset = begin;
        continue;
      }
      // An element of unknown size that cannot be entered ends the reading.
      if (size.isUnknown) return;
      this.element(id.value, begin, Math.min(begin + size.value, this.file.length));
      offset = begin + size.value;
    }
  }

  private enter(id: number): void {
    if (id === ID.track && this.tracks.length < TRACKS_MAX)
      this.tracks.push({ number: 0, codec: undefined, compression: undefined, header: new Uint8Array(), cues: [] });
    const track = this.tracks.at(-1);
    if (id === ID.compression && track !== undefined) track.compression ??= ZLIB;
    if (id === ID.chapter) this.chapterTime = 0;
  }

  private element(id: number, begin: number, end: number): void {
    const track = this.tracks.at(-1);
    const number = () => this.file.number(begin, Math.min(end - begin, SIZE_BYTES_MAX));
    if (id === ID.timestampScale) this.scale = number();
    else if (id === ID.clusterTime) this.clusterTime = number();
    else if (id === ID.block || id === ID.simpleBlock) this.block(begin, end);
    else if (id === ID.chapterTime) this.chapterTime = number();
    else if (id === ID.chapterText) this.add(this.chapters, this.chapterTime / SECOND_NS, this.text(begin, end));
    else if (track === undefined) return;
    else if (id === ID.trackNumber) track.number = number();
    else if (id === ID.codec) track.codec = CODECS.get(this.text(begin, end));
    else if (id === ID.compressionKind) track.compression = number();
    else if (id === ID.compressionHeader) track.header = this.file.slice(begin, end);
  }

  /** Layout: number of the track | i16 time within the cluster | u8 flags | content. */
  private block(begin: number, end: number): void {
    const number = this.variable(begin, SIZE_BYTES_MAX, false);
    const track = number && this.tracks.find((each) => each.number === number.value);
    if (number === undefined || track?.codec === undefined) return;
    const at = begin + number.bytes;
    const time = (this.file.number(at, TIME_BYTES) << 16) >> 16;
    const bytes = uncompressed(this.file.slice(at + TIME_BYTES + 1, end), track);
    if (bytes === undefined) return;
    const line = new TextDecoder().decode(bytes);
    const text = track.codec === 'ass' ? afterCommas(line).replace(/\\[Nn]/gu, ' ') : line;
    this.add(track.cues, ((this.clusterTime + time) * this.scale) / SECOND_NS, text);
  }

  private add(cues: Cue[], seconds: number, text: string): void {
    const line = plainText(text);
    if (line === '' || !Number.isFinite(seconds)) return;
    if (this.count >= this.cuesMax) this.truncated = true;
    else cues.push({ seconds: Math.max(0, seconds), text: line });
    this.count += 1;
  }

  private text(begin: number, end: number): string {
    const bytes = this.file.slice(begin, Math.min(end, begin + LINE_BYTES_MAX));
    // A text may be padded with zeros.
    return new TextDecoder().decode(bytes.subarray(0, bytes.findLastIndex((byte) => byte !== 0) + 1));
  }

  /**
   * Reads a variable-length number, whose first bits tell its length. Undefined if it is longer than allowed, or than
   * the file.
   */
  private variable(offset: number, bytesMax: number, keepsMarker: boolean) {
    const first = this.file.number(offset, 1);
    const bytes = Math.clz32(first) - 23;
    if (bytes > bytesMax || offset + bytes > this.file.length) return undefined;
    const marker = 2 ** (bytes * 7);
    const whole = this.file.number(offset, bytes);
    const value = keepsMarker ? whole : whole % marker;
    return { value, bytes, isUnknown: !keepsMarker && value === marker - 1 };
  }
}

/** Returns the content decompressed. Undefined for an unknown compression or invalid data. */
function uncompressed(bytes: Uint8Array, { compression, header }: Track): Uint8Array | undefined {
  if (compression === undefined) return bytes;
  if (compression === HEADER_STRIPPING) return Buffer.concat([header, bytes]);
  if (compression !== ZLIB) return undefined;
  try {
    return inflateSync(bytes, { maxOutputLength: LINE_BYTES_MAX });
  } catch {
    return undefined;
  }
}

function afterCommas(line: string): string {
  let begin = 0;
  for (let commas = 0; commas < ASS_COMMAS; commas++) {
    const comma = line.indexOf(',', begin);
    if (comma < 0) return line.slice(begin);
    begin = comma + 1;
  }
  return line.slice(begin);
}
