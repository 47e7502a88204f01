/** A growing buffer that records are encoded into. Belongs to one thread. */
import { VARINT_BYTES_MAX, writeVarint } from './varints.js';

const FIRST_BYTES = 4096;
/** Below this length, copying characters one by one costs less than calling into the runtime. */
const SHORT_UNITS = 32;

/** `utf8Write` is what Buffer.write calls in the end, without its checks. */
type FastBuffer = Buffer & { utf8Write(text: string, offset: number, length: number): number };

export class RecordRoom {
  /** Starts at the beginning of its ArrayBuffer and covers all of it. */
  buffer = Buffer.allocUnsafeSlow(FIRST_BYTES) as FastBuffer;
  length = 0;

  /** Ensures that so many bytes fit behind what was written. */
  reserve(bytes: number): void {
    const needed = this.length + bytes;
    if (needed <= this.buffer.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.buffer.length * 2)) as FastBuffer;
    this.buffer.copy(grown, 0, 0, this.length);
    this.buffer = grown;
  }

  append(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.buffer.set(bytes, this.length);
    this.length += bytes.length;
  }

  f64(value: number): void {
    this.reserve(Float64Array.BYTES_PER_ELEMENT);
    this.length = this.buffer.writeDoubleLE(value, this.length);
  }

  /** Appends UTF-8; lone surrogates become U+FFFD. */
  text(text: string): void {
    // A UTF-16 unit takes three bytes at most.
    this.reserve(text.length * 3);
    this.length += this.buffer.utf8Write(text, this.length, text.length * 3);
  }

  /** As `text`, preceded by the number of bytes as a varint. */
  countedText(text: string): void {
    this.reserve(VARINT_BYTES_MAX + text.length * 3);
    const begin = this.length;
    if (text.length <= SHORT_UNITS) {
      const { buffer } = this;
      let at = begin + 1;
      for (let index = 0, unit = 0; index < text.length && (unit = text.charCodeAt(index)) < 0x80; index += 1, at += 1)
        buffer[at] = unit;
      if (at === begin + 1 + text.length) {
        buffer[begin] = text.length;
        this.length = at;
        return;
      }
    }
    this.length = writeVarint(Buffer.byteLength(text), this.buffer, begin);
    this.text(text);
  }
}
