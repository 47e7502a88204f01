/**
 * Copies of the records of one piece of an answer, one after the other in memory that is kept: what the store reads is good until
 * its next read only, and the kernel marks the words of many records at once. Belongs to one thread.
 */
import type { RecordParts } from '../../records/index.js';

const INITIAL_BYTES = 64 * 1024;
/** A buffer that one large record made larger than this is given back. */
const KEPT_BYTES_MAX = 1024 * 1024;

export class RecordPage {
  private buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  private used = 0;

  get bytes(): number {
    return this.used;
  }

  /** Undefined where there is no room: the page has to be cleared first. An empty page has room for any record. */
  add(parts: RecordParts): RecordParts | undefined {
    const length = parts.end - parts.headBegin;
    if (length > this.buffer.length - this.used) {
      if (this.used > 0) return undefined;
      this.buffer = Buffer.allocUnsafeSlow(length);
    }
    const begin = this.used;
    this.buffer.set(parts.bytes.subarray(parts.headBegin, parts.end), begin);
    this.used += length;
    return parts.copiedTo(this.buffer, begin);
  }

  /** What was added is overwritten from now on. */
  clear(): void {
    this.used = 0;
    if (this.buffer.length > KEPT_BYTES_MAX) this.buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  }
}
