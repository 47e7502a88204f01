/** A growing buffer to which DocumentBatchWriter and QueryPlanWriter append little-endian values. */

/**
 * Strings up to this many UTF-16 units are copied character by character, which costs less than a call into the
 * runtime.
 */
const SHORT_STRING_UNITS = 24;
const BYTES_MAX = 0x7fffffff;

/**
 * `utf8Write` is what Buffer.write calls in the end; skipping the checks of Buffer.write halves the cost of a short
 * string.
 */
type FastBuffer = Buffer & { utf8Write(text: string, offset: number, length: number): number };

export class ByteWriter {
  #buffer: FastBuffer;
  #view: DataView;
  #length = 0;

  constructor(initialBytes: number) {
    this.#buffer = Buffer.allocUnsafeSlow(initialBytes) as FastBuffer;
    this.#view = new DataView(this.#buffer.buffer, this.#buffer.byteOffset, this.#buffer.byteLength);
  }

  get length(): number {
    return this.#length;
  }

  /** Discards everything from `length` on. */
  truncate(length: number): void {
    if (length < this.#length) this.#length = length;
  }

  u8(value: number): void {
    this.#reserve(1);
    this.#buffer[this.#length] = value;
    this.#length += 1;
  }

  u16(value: number): void {
    this.#reserve(2);
    this.#view.setUint16(this.#length, value, true);
    this.#length += 2;
  }

  u32(value: number): void {
    this.#reserve(4);
    this.#view.setUint32(this.#length, value, true);
    this.#length += 4;
  }

  f32(value: number): void {
    this.#reserve(4);
    this.#view.setFloat32(this.#length, value, true);
    this.#length += 4;
  }

  f64(value: number): void {
    this.#reserve(8);
    this.#view.setFloat64(this.#length, value, true);
    this.#length += 8;
  }

  /** Writes the length in bytes (u32), then UTF-8. Lone surrogates become U+FFFD. */
  string(text: string): void {
    const units = text.length;
    // A UTF-16 unit takes at most three bytes; for a long text, counting the exact length pays.
    this.#reserve(4 + (units > 0xffff ? Buffer.byteLength(text) : units * 3));
    const start = this.#length + 4;
    let written = 0;
    if (units <= SHORT_STRING_UNITS) {
      const buffer = this.#buffer;
      while (written < units) {
        const unit = text.charCodeAt(written);
        if (unit > 0x7f) break;
        buffer[start + written] = unit;
        written += 1;
      }
    }
    if (written < units) written = this.#buffer.utf8Write(text, start, this.#buffer.length - start);
    this.#view.setUint32(this.#length, written, true);
    this.#length = start + written;
  }

  append(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#buffer.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Overwrites a u32 that was written before. */
  patchU32(offset: number, value: number): void {
    this.#view.setUint32(offset, value, true);
  }

  /** Returns the written bytes: a view that the next write may change. */
  bytes(): Uint8Array {
    return new Uint8Array(this.#buffer.buffer, this.#buffer.byteOffset, this.#length);
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes > this.#buffer.length) this.#grow(bytes);
  }

  #grow(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed > BYTES_MAX)
      throw new RangeError(`a native buffer of ${needed} bytes is over the limit of ${BYTES_MAX}`);
    const grown = Buffer.allocUnsafeSlow(Math.min(BYTES_MAX, Math.max(needed, this.#buffer.length * 2))) as FastBuffer;
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
    this.#view = new DataView(grown.buffer, grown.byteOffset, grown.byteLength);
  }
}
