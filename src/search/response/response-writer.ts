/**
 * The bytes of responses, one after the other in memory that is kept between them. Belongs to one thread.
 */
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
/** What a buffer that is handed over has room for behind the answers, at least. */
const TRAILER_BYTES_MAX = 64 * 1024;
/** Buffers have a multiple of this many bytes. */
const ALIGNMENT = 8;
const UUID_BYTES = 16;
const UUID_CHARACTERS = 36;
const DASH = 0x2d;
/** Both digits of a byte, the first in the lower half. */
const HEX_CODES_OF_BYTE = Uint16Array.from({ length: 256 }, (_, byte) => {
  const digits = byte.toString(16).padStart(2, '0');
  return digits.charCodeAt(0) | (digits.charCodeAt(1) << 8);
});
const NO_NUMBERS = new Float64Array(0);

/** The answer would have more bytes than the writer was limited to. */
export class LongAnswerError extends Error {
  override readonly name = 'LongAnswerError';
}

export class ResponseWriter {
  private buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  private used = 0;
  private limit = Infinity;
  /** Bytes up to which nothing has to be looked at. */
  private capacity = INITIAL_BYTES;

  /** From now on, what would make everything written longer than this is refused with a LongAnswerError. */
  limitTo(length: number): void {
    this.limit = length;
    this.capacity = Math.min(length, this.buffer.length);
  }

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
    const longest = text.length * 3;
    this.reserve(this.used + longest <= this.capacity ? longest : Buffer.byteLength(text));
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

  /** The 36 characters of the UUID whose 16 bytes begin at `begin`. */
  uuid(bytes: Uint8Array, begin: number): void {
    this.reserve(UUID_CHARACTERS);
    const { buffer } = this;
    let at = this.used;
    for (let index = 0; index < UUID_BYTES; ++index) {
      if (index === 4 || index === 6 || index === 8 || index === 10) buffer[at++] = DASH;
      const codes = HEX_CODES_OF_BYTE[bytes[begin + index] as number] as number;
      buffer[at] = codes & 0xff;
      buffer[at + 1] = codes >>> 8;
      at += 2;
    }
    this.used = at;
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

  /**
   * Everything written so far, and these numbers at the very end, as a buffer to be transferred; the writer is empty after. Of long
   * answers it is the buffer itself that goes: a copy would take as much again.
   */
  take(numbers = NO_NUMBERS): ArrayBuffer {
    const trailer = new Uint8Array(numbers.buffer);
    const { used } = this;
    this.used = 0;
    if (used <= KEPT_BYTES_MAX || trailer.length === 0) {
      const taken = new Uint8Array(trailer.length === 0 ? used : aligned(used) + trailer.length);
      taken.set(this.buffer.subarray(0, used));
      taken.set(trailer, taken.length - trailer.length);
      if (this.buffer.length > KEPT_BYTES_MAX) this.replace(Buffer.allocUnsafeSlow(INITIAL_BYTES));
      return taken.buffer;
    }
    if (this.buffer.length - used < trailer.length) this.grow(used, used + trailer.length);
    const { buffer } = this;
    buffer.set(trailer, buffer.length - trailer.length);
    this.replace(Buffer.allocUnsafeSlow(INITIAL_BYTES));
    return buffer.buffer;
  }

  /** Throws a LongAnswerError. */
  private reserve(bytes: number): void {
    const needed = this.used + bytes;
    if (needed <= this.capacity) return;
    if (needed > this.limit) throw new LongAnswerError(`an answer of more than ${this.limit} bytes`);
    // Memory that is not written to is not resident: of a long answer all that it may need is got at once.
    const wanted =
      needed > KEPT_BYTES_MAX && this.limit < Infinity ? this.limit + TRAILER_BYTES_MAX : this.buffer.length * 2;
    this.grow(this.used, Math.max(needed, wanted));
  }

  /** Keeps the first `kept` bytes. */
  private grow(kept: number, bytes: number): void {
    const grown = Buffer.allocUnsafeSlow(aligned(bytes));
    this.buffer.copy(grown, 0, 0, kept);
    this.replace(grown);
  }

  private replace(buffer: Buffer<ArrayBuffer>): void {
    this.buffer = buffer;
    this.capacity = Math.min(this.limit, buffer.length);
  }
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
}
