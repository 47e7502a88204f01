/**
 * Codec of stored records. The first byte is the format: 2 (`short-format.ts`), or 1 (`first-format.ts`), in which
 * earlier releases wrote. Both can be read, and a record in the first is rewritten when it changes. Code outside these
 * files does not know the layout. Records in format 3 (`packed-format.ts`) are unpacked by the store when it reads
 * them; one that arrives here could not be unpacked.
 */
import { encodeFirstFormat, FIRST_FORMAT, idOfFirstFormat, readFirstFormat } from './first-format.js';
import { isoTime } from './iso-time.js';
import { PACKED_FORMAT, readPackedFormat } from './packed-format.js';
import { DamagedRecordError, parseFragment, type RecordParts } from './record-parts.js';
import { RecordRoom } from './record-room.js';
import { idOfShortFormat, readShortFormat, SHORT_FORMAT, writeShortFormat } from './short-format.js';
import type { FieldValue, RecordResource, StoredRecord } from './types.js';

/** UUIDv7, the form of the ids that the service assigns. */
const ID_PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u;

export function encodeRecord(record: StoredRecord): Buffer {
  const room = new RecordRoom();
  if (writeShortFormat(record, room) === undefined) return encodeFirstFormat(record);
  return room.buffer.subarray(0, room.length);
}

/** Throws DamagedRecordError if the bytes were not written by encodeRecord. */
export function readRecordParts(bytes: Uint8Array): RecordParts {
  return readFormat(bytes);
}

/** Stands for a record that cannot be read. */
export class DamagedRecord {
  constructor(
    /** Undefined if the id cannot be read either. */
    readonly id: string | undefined,
    readonly reason: string,
  ) {}
}

/**
 * As `readRecordParts`, but returns a DamagedRecord instead of throwing, and reads the record that lies between `begin`
 * and `end`.
 */
export function readRecord(bytes: Uint8Array, begin = 0, end = bytes.length): RecordParts | DamagedRecord {
  try {
    // No view of the record is made in this format, which nearly all have: it costs more than everything else here.
    if (begin < end && bytes[begin] === SHORT_FORMAT) return readShortFormat(bytes, begin, end);
    return readFormat(bytes.subarray(begin, end)).copiedTo(bytes, begin);
  } catch (error) {
    if (!(error instanceof DamagedRecordError)) throw error;
    return new DamagedRecord(storedIdOf(bytes.subarray(begin, end)), error.message);
  }
}

function readFormat(bytes: Uint8Array) {
  if (bytes[0] === SHORT_FORMAT) return readShortFormat(bytes);
  if (bytes[0] === FIRST_FORMAT) return readFirstFormat(bytes);
  if (bytes[0] === PACKED_FORMAT) throw new DamagedRecordError('the packed fields of a record cannot be read');
  throw new DamagedRecordError('unknown record format');
}

/** Throws DamagedRecordError, as `readRecordParts` does. */
export function decodeRecord(bytes: Uint8Array): StoredRecord {
  return readFormat(bytes).stored();
}

/**
 * Returns a test whether a stored record came from this source, which reads no more of it than necessary. False for a
 * damaged record.
 */
export function sourceTest(source: string): (bytes: Uint8Array) => boolean {
  return (bytes) => {
    try {
      return readFormat(bytes).isOfSource(source);
    } catch (error) {
      if (error instanceof DamagedRecordError) return false;
      throw error;
    }
  };
}

/**
 * Returns the fragments of a record and its id, after checking that all of them are valid JSON. Throws
 * DamagedRecordError if an answer spliced from them would be invalid.
 */
export function readWholeRecord(bytes: Uint8Array): { readonly id: string; readonly parts: RecordParts } {
  const parts = readFormat(bytes);
  const { id, name, fieldsJson } = parts.stored();
  const fields = parseFragment(fieldsJson);
  if (typeof id !== 'string' || typeof name !== 'string' || !isObject(fields)) {
    throw new DamagedRecordError('a fragment of a record is not what it should be');
  }
  return { id, parts };
}

/** Returns the size of a record in a response; for a damaged one, the size of its bytes. */
export function resourceBytesOf(bytes: Uint8Array): number {
  try {
    return readFormat(bytes).resourceBytes;
  } catch (error) {
    if (error instanceof DamagedRecordError) return bytes.length;
    throw error;
  }
}

/** Returns the id of a record, even if the rest cannot be read; undefined if the id cannot be read either. */
export function storedIdOf(bytes: Uint8Array): string | undefined {
  const id = idOfFirstFormat(bytes);
  if (id !== undefined || bytes[0] === FIRST_FORMAT) return id;
  const short = idOfShortFormat(plainPartOf(bytes));
  return short !== undefined && ID_PATTERN.test(short) ? short : undefined;
}

/** Returns the unpacked part of a packed record; all of another one. */
function plainPartOf(bytes: Uint8Array): Uint8Array {
  if (bytes[0] !== PACKED_FORMAT) return bytes;
  try {
    const { plainBegin, fieldsBegin } = readPackedFormat(bytes);
    return bytes.subarray(plainBegin, fieldsBegin);
  } catch (error) {
    if (error instanceof DamagedRecordError) return new Uint8Array();
    throw error;
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Parses the fields of a stored record into an object with own members only. */
export function parseFields(fieldsJson: string): Record<string, FieldValue> {
  return parseFragment(fieldsJson) as Record<string, FieldValue>;
}

export function recordResource(record: StoredRecord): RecordResource {
  return {
    id: record.id,
    name: record.name,
    fields: parseFields(record.fieldsJson),
    as_of: record.asOf,
    ...(record.source === undefined ? {} : { source: record.source }),
    created_utc: isoTime(record.createdMs),
    modified_utc: isoTime(record.modifiedMs),
  };
}
