/**
 * Codec of a page of a document as a row of its own, so that a single page can be read. The first byte is the format:
 *
 *   u8 (1) | varint pages of the whole document | UTF-8
 *   u8 (2) | varint pages of the whole document | raw deflate of UTF-8
 *   u8 (3) | u8 number of a dictionary | varint bytes of format 1 before its text | varint bytes of format 1 | the first of these | packed text
 *
 * The kernel makes the third from the first, as it does for records (`records/packed-format.ts`). Pure functions over
 * bytes that the caller owns.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { kernel, kernelConstant } from '../../native-bindings/index.js';
import {
  behindVarint,
  DamagedRecordError,
  PACKED_FORMAT,
  readPackedFormat,
  varint,
  VARINT_BYTES_MAX,
  VARINT_MAX,
  writeVarint,
  type RecordRoom,
  type RecordWords,
} from '../records/index.js';

export const PAGE_DEFLATED = kernelConstant('PageDeflated');
export const PAGE_PLAIN = kernelConstant('PagePlain');
const PLAIN = 1;
const DEFLATED = 2;
const HEADER_BYTES_MAX = 1 + VARINT_BYTES_MAX;
/** Longer pages are not packed, because the memory for unpacking them is kept. */
export const PACKED_PAGE_BYTES_MAX = 1024 * 1024;

/** How a text is stored: a dictionary, or one of the constants above; null if it cannot be read. */
export type PagePacking = Uint8Array | number | null;

export interface StoredPage {
  /** Empty for a page that is empty or missing. */
  readonly packed: Uint8Array;
  readonly packing: PagePacking;
  /** Bytes of the text, if it is packed with a dictionary. */
  readonly textBytes: number;
  /** Number of pages of the whole document; undefined if the bytes do not have it. */
  readonly pageCount: number | undefined;
}

const NOTHING = new Uint8Array();
export const NO_PAGE: StoredPage = { packed: NOTHING, packing: PAGE_PLAIN, textBytes: 0, pageCount: undefined };
const DAMAGED_PAGE: StoredPage = { packed: NOTHING, packing: null, textBytes: 0, pageCount: undefined };

/** Appends a page in format 1; returns where its text begins. */
export function writePage(text: string, pageCount: number, room: RecordRoom): number {
  room.reserve(HEADER_BYTES_MAX);
  room.buffer[room.length] = PLAIN;
  room.length = writeVarint(Math.min(pageCount, VARINT_MAX), room.buffer, room.length + 1);
  const begin = room.length;
  room.text(text);
  return begin;
}

/** Returns a page in format 2. */
export function deflatedPage(text: string, pageCount: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES_MAX);
  header[0] = DEFLATED;
  const end = writeVarint(Math.min(pageCount, VARINT_MAX), header, 1);
  return Buffer.concat([header.subarray(0, end), deflateRawSync(text)]);
}

/** Returns views of the bytes. Looking up a dictionary may read from the store. */
export function readPageRow(bytes: Uint8Array, words: RecordWords): StoredPage {
  try {
    if (bytes[0] === PACKED_FORMAT) return readPackedRow(bytes, words);
    if (bytes[0] !== PLAIN && bytes[0] !== DEFLATED) return DAMAGED_PAGE;
    const begin = behindVarint(bytes, 1);
    if (begin > bytes.length) return DAMAGED_PAGE;
    const packing = bytes[0] === PLAIN ? PAGE_PLAIN : PAGE_DEFLATED;
    return { packed: bytes.subarray(begin), packing, textBytes: 0, pageCount: varint(bytes, 1) };
  } catch (error) {
    if (error instanceof DamagedRecordError) return DAMAGED_PAGE;
    throw error;
  }
}

function readPackedRow(bytes: Uint8Array, words: RecordWords): StoredPage {
  const { plainBegin, fieldsBegin, shortBytes } = readPackedFormat(bytes);
  const textBytes = shortBytes - (fieldsBegin - plainBegin);
  const countAt = plainBegin + 1;
  if (bytes[plainBegin] !== PLAIN || behindVarint(bytes, countAt) !== fieldsBegin || textBytes > PACKED_PAGE_BYTES_MAX)
    return DAMAGED_PAGE;
  const pageCount = varint(bytes, countAt);
  return { packed: bytes.subarray(fieldsBegin), packing: words.packing(bytes) ?? null, textBytes, pageCount };
}

/** Throws if the bytes are not a stored text. */
export function textOfPage({ packed, packing, textBytes }: Omit<StoredPage, 'pageCount'>): string {
  if (packing === PAGE_PLAIN) return Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength).toString('utf8');
  if (packing === PAGE_DEFLATED) return packed.length === 0 ? '' : inflated(packed);
  if (packing === null || typeof packing === 'number') throw unreadable();
  const text = Buffer.allocUnsafeSlow(textBytes);
  const range = Uint32Array.of(0, 0, packed.length, 0, textBytes);
  if (kernel.unpackWords(packing, packed, range, text) !== 1) throw unreadable();
  return text.toString('utf8');
}

function inflated(packed: Uint8Array): string {
  try {
    return inflateRawSync(packed).toString('utf8');
  } catch (error) {
    throw unreadable(error);
  }
}

export function unreadable(cause?: unknown): Error {
  return new Error('the text of a file is not as it was written', { cause });
}
