/**
 * The words that many records of a list have, by which their fields are packed: dictionaries in the list's store, each by its number, never
 * changed and never removed. Belongs to one thread.
 */
import { kernel } from '../../native-bindings/index.js';
import { dictionaryOf, PACKED_BYTES_MAX, PACKED_FORMAT, readPackedFormat } from './packed-format.js';
import { DamagedRecordError } from './record-parts.js';

const NUMBERS_OF_TEXT = 5;

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
  private ranges = new Uint32Array(16 * NUMBERS_OF_TEXT);
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

  /**
   * The same for many packed records that lie in `bytes`, with one call of the kernel: each is written to its place in `texts`. Throws DamagedRecordError where one cannot be unpacked.
   */
  unpackAll(bytes: Buffer, places: readonly PackedPlace[], texts: Uint8Array): void {
    for (const number of new Set(places.map(({ dictionary }) => dictionary))) {
      const same = places.filter(({ dictionary }) => dictionary === number);
      if (same.length * NUMBERS_OF_TEXT > this.ranges.length) {
        this.ranges = new Uint32Array(same.length * NUMBERS_OF_TEXT * 2);
      }
      const ranges = this.ranges.subarray(0, same.length * NUMBERS_OF_TEXT);
      for (const [index, place] of same.entries()) ranges.set(place.range, index * NUMBERS_OF_TEXT);
      const dictionary = this.dictionary(number);
      if (!dictionary || kernel.unpackWords(dictionary, bytes, ranges, texts) !== same.length) throw unreadable();
    }
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
export interface PackedPlace {
  readonly dictionary: number;
  readonly range: readonly [begin: number, packed: number, end: number, to: number, toEnd: number];
}

/** Throws DamagedRecordError where its header is none. `to`: where it is to begin. */
export function packedPlace(bytes: Uint8Array, begin: number, end: number, to: number): PackedPlace {
  const { dictionary, plainBegin, fieldsBegin, shortBytes } = readPackedFormat(bytes.subarray(begin, end));
  if (shortBytes > PACKED_BYTES_MAX) throw unreadable();
  return { dictionary, range: [begin + plainBegin, begin + fieldsBegin, end, to, to + shortBytes] };
}

export function isPacked(bytes: Uint8Array, begin = 0): boolean {
  return bytes[begin] === PACKED_FORMAT;
}

function unreadable(): DamagedRecordError {
  return new DamagedRecordError('the packed fields of a record cannot be read');
}
