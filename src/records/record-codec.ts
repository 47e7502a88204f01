/**
 * The bytes of a stored record, whose first is their format: 2 (`short-format.ts`), or 1 (`first-format.ts`), in which earlier releases
 * wrote. Both are read side by side, and a record of the first is rewritten when it changes. Nothing outside of these files knows where in
 * the bytes what is. Those of format 3 (`packed-format.ts`) are read by the store, which unpacks them; here they are what could not be unpacked.
 */
import { encodeFirstFormat, FIRST_FORMAT, idOfFirstFormat, readFirstFormat } from './first-format.js';
import { isoTime } from './iso-time.js';
import { PACKED_FORMAT, readPackedFormat } from './packed-format.js';
import { DamagedRecordError, parseFragment, textOf, type RecordParts } from './record-parts.js';
import { RecordRoom } from './record-room.js';
import { idOfShortFormat, readShortFormat, SHORT_FORMAT, writeShortFormat } from './short-format.js';
import type { FieldValue, RecordResource, StoredRecord } from './types.js';

/** Of a UUIDv7, as the service gives ids. */
const ID_PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u;

export function encodeRecord(record: StoredRecord): Buffer {
  const room = new RecordRoom();
  if (writeShortFormat(record, room) === undefined) return encodeFirstFormat(record);
  return room.buffer.subarray(0, room.length);
}

/** Throws DamagedRecordError where the bytes are not what encodeRecord makes. */
export function readRecordParts(bytes: Uint8Array): RecordParts {
  return readFormat(bytes);
}

/** In the place of a record that cannot be read. */
export class DamagedRecord {
  constructor(
    /** Undefined where it cannot be read either. */
    readonly id: string | undefined,
    readonly reason: string,
  ) {}
}

/** The same, or what is to be told of one that is damaged. */
export function readRecord(bytes: Uint8Array): RecordParts | DamagedRecord {
  try {
    return readFormat(bytes);
  } catch (error) {
    if (error instanceof DamagedRecordError) return new DamagedRecord(storedIdOf(bytes), error.message);
    throw error;
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

/** A test of stored records for having come from this source; it reads no more of them than it has to. False for a damaged one. */
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
 * The fragments of a record, of which all are JSON and belong together, and its id. Throws DamagedRecordError where an answer that is
 * spliced from them would be none.
 */
export function readWholeRecord(bytes: Uint8Array): { readonly id: string; readonly parts: RecordParts } {
  const parts = readFormat(bytes);
  const { id, name } = parts.stored();
  const fields = parseFragment(textOf(parts.fields));
  if (typeof id !== 'string' || typeof name !== 'string' || !isObject(fields)) {
    throw new DamagedRecordError('a fragment of a record is not what it should be');
  }
  return { id, parts };
}

/** How long a record is in a response; of a damaged one, how long its bytes are. */
export function resourceBytesOf(bytes: Uint8Array): number {
  try {
    return readFormat(bytes).resourceBytes;
  } catch (error) {
    if (error instanceof DamagedRecordError) return bytes.length;
    throw error;
  }
}

/** The id of a record of which nothing else may be readable; undefined where it is not either. */
export function storedIdOf(bytes: Uint8Array): string | undefined {
  const id = idOfFirstFormat(bytes);
  if (id !== undefined || bytes[0] === FIRST_FORMAT) return id;
  const short = idOfShortFormat(plainPartOf(bytes));
  return short !== undefined && ID_PATTERN.test(short) ? short : undefined;
}

/** Of a packed record, what stands as it is; of another one, all. */
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

/** The fields of a stored record as an object with no prototype surprises: own members only. */
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
