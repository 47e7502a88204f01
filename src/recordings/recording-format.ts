/** What kind of file the bytes are, by what they begin with. What is none of these is given to no reader. Pure. */
export type RecordingFormat = 'mp4' | 'matroska' | 'ogg' | 'flac' | 'mp3' | 'aac' | 'wav' | 'aiff';

/** As servers and the library name them. */
export const MIME_TYPES: Readonly<Record<RecordingFormat, string>> = {
  mp4: 'video/mp4',
  matroska: 'video/x-matroska',
  ogg: 'application/ogg',
  flac: 'audio/flac',
  mp3: 'audio/mpeg',
  aac: 'audio/aac',
  wav: 'audio/wav',
  aiff: 'audio/aiff',
};

const BRAND_OFFSET = 8;
/** Pictures lie in boxes, too. */
const PICTURE_BRANDS: ReadonlySet<string> = new Set(['avif', 'avis', 'heic', 'heix', 'heif', 'mif1', 'msf1']);
const EBML = '\x1aE\xdf\xa3';
/** Of what may lie between an ID3 tag of a FLAC or AAC file and its sound. */
const ID3_HEAD_BYTES = 10;
const MPEG_SYNC = 0xffe;
const RESERVED = 0b01;

/** Undefined where it is none that is read. */
export function recordingFormat(bytes: Uint8Array): RecordingFormat | undefined {
  const begins = (offset: number, letters: string) => textAt(bytes, offset, letters.length) === letters;
  if (begins(4, 'ftyp')) return PICTURE_BRANDS.has(textAt(bytes, BRAND_OFFSET, 4)) ? undefined : 'mp4';
  // QuickTime files of old begin with what they hold.
  if (begins(4, 'moov') || begins(4, 'mdat') || begins(4, 'wide')) return 'mp4';
  if (begins(0, EBML)) return 'matroska';
  if (begins(0, 'OggS')) return 'ogg';
  if (begins(0, 'fLaC')) return 'flac';
  if (begins(0, 'RIFF') && begins(BRAND_OFFSET, 'WAVE')) return 'wav';
  if (begins(0, 'FORM') && (begins(BRAND_OFFSET, 'AIFF') || begins(BRAND_OFFSET, 'AIFC'))) return 'aiff';
  if (begins(0, 'ID3')) return bytes.length > ID3_HEAD_BYTES ? 'mp3' : undefined;
  return soundFormat(bytes);
}

/** Frames of MPEG sound without anything before them. */
function soundFormat([first = 0, second = 0, third = 0]: Uint8Array): RecordingFormat | undefined {
  if (((first << 4) | (second >> 4)) >> 1 !== MPEG_SYNC >> 1) return undefined;
  const [version, layer] = [(second >> 3) & 0b11, (second >> 1) & 0b11];
  if (layer === 0) return version === 0b11 || version === 0b10 ? 'aac' : undefined;
  const [bitrate, rate] = [third >> 4, (third >> 2) & 0b11];
  return version !== RESERVED && bitrate !== 0b1111 && rate !== 0b11 ? 'mp3' : undefined;
}

function textAt(bytes: Uint8Array, offset: number, length: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1', offset, offset + length);
}
