/** Recognises the format of a picture by its first bytes. Other files are given to no decoder. */
import type { PictureFormat } from './types.js';

const BRAND_OFFSET = 8;
const BRAND_LETTERS = 4;
/** Bytes of the file's first box that are searched for brands; it is short. */
const BRANDS_END_MAX = 256;
const AVIF_BRANDS: readonly string[] = ['avif', 'avis'];

/** Undefined if the format is not supported. */
export function pictureFormat(bytes: Uint8Array): PictureFormat | undefined {
  const begins = (offset: number, letters: string) => textAt(bytes, offset, letters.length) === letters;
  if (begins(0, '\xff\xd8\xff')) return 'jpeg';
  if (begins(0, '\x89PNG\r\n\x1a\n')) return 'png';
  if (begins(0, 'GIF87a') || begins(0, 'GIF89a')) return 'gif';
  if (begins(0, 'RIFF') && begins(BRAND_OFFSET, 'WEBP')) return 'webp';
  return begins(BRAND_LETTERS, 'ftyp') && isAvif(bytes) ? 'avif' : undefined;
}

/** True if the major brand or a compatible brand is AVIF. */
function isAvif(bytes: Uint8Array): boolean {
  const length = Buffer.from(bytes.buffer, bytes.byteOffset, BRAND_LETTERS).readUInt32BE(0);
  const end = Math.min(bytes.length, length, BRANDS_END_MAX);
  for (let offset = BRAND_OFFSET; offset + BRAND_LETTERS <= end; offset += BRAND_LETTERS)
    if (AVIF_BRANDS.includes(textAt(bytes, offset, BRAND_LETTERS))) return true;
  return false;
}

function textAt(bytes: Uint8Array, offset: number, length: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1', offset, offset + length);
}
