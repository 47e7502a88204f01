/** Writes responses as bytes, one after the other, into a reused buffer. Belongs to one thread. */
/** Up to these lengths, copying in a loop is faster than a call into the runtime. */
const SHORT_TEXT_CHARACTERS = 40;
const SHORT_BYTES = 96;
/** Below this, JavaScript prints numbers with an exponent. */
const FRACTION_MIN = 1e-6;
const DIGIT_ZERO = 0x30;
const POINT = 0x2e;
const INITIAL_BYTES = 256 * 1024;
/** A buffer that one large answer grew beyond this size is released. */
const KEPT_BYTES_MAX = 8 * 1024 * 1024;
/** Least room behind the answers in a buffer that is handed over. */
const TRAILER_BYTES_MAX = 64 * 1024;
/** Buffer lengths are multiples of this many bytes. */
const ALIGNMENT = 8;
const UUID_BYTES = 16;
const UUID_CHARACTERS = 36;
const DASH = 0x2d;
/** Both hexadecimal digits of each byte, the first one in the low half. */
const HEX_CODES_OF_BYTE = Uint16Array.from({ length: 256 }, (_, byte) => {
  const digits = byte.toString(16).padStart(2, '0');
  return digits.charCodeAt(0) | (digits.charCodeAt(1) << 8);
});
const NO_NUMBERS = new Float64Array(0);

/** Thrown if the answer would exceed the writer's limit. */
export class LongAnswerError extends Error {
  override readonly name = 'LongAnswerError';
}

export class ResponseWriter {
  private buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  private used = 0;
  private limit = Infinity;
  /** Length up to which neither limit nor buffer size has to be checked. */
  private capacity = INITIAL_BYTES;

  /** Limits the total length of what is written. Writing more throws LongAnswerError. */
  limitTo(length: number): void {
    this.limit = length;
    this.capacity = Math.min(length, this.buffer.length);
  }

  get length(): number {
    return this.used;
  }

  /** Drops what was written after `length`, when an answer failed half-way. */
  truncate(length: number): void {
    this.used = Math.min(this.used, length);
  }

  /** Appends characters below U+0080. */
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

  /**
   * Overwrites characters with as many others, all below U+0080. Throws RangeError behind the end of what was written.
   */
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

  /** Appends the 36 characters of the UUID whose 16 bytes begin at `begin`. */
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
   * Appends `digits` / `scale` as a JSON number. `scale` is a power of ten, at most 1e9, and 0 <= digits <= scale.
   * Takes a tenth of the time of the runtime's shortest-form conversion.
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
   * Returns everything written, with `numbers` at the very end, as a buffer to be transferred, and empties the writer.
   * Long answers hand over the writer's own buffer, since a copy would take as much memory again.
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

  /** Makes room. Throws LongAnswerError. */
  private reserve(bytes: number): void {
    const needed = this.used + bytes;
    if (needed <= this.capacity) return;
    if (needed > this.limit) throw new LongAnswerError(`an answer of more than ${this.limit} bytes`);
    // Untouched memory is not resident, so a long answer allocates all it may need at once.
    const wanted =
      needed > KEPT_BYTES_MAX && this.limit < Infinity ? this.limit + TRAILER_BYTES_MAX : this.buffer.length * 2;
    this.grow(this.used, Math.max(needed, wanted));
  }

  /** Grows the buffer to at least `bytes`, keeping the first `kept` bytes. */
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
