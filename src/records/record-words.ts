/**
 * Dictionaries of words that many records of a list contain, with which their fields are packed. They are kept in the
 * list's store by number, and never changed or removed. Belongs to one thread.
 */
import { kernel } from '../../native-bindings/index.js';
import { dictionaryOf, PACKED_BYTES_MAX, PACKED_FORMAT, readPackedFormat } from './packed-format.js';
import { DamagedRecordError } from './record-parts.js';

const NUMBERS_OF_TEXT = 5;
/** Maximum number per list: each is kept in the memory of every thread that reads the list's records. */
export const DICTIONARIES_MAX = 8;

/** Storage of dictionaries. */
export interface WordsStore {
  words(number: number): Uint8Array | undefined;
  /** Number of learned dictionaries; undefined if it is lost. */
  wordsCount(): number | undefined;
  /** Stores a dictionary, inside a transaction. */
  putWords(number: number, dictionary: Uint8Array): void;
}

export interface Dictionary {
  /** Number in its list, from 1. */
  readonly number: number;
  readonly words: Uint8Array;
}

export class RecordWords {
  /**
   * Dictionaries by number; null for a damaged one. A missing one may exist after the next commit of another thread, so
   * it is not cached.
   */
  private readonly dictionaries = new Map<number, Uint8Array | null>();
  private readonly range = new Uint32Array(NUMBERS_OF_TEXT);
  private memory: Buffer | undefined;

  constructor(private readonly store: WordsStore) {}

  /**
   * Returns the record in the short format, in memory that is valid until the next call. Returns bytes of other
   * formats, and those that cannot be unpacked, unchanged. Looking up a dictionary reads from the store.
   */
  unpacked(bytes: Buffer): Buffer {
    if (bytes[0] !== PACKED_FORMAT) return bytes;
    const known = this.dictionaries.get(dictionaryOf(bytes));
    if (known !== undefined) return this.unpackedBy(known, bytes) ?? bytes;
    // The bytes are valid only until the next read, so they are copied.
    const copy = Buffer.from(bytes);
    return this.unpackedBy(this.dictionary(dictionaryOf(copy)), copy) ?? copy;
  }

  /** Number of learned dictionaries, including damaged ones; undefined if it is lost. */
  count(): number | undefined {
    return this.store.wordsCount();
  }

  /** Returns those of the first `count` dictionaries that are not damaged. */
  whole(count: number): Dictionary[] {
    return Array.from({ length: count }, (_, index) => index + 1).flatMap((number) => {
      const words = this.dictionary(number);
      return words ? [{ number, words }] : [];
    });
  }

  /** Stores a new dictionary, inside the transaction that writes the first records packed with it. */
  putLearned({ number, words }: Dictionary): void {
    const count = this.store.wordsCount();
    if (count === number - 1) this.store.putWords(number, words);
    // One commit may write several versions of a list, which share the dictionary.
    else if (count !== number || Buffer.compare(this.store.words(number) ?? Buffer.alloc(0), words) !== 0)
      throw new Error('another commit has learned words of the list');
  }

  /**
   * Returns the dictionary with which the record from `begin` to `end` is packed; it stays valid when the store is
   * closed. Null if it is damaged; undefined if it is lost, or the record is not packed. May read from the store.
   */
  packing(bytes: Uint8Array, begin = 0, end = bytes.length): Uint8Array | null | undefined {
    return isPacked(bytes, begin) ? this.dictionary(dictionaryOf(bytes, begin, end)) : undefined;
  }

  /** True if `packing` does not need to read from the store. */
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

/** Position of a packed record among several, and where it is to be unpacked to. */
export type PackedRange = readonly [begin: number, packed: number, end: number, to: number, toEnd: number];

/** Unpacks many records with one call of the kernel. Belongs to one thread. */
export class RecordsUnpacker {
  private ranges = new Uint32Array(16 * NUMBERS_OF_TEXT);

  /**
   * Unpacks records that share a dictionary, each to its place in `texts`. Returns the indexes in `of` of those that
   * cannot be unpacked.
   */
  unpack(dictionary: Uint8Array, bytes: Uint8Array, of: readonly PackedRange[], texts: Uint8Array): number[] {
    const length = of.length * NUMBERS_OF_TEXT;
    if (length > this.ranges.length) this.ranges = new Uint32Array(length * 2);
    const { ranges } = this;
    let at = 0;
    for (const range of of) {
      for (let number = 0; number < NUMBERS_OF_TEXT; number += 1) ranges[at + number] = range[number] as number;
      at += NUMBERS_OF_TEXT;
    }
    const unreadable: number[] = [];
    for (let next = 0; next < of.length; next += 1) {
      next += kernel.unpackWords(dictionary, bytes, ranges.subarray(next * NUMBERS_OF_TEXT, length), texts);
      if (next < of.length) unreadable.push(next);
    }
    return unreadable;
  }
}

/** Throws DamagedRecordError if the header is invalid. `to`: where the unpacked record is to begin. */
export function packedRange(bytes: Uint8Array, begin: number, end: number, to: number): PackedRange {
  const { plainBegin, fieldsBegin, shortBytes } = readPackedFormat(bytes, begin, end);
  if (shortBytes > PACKED_BYTES_MAX) throw unreadable();
  return [plainBegin, fieldsBegin, end, to, to + shortBytes];
}

export function isPacked(bytes: Uint8Array, begin = 0): boolean {
  return bytes[begin] === PACKED_FORMAT;
}

function unreadable(): DamagedRecordError {
  return new DamagedRecordError('the packed fields of a record cannot be read');
}
