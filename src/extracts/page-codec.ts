/**
 * Codec of the pages of a file as one value: a table of ends, then each page deflated separately, so that a single page
 * can be read.
 *
 *   u8 format (1) | u32 pages | u32 end of each page, from the first page's beginning | raw deflate of each page's UTF-8, or nothing
 *   u8 format (2) | u32 pages | u32 pages of the whole document, of which these are the first | as above
 *
 * Pages are numbered from 1 without gaps. Numbers are little-endian.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { ReadPage } from './file-reader.js';

const FORMAT = 1;
const FORMAT_OF_DOCUMENTS = 2;
const HEAD_BYTES = 5;
const HEAD_BYTES_OF_DOCUMENTS = 9;
const END_BYTES = 4;

/** `documentPages`: number of pages of the whole document; undefined if it is not a document. */
export function encodePages(pages: readonly ReadPage[], documentPages?: number): Buffer {
  const headBytes = documentPages === undefined ? HEAD_BYTES : HEAD_BYTES_OF_DOCUMENTS;
  const table = Buffer.alloc(headBytes + END_BYTES * pages.length);
  table.writeUInt8(documentPages === undefined ? FORMAT : FORMAT_OF_DOCUMENTS, 0);
  table.writeUInt32LE(pages.length, 1);
  if (documentPages !== undefined) table.writeUInt32LE(documentPages, HEAD_BYTES);
  const packed: Buffer[] = [table];
  let end = 0;
  for (const [position, { page, text }] of pages.entries()) {
    if (page !== position + 1) throw new Error(`page ${page} is in the place of page ${position + 1}`);
    const bytes = text === '' ? Buffer.alloc(0) : deflateRawSync(text);
    end += bytes.length;
    table.writeUInt32LE(end, headBytes + END_BYTES * position);
    packed.push(bytes);
  }
  return Buffer.concat(packed);
}

export function pageCountOf(bytes: Buffer): number {
  const headBytes = headBytesOf(bytes);
  const pages = bytes.length < headBytes ? undefined : bytes.readUInt32LE(1);
  if (pages === undefined || headBytes + END_BYTES * pages > bytes.length) throw unreadable();
  return pages;
}

/** Number of pages of the whole document; undefined if the bytes do not have it. */
export function documentPagesOf(bytes: Buffer): number | undefined {
  if (bytes[0] !== FORMAT_OF_DOCUMENTS) return undefined;
  if (bytes.length < HEAD_BYTES_OF_DOCUMENTS) throw unreadable();
  return bytes.readUInt32LE(HEAD_BYTES);
}

/**
 * Returns the raw deflate of one page; empty for a page that is empty or missing. Throws if the bytes are not an
 * encoding of pages.
 */
export function packedPage(bytes: Buffer, page: number): Buffer {
  const pages = pageCountOf(bytes);
  if (!Number.isInteger(page) || page < 1 || page > pages) return bytes.subarray(0, 0);
  const table = headBytesOf(bytes);
  const first = table + END_BYTES * pages;
  const begin = page === 1 ? 0 : bytes.readUInt32LE(table + END_BYTES * (page - 2));
  const end = bytes.readUInt32LE(table + END_BYTES * (page - 1));
  if (begin > end || first + end > bytes.length) throw unreadable();
  return bytes.subarray(first + begin, first + end);
}

function headBytesOf(bytes: Buffer): number {
  if (bytes[0] === FORMAT) return HEAD_BYTES;
  if (bytes[0] === FORMAT_OF_DOCUMENTS) return HEAD_BYTES_OF_DOCUMENTS;
  throw unreadable();
}

/** Returns the text of a page; '' for a missing page. Throws if the bytes are not an encoding of pages. */
export function decodePage(bytes: Buffer, page: number): string {
  return unpackedPage(packedPage(bytes, page));
}

/** Returns the text of what `packedPage` returns. */
export function unpackedPage(packed: Uint8Array): string {
  if (packed.length === 0) return '';
  try {
    return inflateRawSync(packed).toString('utf8');
  } catch (error) {
    throw unreadable(error);
  }
}

/** A range of consecutive pages. */
export interface PageRange {
  /** First page number. Default 1. */
  readonly first?: number;
  /** Maximum number of pages. Default: all. */
  readonly max?: number;
}

/**
 * Returns the pages of a range. Throws if one cannot be read. With `tellDamaged` it reports such a page instead, which
 * then has an empty text; if no page can be read, it reports the first.
 */
export function decodePages(
  bytes: Buffer,
  { first = 1, max = Infinity }: PageRange = {},
  tellDamaged?: (page: number) => void,
): ReadPage[] {
  const readable = <Value>(page: number, instead: Value, read: () => Value): Value => {
    if (tellDamaged === undefined) return read();
    try {
      return read();
    } catch {
      tellDamaged(page);
      return instead;
    }
  };
  const count = readable(first, 0, () => pageCountOf(bytes));
  return Array.from({ length: Math.max(0, Math.min(count - first + 1, max)) }, (_, position) => {
    const page = first + position;
    return { page, text: readable(page, '', () => decodePage(bytes, page)) };
  });
}

function unreadable(cause?: unknown): Error {
  return new Error('the text of a file is not as it was written', { cause });
}
