/**
 * Stored lists of counted terms: one column after the other, each aligned to its width, so that adding up a year of
 * them reads numbers in place. `docs/formats.md` describes the bytes. A list whose lengths do not add up is refused.
 */

export interface TermCount {
  readonly bytes: Uint8Array;
  /** `hashBytes` of the bytes. */
  readonly hash: number;
  readonly count: number;
}

export interface NewTermList {
  /** Upper bound of how much the true count of a listed term is higher. */
  readonly errorMax: number;
  /** Upper bound of the count of a term that is not listed. */
  readonly unlistedMax: number;
  readonly terms: readonly TermCount[];
}

/** Lists begin at multiples of this. */
export const ALIGNMENT = 4;
const HEAD_BYTES = 16;
const COUNT_BYTES = 4;
const HASH_BYTES = 4;
const LENGTH_BYTES = 2;
const COUNT_MAX = 0xffff_ffff;

export function encodeTermList({ errorMax, unlistedMax, terms }: NewTermList): Buffer {
  const textBytes = terms.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const { hashesAt, lengthsAt, textAt, end } = layout(0, terms.length, textBytes);
  const encoded = Buffer.alloc(end);
  encoded.writeUInt32LE(terms.length, 0);
  encoded.writeUInt32LE(textBytes, 4);
  encoded.writeUInt32LE(Math.min(COUNT_MAX, errorMax), 8);
  encoded.writeUInt32LE(Math.min(COUNT_MAX, unlistedMax), 12);
  let at = textAt;
  for (const [index, { bytes, hash, count }] of terms.entries()) {
    encoded.writeUInt32LE(Math.min(COUNT_MAX, count), HEAD_BYTES + COUNT_BYTES * index);
    encoded.writeUInt32LE(hash, hashesAt + HASH_BYTES * index);
    encoded.writeUInt16LE(bytes.length, lengthsAt + LENGTH_BYTES * index);
    encoded.set(bytes, at);
    at += bytes.length;
  }
  return encoded;
}

function layout(at: number, terms: number, textBytes: number) {
  const hashesAt = at + HEAD_BYTES + COUNT_BYTES * terms;
  const lengthsAt = hashesAt + HASH_BYTES * terms;
  const textAt = lengthsAt + LENGTH_BYTES * terms;
  const end = Math.ceil((textAt + textBytes) / ALIGNMENT) * ALIGNMENT;
  return { hashesAt, lengthsAt, textAt, end };
}

/** Returns the end of the list that begins at `at`. Throws a RangeError beyond the bytes. */
export function termListEnd(bytes: Buffer, at: number): number {
  return layout(at, bytes.readUInt32LE(at), bytes.readUInt32LE(at + 4)).end;
}

/** A stored list, read in place. */
export class TermList {
  readonly length: number;
  readonly errorMax: number;
  readonly unlistedMax: number;
  /** End of the list in `bytes`. */
  readonly end: number;
  readonly counts: Uint32Array;
  readonly hashes: Uint32Array;
  /** Lengths in bytes. */
  readonly lengths: Uint16Array;
  /** Start of the first term in `bytes`; the others follow. */
  readonly textBegin: number;

  /**
   * Reads the list that begins at `at` in aligned memory (`aligned`). Throws a RangeError if the bytes are not a list.
   */
  constructor(
    readonly bytes: Buffer,
    at: number,
  ) {
    this.length = bytes.readUInt32LE(at);
    const textBytes = bytes.readUInt32LE(at + 4);
    this.errorMax = bytes.readUInt32LE(at + 8);
    this.unlistedMax = bytes.readUInt32LE(at + 12);
    const { hashesAt, lengthsAt, textAt, end } = layout(at, this.length, textBytes);
    if (end > bytes.length) throw new RangeError('A list of terms is cut short');
    const { buffer, byteOffset } = bytes;
    this.counts = new Uint32Array(buffer, byteOffset + at + HEAD_BYTES, this.length);
    this.hashes = new Uint32Array(buffer, byteOffset + hashesAt, this.length);
    this.lengths = new Uint16Array(buffer, byteOffset + lengthsAt, this.length);
    this.textBegin = textAt;
    this.end = end;
    let sum = 0;
    for (let index = 0; index < this.length; ++index) sum += this.lengths[index] as number;
    if (sum !== textBytes) throw new RangeError('The lengths of a list of terms do not add up');
  }
}

/** Returns the bytes, copied if they are not aligned. */
export function aligned(bytes: Uint8Array): Buffer {
  if (bytes.byteOffset % ALIGNMENT === 0) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const copy = Buffer.from(new ArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}
