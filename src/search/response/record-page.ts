/**
 * Copies of the records of one piece of an answer, one after the other in memory that is kept: what the store reads is good until
 * its next read only, and the kernel unpacks many records at once, and marks their words. Belongs to one thread.
 */
import {
  isPacked,
  packedPlace,
  readRecordParts,
  type PackedPlace,
  type RecordParts,
  type RecordWords,
} from '../../records/index.js';

export const PAGE_BYTES = 64 * 1024;
/** Memory that one large record made larger than this is given back. */
const KEPT_BYTES_MAX = 1024 * 1024;

/** A record as it was read. */
interface Entry {
  readonly begin: number;
  readonly end: number;
  /** Of the list that it is of. */
  readonly words: RecordWords;
}

export class RecordPage {
  private buffer = Buffer.allocUnsafeSlow(PAGE_BYTES);
  private unpacked = Buffer.allocUnsafeSlow(PAGE_BYTES);
  private readonly entries: Entry[] = [];
  private used = 0;

  /** An empty page has room for any record. */
  hasRoomFor(stored: Uint8Array): boolean {
    return this.used === 0 || stored.length <= this.buffer.length - this.used;
  }

  /** Throws where there is no room. */
  add(stored: Uint8Array, words: RecordWords): void {
    if (!this.hasRoomFor(stored)) throw new RangeError('the page has no room for this record');
    if (stored.length > this.buffer.length) this.buffer = Buffer.allocUnsafeSlow(stored.length);
    const begin = this.used;
    this.buffer.set(stored, begin);
    this.used += stored.length;
    this.entries.push({ begin, end: this.used, words });
  }

  /** What was added, in its order and in the same bytes; good until the page is cleared. Throws DamagedRecordError. */
  records(): readonly RecordParts[] {
    const { entries, buffer } = this;
    if (!entries.some(({ begin }) => isPacked(buffer, begin)))
      return entries.map(({ begin, end }) => partsIn(buffer, begin, end));
    const packed = new Map<RecordWords, PackedPlace[]>();
    const begins = [0];
    let at = 0;
    for (const { begin, end, words } of entries) {
      if (isPacked(buffer, begin)) {
        const place = packedPlace(buffer, begin, end, at);
        if (packed.get(words)?.push(place) === undefined) packed.set(words, [place]);
        at = place.range[4];
      } else at += end - begin;
      begins.push(at);
    }
    if (at > this.unpacked.length) this.unpacked = Buffer.allocUnsafeSlow(at);
    const { unpacked } = this;
    for (const [words, places] of packed) words.unpackAll(buffer, places, unpacked);
    return entries.map(({ begin, end }, index) => {
      const to = begins[index] as number;
      if (!isPacked(buffer, begin)) buffer.copy(unpacked, to, begin, end);
      return partsIn(unpacked, to, begins[index + 1] as number);
    });
  }

  /** What was added is overwritten from now on. */
  clear(): void {
    this.used = 0;
    this.entries.length = 0;
    if (this.buffer.length > KEPT_BYTES_MAX) this.buffer = Buffer.allocUnsafeSlow(PAGE_BYTES);
    if (this.unpacked.length > KEPT_BYTES_MAX) this.unpacked = Buffer.allocUnsafeSlow(PAGE_BYTES);
  }
}

function partsIn(bytes: Buffer, begin: number, end: number): RecordParts {
  return readRecordParts(bytes.subarray(begin, end)).copiedTo(bytes, begin);
}
