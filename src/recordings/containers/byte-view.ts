/** Numbers in bytes of others: what lies behind their end is 0, and never an error. Pure. */
const BYTE = 256;

export class ByteView {
  constructor(readonly bytes: Uint8Array) {}

  get length(): number {
    return this.bytes.length;
  }

  /** Of so many bytes, big-endian; exact up to six of them, and of more where the number is a safe one. */
  number(offset: number, bytes: number): number {
    let value = 0;
    for (let index = 0; index < bytes; index++) value = value * BYTE + (this.bytes[offset + index] ?? 0);
    return value;
  }

  /** Four letters, or what stands for them. */
  letters(offset: number, count = 4): string {
    return String.fromCharCode(...this.bytes.subarray(offset, offset + count));
  }

  slice(begin: number, end: number): Uint8Array {
    return this.bytes.subarray(begin, end);
  }
}
