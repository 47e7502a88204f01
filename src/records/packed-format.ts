/**
 * Format 3 of a stored record: the short format with its fields packed with a dictionary of the list's words.
 *
 *   u8       format (3)
 *   u8       number of the dictionary, from 1
 *   varint   bytes of the record in the short format before its fields
 *   varint   bytes of the whole record in the short format
 *   bytes    the first of these, unpacked
 *   rest     its fields, packed (native-bindings/kernel/text/word_packing.h)
 *
 * The kernel writes this format (native-bindings/kernel/text/record_packing.h). Pure functions over bytes that the
 * caller owns.
 */
import { kernelConstant } from '../../native-bindings/index.js';
import { DamagedRecordError } from './record-parts.js';
import { behindVarint, varint } from './varints.js';

export const PACKED_FORMAT = kernelConstant('PackedRecordFormat');
/** Longer records are not packed, because the memory for unpacking them is kept. */
export const PACKED_BYTES_MAX = 64 * 1024;
const DICTIONARY_AT = 1;
const HEADER_BYTES = 2;

/** Offsets of the parts of a packed record in its bytes, and its unpacked length. */
export interface PackedRecord {
  readonly dictionary: number;
  /** Beginning of the unpacked part. */
  readonly plainBegin: number;
  readonly fieldsBegin: number;
  readonly shortBytes: number;
}

export function dictionaryOf(bytes: Uint8Array, begin = 0, end = bytes.length): number {
  return begin + DICTIONARY_AT < end ? (bytes[begin + DICTIONARY_AT] as number) : 0;
}

/** Reads the record between `begin` and `end`. Throws DamagedRecordError if the header is invalid. */
export function readPackedFormat(bytes: Uint8Array, begin = 0, end = bytes.length): PackedRecord {
  const plainAt = begin + HEADER_BYTES;
  const plainBytes = varint(bytes, plainAt, end);
  const shortAt = behindVarint(bytes, plainAt, end);
  const shortBytes = varint(bytes, shortAt, end);
  const plainBegin = behindVarint(bytes, shortAt, end);
  const fieldsBegin = plainBegin + plainBytes;
  if (fieldsBegin > end || plainBytes > shortBytes) {
    throw new DamagedRecordError('a record is shorter than its header says');
  }
  return { dictionary: dictionaryOf(bytes, begin, end), plainBegin, fieldsBegin, shortBytes };
}
