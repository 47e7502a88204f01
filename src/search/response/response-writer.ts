/**
 * The bytes of responses, one after the other in memory that is kept between them. Belongs to one thread; what `take`
 * returns is a copy of its own.
 */
import { ServiceError } from '../../platform/index.js';

/** Calling into the runtime costs more than copying so many characters, or bytes. */
const SHORT_TEXT_CHARACTERS = 40;
const SHORT_BYTES = 96;
/** How numbers with more zeros behind the point are written has an exponent. */
const FRACTION_MIN = 1e-6;
const DIGIT_ZERO = 0x30;
const POINT = 0x2e;
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

  bytes(bytes: Uint8Array, begin = 0, end = bytes.length): void {
    const length = end - begin;
    this.reserve(length);
    const { buffer, used } = this;
    if (length <= SHORT_BYTES) {
      for (let index = 0; index < length; ++index) buffer[used + index] = bytes[begin + index] as number;
    } else {
      buffer.set(bytes.subarray(begin, end), used);
    }
    this.used = used + length;
  }

  /**
   * `digits` / `scale` as JSON has it, for a `scale` that is a power of ten of 1e9 at most and 0 <= digits <= scale. A fraction of
   * few digits is written in a tenth of the time that the runtime takes for the shortest form of any number.
   */
  fraction(digits: number, scale: number): void {
    if (digits === 0 || digits === scale || digits / scale < FRACTION_MIN) {
      this.ascii(String(digits / scale));
      return;
    }
    let rest = digits;
    let places = scale;
    while (rest % 10 === 0) {
      rest /= 10;
      places /= 10;
    }
    let length = 2;
    for (let place = places; place > 1; place /= 10) length += 1;
    this.reserve(length);
    const { buffer, used } = this;
    buffer[used] = DIGIT_ZERO;
    buffer[used + 1] = POINT;
    for (let index = used + length - 1; index > used + 1; --index) {
      buffer[index] = DIGIT_ZERO + (rest % 10);
      rest = Math.floor(rest / 10);
    }
    this.used = used + length;
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
