/**
 * The bytes of responses, one after the other in memory that is kept between them. Belongs to one thread; what `take`
 * returns is a copy of its own.
 */
import { ServiceError } from '../../platform/index.js';

const SHORT_TEXT_CHARACTERS = 40;
const INITIAL_BYTES = 256 * 1024;
/** A buffer that one large answer made larger than this is given back. */
const KEPT_BYTES_MAX = 8 * 1024 * 1024;
/** All answers of a batch together. */
const RESPONSE_BYTES_MAX = 512 * 1024 * 1024;

export class ResponseWriter {
  private buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  private used = 0;

  get length(): number {
    return this.used;
  }

  /** Drops what was written after `length`: an answer that failed half-way. */
  truncate(length: number): void {
    this.used = Math.min(this.used, length);
  }

  /** Characters below U+0080 only. */
  ascii(text: string): void {
    const { length } = text;
    this.reserve(length);
    if (length > SHORT_TEXT_CHARACTERS) {
      this.used += this.buffer.write(text, this.used, 'latin1');
      return;
    }
    // Calling into the runtime costs more than copying a few characters.
    const { buffer, used } = this;
    for (let index = 0; index < length; ++index) buffer[used + index] = text.charCodeAt(index);
    this.used = used + length;
  }

  /** Puts other characters below U+0080 in the place of as many that were written before. */
  replaceAscii(at: number, text: string): void {
    if (at + text.length > this.used) throw new RangeError('nothing was written there yet');
    this.buffer.write(text, at, 'latin1');
  }

  text(text: string): void {
    this.reserve(text.length * 3);
    this.used += this.buffer.write(text, this.used, 'utf8');
  }

  bytes(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.buffer.set(bytes, this.used);
    this.used += bytes.length;
  }

  /** A copy of everything from `from` on. */
  copy(from = 0): Uint8Array<ArrayBuffer> {
    const copied = new Uint8Array(this.used - from);
    copied.set(this.buffer.subarray(from, this.used));
    return copied;
  }

  /** Everything written so far as a buffer of its own, to be transferred; the writer is empty after. */
  take(): ArrayBuffer {
    const { buffer } = this.copy();
    this.used = 0;
    if (this.buffer.length > KEPT_BYTES_MAX) this.buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES);
    return buffer;
  }

  /** Throws `unprocessable` where the answer is larger than any client can want. */
  private reserve(bytes: number): void {
    const needed = this.used + bytes;
    if (needed <= this.buffer.length) return;
    if (needed > RESPONSE_BYTES_MAX) {
      throw new ServiceError('unprocessable', 'The answer is too large; ask for fewer records or select fewer fields.');
    }
    const grown = Buffer.allocUnsafeSlow(Math.min(RESPONSE_BYTES_MAX, Math.max(needed, this.buffer.length * 2)));
    this.buffer.copy(grown, 0, 0, this.used);
    this.buffer = grown;
  }
}
