/**
 * Counted terms as they are stored, a column after the other, so that adding a year of them up touches little else than hashes and
 * counts. `docs/formats.md` describes the bytes. What is read is checked once: a list whose lengths do not add up is refused.
 */

export interface TermCount {
  readonly bytes: Uint8Array;
  /** `hashBytes` of the bytes. */
  readonly hash: number;
  readonly count: number;
}

export interface NewTermList {
  /** The true count of a listed term is at most so much higher. */
  readonly errorMax: number;
  /** A term that is not listed occurred at most so often. */
  readonly unlistedMax: number;
  readonly terms: readonly TermCount[];
}

const HEAD_BYTES = 16;
const BYTES_PER_TERM = 10;
const COUNT_MAX = 0xffff_ffff;

export function encodeTermList({ errorMax, unlistedMax, terms }: NewTermList): Uint8Array {
  const textBytes = terms.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const encoded = Buffer.alloc(HEAD_BYTES + terms.length * BYTES_PER_TERM + textBytes);
  encoded.writeUInt32LE(terms.length, 0);
  encoded.writeUInt32LE(textBytes, 4);
  encoded.writeUInt32LE(Math.min(COUNT_MAX, errorMax), 8);
  encoded.writeUInt32LE(Math.min(COUNT_MAX, unlistedMax), 12);
  const [hashesAt, lengthsAt] = [HEAD_BYTES + 4 * terms.length, HEAD_BYTES + 8 * terms.length];
  let textAt = lengthsAt + 2 * terms.length;
  for (const [index, { bytes, hash, count }] of terms.entries()) {
    encoded.writeUInt32LE(Math.min(COUNT_MAX, count), HEAD_BYTES + 4 * index);
    encoded.writeUInt32LE(hash, hashesAt + 4 * index);
    encoded.writeUInt16LE(bytes.length, lengthsAt + 2 * index);
    encoded.set(bytes, textAt);
    textAt += bytes.length;
  }
  return encoded;
}

/** A stored list, read in place. */
export class TermList {
  readonly length: number;
  readonly errorMax: number;
  readonly unlistedMax: number;
  /** Where the list ends in the bytes that it was read from. */
  readonly end: number;
  private readonly begins: Uint32Array;

  /** Throws a RangeError where the bytes are no list. */
  constructor(
    readonly bytes: Buffer,
    private readonly at: number,
  ) {
    this.length = bytes.readUInt32LE(at);
    const textBytes = bytes.readUInt32LE(at + 4);
    this.errorMax = bytes.readUInt32LE(at + 8);
    this.unlistedMax = bytes.readUInt32LE(at + 12);
    const textAt = at + HEAD_BYTES + this.length * BYTES_PER_TERM;
    this.end = textAt + textBytes;
    if (this.end > bytes.length) throw new RangeError('A list of terms is cut short');
    this.begins = new Uint32Array(this.length + 1);
    let begin = textAt;
    for (let index = 0; index < this.length; ++index) {
      this.begins[index] = begin;
      const lengthAt = at + HEAD_BYTES + 8 * this.length + 2 * index;
      begin += (bytes[lengthAt] as number) | ((bytes[lengthAt + 1] as number) << 8);
    }
    this.begins[this.length] = begin;
    if (begin !== this.end) throw new RangeError('The lengths of a list of terms do not add up');
  }

  count(index: number): number {
    return this.unsigned32(this.at + HEAD_BYTES + 4 * index);
  }

  hash(index: number): number {
    return this.unsigned32(this.at + HEAD_BYTES + 4 * (this.length + index));
  }

  /** Where the term's bytes begin in `bytes`. */
  begin(index: number): number {
    return this.begins[index] as number;
  }

  byteLength(index: number): number {
    return (this.begins[index + 1] as number) - (this.begins[index] as number);
  }

  term(index: number): string {
    const begin = this.begin(index);
    return this.bytes.toString('utf8', begin, begin + this.byteLength(index));
  }

  private unsigned32(at: number): number {
    const { bytes } = this;
    return (
      ((bytes[at] as number) |
        ((bytes[at + 1] as number) << 8) |
        ((bytes[at + 2] as number) << 16) |
        ((bytes[at + 3] as number) << 24)) >>>
      0
    );
  }
}
