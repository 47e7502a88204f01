/**
 * Buffers copies of the records of one part of an answer. The store's bytes are valid only until its next read, while
 * the kernel unpacks and marks many records in one call. The memory is reused. Belongs to one thread.
 */
import {
  type DamagedRecord,
  DamagedRecordError,
  isPacked,
  packedRange,
  readRecord,
  RecordsUnpacker,
  type PackedRange,
  type RecordParts,
  type RecordWords,
} from '../../records/index.js';

export const PAGE_BYTES = 64 * 1024;
/** A buffer that one large record grew beyond this size is released. */
const KEPT_BYTES_MAX = 1024 * 1024;

/** A record as it was read. */
interface Entry {
  readonly begin: number;
  readonly end: number;
  /**
   * Dictionary by which the record is packed. Null or undefined if it is not packed, or the dictionary is damaged or
   * lost.
   */
  readonly dictionary: Uint8Array | null | undefined;
}

/** Records that are packed by the same dictionary. */
interface PackedEntries {
  readonly dictionary: Uint8Array;
  readonly entries: number[];
  readonly ranges: PackedRange[];
}

export class RecordPage {
  private buffer = Buffer.allocUnsafeSlow(PAGE_BYTES);
  private unpacked = Buffer.allocUnsafeSlow(PAGE_BYTES);
  private readonly unpacker = new RecordsUnpacker();
  private readonly entries: Entry[] = [];
  private used = 0;

  /** True if the record fits. An empty page has room for any record. */
  hasRoomFor(stored: Uint8Array): boolean {
    return this.used === 0 || stored.length <= this.buffer.length - this.used;
  }

  /**
   * Adds a copy of the record. Throws RangeError if there is no room. `words` belongs to an open store, which may be
   * closed afterwards.
   */
  add(stored: Uint8Array, words: RecordWords): void {
    if (!this.hasRoomFor(stored)) throw new RangeError('the page has no room for this record');
    if (stored.length > this.buffer.length) this.buffer = Buffer.allocUnsafeSlow(stored.length);
    const begin = this.used;
    this.buffer.set(stored, begin);
    this.used += stored.length;
    // Looking up the dictionary is a read, which invalidates `stored`.
    const dictionary = words.packing(this.buffer, begin, this.used);
    this.entries.push({ begin, end: this.used, dictionary });
  }

  /** Returns the records in the order added, all in one buffer. Valid until the page is cleared. */
  records(): readonly (RecordParts | DamagedRecord)[] {
    const { entries, buffer } = this;
    if (!entries.some(({ begin }) => isPacked(buffer, begin)))
      return entries.map(({ begin, end }) => readRecord(buffer, begin, end));
    const packed = new Map<Uint8Array, PackedEntries>();
    /** Where the unpacked records begin, and where the last one ends. */
    const places: number[] = [0];
    let at = 0;
    // Mostly one dictionary packs all.
    let same: PackedEntries | undefined;
    for (let index = 0; index < entries.length; index += 1) {
      const entry = entries[index] as Entry;
      const range = rangeOf(buffer, entry, at);
      if (range !== undefined) {
        if (same === undefined || same.dictionary !== entry.dictionary)
          same = packedBy(entry.dictionary as Uint8Array, packed);
        same.entries.push(index);
        same.ranges.push(range);
      }
      at = range === undefined ? at + entry.end - entry.begin : range[4];
      places.push(at);
    }
    if (at > this.unpacked.length) this.unpacked = Buffer.allocUnsafeSlow(at);
    const { unpacked, unpacker } = this;
    const readable: boolean[] = entries.map(() => false);
    for (const { dictionary, entries: of, ranges } of packed.values()) {
      for (const index of of) readable[index] = true;
      for (const place of unpacker.unpack(dictionary, buffer, ranges, unpacked)) readable[of[place] as number] = false;
    }
    return entries.map(({ begin, end }, index) => {
      const [to, toEnd] = [places[index] as number, places[index + 1] as number];
      if (readable[index] === true) return readRecord(unpacked, to, toEnd);
      if (isPacked(buffer, begin)) return readRecord(buffer, begin, end);
      buffer.copy(unpacked, to, begin, end);
      return readRecord(unpacked, to, toEnd);
    });
  }

  /** Removes all records; their memory is overwritten from now on. */
  clear(): void {
    this.used = 0;
    this.entries.length = 0;
    if (this.buffer.length > KEPT_BYTES_MAX) this.buffer = Buffer.allocUnsafeSlow(PAGE_BYTES);
    if (this.unpacked.length > KEPT_BYTES_MAX) this.unpacked = Buffer.allocUnsafeSlow(PAGE_BYTES);
  }
}

/** Returns the entries of the dictionary. */
function packedBy(dictionary: Uint8Array, packed: Map<Uint8Array, PackedEntries>): PackedEntries {
  let same = packed.get(dictionary);
  if (same === undefined) packed.set(dictionary, (same = { dictionary, entries: [], ranges: [] }));
  return same;
}

/** Returns where a packed record is unpacked to. Undefined if it is not packed, or cannot be unpacked. */
function rangeOf(bytes: Buffer, { begin, end, dictionary }: Entry, to: number): PackedRange | undefined {
  if (!dictionary) return undefined;
  try {
    return packedRange(bytes, begin, end, to);
  } catch (error) {
    if (error instanceof DamagedRecordError) return undefined;
    throw error;
  }
}
