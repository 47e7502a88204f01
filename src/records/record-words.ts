/**
 * The words that many records of a list have, by which their fields are packed: dictionaries in the list's store, each by its number, never
 * changed and never removed. Belongs to one thread.
 */
import { kernel } from '../../native-bindings/index.js';
import { dictionaryOf, PACKED_BYTES_MAX, PACKED_FORMAT, readPackedFormat } from './packed-format.js';
import { DamagedRecordError } from './record-parts.js';

const NUMBERS_OF_TEXT = 5;
/** Of a list: each is kept in the memory of every thread that reads its records. */
export const DICTIONARIES_MAX = 8;

/** Where dictionaries are kept. */
export interface WordsStore {
  words(number: number): Uint8Array | undefined;
  /** How many have been learned; undefined where that is lost. */
  wordsCount(): number | undefined;
  /** Inside a transaction. */
  putWords(number: number, dictionary: Uint8Array): void;
}

export interface Dictionary {
  /** In its list, from 1. */
  readonly number: number;
  readonly words: Uint8Array;
}

export class RecordWords {
  /** By their numbers, null for one that is damaged; what is not there now may be after the next commit of another thread. */
  private readonly dictionaries = new Map<number, Uint8Array | null>();
  private readonly range = new Uint32Array(NUMBERS_OF_TEXT);
  private memory: Buffer | undefined;

  constructor(private readonly store: WordsStore) {}

  /**
   * The same record in the short format, in memory that is good until the next call; bytes of other formats, and those that cannot be
   * unpacked, as they are. Looking up a dictionary is a read of the store.
   */
  unpacked(bytes: Buffer): Buffer {
    if (bytes[0] !== PACKED_FORMAT) return bytes;
    const known = this.dictionaries.get(dictionaryOf(bytes));
    if (known !== undefined) return this.unpackedBy(known, bytes) ?? bytes;
    // What was read is good until the next read.
    const copy = Buffer.from(bytes);
    return this.unpackedBy(this.dictionary(dictionaryOf(copy)), copy) ?? copy;
  }

  /** How many dictionaries the list has learned, damaged ones among them; undefined where that is lost. */
  count(): number | undefined {
    return this.store.wordsCount();
  }

  /** Those of the first so many that are not damaged. */
  whole(count: number): Dictionary[] {
    return Array.from({ length: count }, (_, index) => index + 1).flatMap((number) => {
      const words = this.dictionary(number);
      return words ? [{ number, words }] : [];
    });
  }

  /** Inside the transaction that writes the first records that it packs. */
  putLearned({ number, words }: Dictionary): void {
    const count = this.store.wordsCount();
    if (count === number - 1) this.store.putWords(number, words);
    // Several versions of a list are written by one commit.
    else if (count !== number || Buffer.compare(this.store.words(number) ?? Buffer.alloc(0), words) !== 0)
      throw new Error('another commit has learned words of the list');
  }

  /**
   * What a record is packed by, which stays good when the store is closed: null where that is damaged, undefined where it is lost, and for a
   * record that is not packed. A read of the store.
   */
  packing(bytes: Uint8Array): Uint8Array | null | undefined {
    return isPacked(bytes) ? this.dictionary(dictionaryOf(bytes)) : undefined;
  }

  /** True where telling what packs a record is no read of the store. */
  knowsPacking(bytes: Uint8Array): boolean {
    return !isPacked(bytes) || this.dictionaries.has(dictionaryOf(bytes));
  }

  private dictionary(number: number): Uint8Array | null | undefined {
    const known = this.dictionaries.get(number);
    if (known !== undefined) return known;
    const read = this.store.words(number);
    if (read === undefined) return undefined;
    const words = kernel.areWords(read) ? read : null;
    this.dictionaries.set(number, words);
    return words;
  }

  private unpackedBy(words: Uint8Array | null | undefined, bytes: Buffer): Buffer | undefined {
    if (!words) return undefined;
    try {
      const { plainBegin, fieldsBegin, shortBytes } = readPackedFormat(bytes);
      if (shortBytes > PACKED_BYTES_MAX) return undefined;
      const room = (this.memory ??= Buffer.allocUnsafeSlow(PACKED_BYTES_MAX));
      const { range } = this;
      range[0] = plainBegin;
      range[1] = fieldsBegin;
      range[2] = bytes.length;
      range[3] = 0;
      range[4] = shortBytes;
      return kernel.unpackWords(words, bytes, range, room) === 1 ? room.subarray(0, shortBytes) : undefined;
    } catch (error) {
      if (error instanceof DamagedRecordError) return undefined;
      throw error;
    }
  }
}

/** Where a packed record lies in the bytes of several, and where it is to be unpacked to. */
export type PackedRange = readonly [begin: number, packed: number, end: number, to: number, toEnd: number];

/** Unpacks many records with one call of the kernel. Belongs to one thread. */
export class RecordsUnpacker {
  private ranges = new Uint32Array(16 * NUMBERS_OF_TEXT);

  /** Those of one dictionary, each to its place in `texts`. Returns which of them cannot be unpacked, by their places in `of`. */
  unpack(dictionary: Uint8Array, bytes: Uint8Array, of: readonly PackedRange[], texts: Uint8Array): number[] {
    const length = of.length * NUMBERS_OF_TEXT;
    if (length > this.ranges.length) this.ranges = new Uint32Array(length * 2);
    for (const [index, range] of of.entries()) this.ranges.set(range, index * NUMBERS_OF_TEXT);
    const unreadable: number[] = [];
    for (let next = 0; next < of.length; next += 1) {
      next += kernel.unpackWords(dictionary, bytes, this.ranges.subarray(next * NUMBERS_OF_TEXT, length), texts);
      if (next < of.length) unreadable.push(next);
    }
    return unreadable;
  }
}

/** Throws DamagedRecordError where its header is none. `to`: where it is to begin. */
export function packedRange(bytes: Uint8Array, begin: number, end: number, to: number): PackedRange {
  const { plainBegin, fieldsBegin, shortBytes } = readPackedFormat(bytes.subarray(begin, end));
  if (shortBytes > PACKED_BYTES_MAX) throw unreadable();
  return [begin + plainBegin, begin + fieldsBegin, end, to, to + shortBytes];
}

export function isPacked(bytes: Uint8Array, begin = 0): boolean {
  return bytes[begin] === PACKED_FORMAT;
}

function unreadable(): DamagedRecordError {
  return new DamagedRecordError('the packed fields of a record cannot be read');
}
