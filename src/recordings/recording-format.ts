/** Recognises the format of a recording by its first bytes. Other files are given to no reader. Pure functions. */
export type RecordingFormat = 'mp4' | 'matroska' | 'ogg' | 'flac' | 'mp3' | 'aac' | 'wav' | 'aiff';

/** MIME types by which servers and the library know the formats. */
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
/** Brands of pictures, which use the same container. */
const PICTURE_BRANDS: ReadonlySet<string> = new Set(['avif', 'avis', 'heic', 'heix', 'heif', 'mif1', 'msf1']);
const EBML = '\x1aE\xdf\xa3';
/** An ID3 tag may come before the sound of a FLAC or AAC file. */
const ID3_HEAD_BYTES = 10;
const MPEG_SYNC = 0xffe;
const RESERVED = 0b01;

/** Undefined if the format is not supported. */
export function recordingFormat(bytes: Uint8Array): RecordingFormat | undefined {
  const begins = (offset: number, letters: string) => textAt(bytes, offset, letters.length) === letters;
  if (begins(4, 'ftyp')) return PICTURE_BRANDS.has(textAt(bytes, BRAND_OFFSET, 4)) ? undefined : 'mp4';
  // Old QuickTime files have no `ftyp`.
  if (begins(4, 'moov') || begins(4, 'mdat') || begins(4, 'wide')) return 'mp4';
  if (begins(0, EBML)) return 'matroska';
  if (begins(0, 'OggS')) return 'ogg';
  if (begins(0, 'fLaC')) return 'flac';
  if (begins(0, 'RIFF') && begins(BRAND_OFFSET, 'WAVE')) return 'wav';
  if (begins(0, 'FORM') && (begins(BRAND_OFFSET, 'AIFF') || begins(BRAND_OFFSET, 'AIFC'))) return 'aiff';
  if (begins(0, 'ID3')) return bytes.length > ID3_HEAD_BYTES ? 'mp3' : undefined;
  return soundFormat(bytes);
}

/** Recognises bare frames of MPEG sound. */
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
