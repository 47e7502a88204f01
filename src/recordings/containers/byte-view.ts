/** Reads numbers from untrusted bytes. Bytes beyond the end read as 0, never as an error. Pure functions. */
const BYTE = 256;

export class ByteView {
  constructor(readonly bytes: Uint8Array) {}

  get length(): number {
    return this.bytes.length;
  }

  /** Reads an unsigned big-endian number. Exact up to six bytes, and beyond for safe integers. */
  number(offset: number, bytes: number): number {
    let value = 0;
    for (let index = 0; index < bytes; index++) value = value * BYTE + (this.bytes[offset + index] ?? 0);
    return value;
  }

  /** Reads `count` bytes as Latin-1 characters. */
  letters(offset: number, count = 4): string {
    return String.fromCharCode(...this.bytes.subarray(offset, offset + count));
  }

  slice(begin: number, end: number): Uint8Array {
    return this.bytes.subarray(begin, end);
  }
}
