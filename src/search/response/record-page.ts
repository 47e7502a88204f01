/**
 * Copies of the records of one piece of an answer, one after the other in memory that is kept: what the store reads is good until
 * its next read only, and the kernel marks the words of many records at once. Belongs to one thread.
 */
import type { RecordParts } from '../../records/index.js';

export const PAGE_BYTES = 64 * 1024;
/** A page that one large record made larger than this is given back. */
const KEPT_BYTES_MAX = 1024 * 1024;

export class RecordPage {
  private buffer = Buffer.allocUnsafeSlow(PAGE_BYTES);
  private used = 0;

  /** An empty page has room for any record. */
  hasRoomFor(parts: RecordParts): boolean {
    return this.used === 0 || bytesOf(parts) <= this.buffer.length - this.used;
  }

  /** The record's copy, good until the page is cleared. Throws where there is no room. */
  add(parts: RecordParts): RecordParts {
    if (!this.hasRoomFor(parts)) throw new RangeError('the page has no room for this record');
    const length = bytesOf(parts);
    if (length > this.buffer.length) this.buffer = Buffer.allocUnsafeSlow(length);
    const begin = this.used;
    this.buffer.set(parts.bytes.subarray(parts.begin, parts.end), begin);
    this.used += length;
    return parts.copiedTo(this.buffer, begin);
  }

  /** What was added is overwritten from now on. */
  clear(): void {
    this.used = 0;
    if (this.buffer.length > KEPT_BYTES_MAX) this.buffer = Buffer.allocUnsafeSlow(PAGE_BYTES);
  }
}

function bytesOf({ begin, end }: RecordParts): number {
  return end - begin;
}
