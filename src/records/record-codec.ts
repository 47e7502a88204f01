/**
 * The bytes of a stored record: a fixed header and JSON fragments in the form that responses have, so that an answer is
 * spliced from them without parsing.
 *
 *   offset  bytes
 *        0  u8   format (1)
 *        1  u8   flags: 1 = the name was made from the id
 *        2  u16  bytes of the as_of fragment
 *        4  u32  bytes of the head fragment
 *        8  f64  created, milliseconds since 1970
 *       16  f64  modified, milliseconds since 1970
 *       24  head     "id":"…","name":"…"
 *           as_of    "as_of":"…", and of a record that came from a source ,"source":"…"
 *           times    "created_utc":"…","modified_utc":"…"   (always TIMES_BYTES: both are ISO with milliseconds)
 *           fields   {…}                                      (to the end; facet values are arrays)
 *
 * Little-endian. Pure functions over bytes that the caller owns.
 */
import type { FieldValue, RecordResource } from './types.js';

export const RECORD_FORMAT = 1;
export const HEADER_BYTES = 24;
const FLAG_NAME_GENERATED = 1;
const ID_FRAGMENT = /^"id":"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"/u;
const ID_FRAGMENT_BYTES = 44;
const TIMES_BYTES = '"created_utc":"2026-11-21T05:54:00.000Z","modified_utc":"2026-11-21T05:54:00.000Z"'.length;

export interface StoredRecord {
  readonly id: string;
  readonly name: string;
  /** True where the client gave no name and the id took its place. */
  readonly nameGenerated: boolean;
  readonly asOf: string;
  /** What it came from, where something keeps it as its source has it: `feed:news`, `media:default/films.csv`. */
  readonly source?: string | undefined;
  readonly createdMs: number;
  readonly modifiedMs: number;
  /** JSON object of the fields in their final form. */
  readonly fieldsJson: string;
}

/** Where each fragment begins, and the last ends, behind the begin of the first. */
interface FragmentOffsets {
  readonly asOf: number;
  readonly times: number;
  readonly fields: number;
  readonly end: number;
}

/**
 * Where the fragments of a record lie in the bytes that were read. Their places are numbers: an answer copies most fragments once,
 * and a view of each would cost more than its copy.
 */
export class RecordParts {
  constructor(
    readonly bytes: Uint8Array,
    readonly headBegin: number,
    private readonly from: FragmentOffsets,
  ) {}

  get asOfBegin(): number {
    return this.headBegin + this.from.asOf;
  }

  get timesBegin(): number {
    return this.headBegin + this.from.times;
  }

  get fieldsBegin(): number {
    return this.headBegin + this.from.fields;
  }

  get end(): number {
    return this.headBegin + this.from.end;
  }

  /** `"id":"…","name":"…"`; a view, like the others. */
  get head(): Uint8Array {
    return this.bytes.subarray(this.headBegin, this.asOfBegin);
  }

  /** `"as_of":"…"`, and the source behind it where there is one. */
  get asOf(): Uint8Array {
    return this.bytes.subarray(this.asOfBegin, this.timesBegin);
  }

  /** `"created_utc":"…","modified_utc":"…"` */
  get times(): Uint8Array {
    return this.bytes.subarray(this.timesBegin, this.fieldsBegin);
  }

  /** `{…}` */
  get fields(): Uint8Array {
    return this.bytes.subarray(this.fieldsBegin, this.end);
  }

  get fieldsJson(): string {
    const { bytes } = this;
    return (Buffer.isBuffer(bytes) ? bytes : view(bytes)).toString('utf8', this.fieldsBegin, this.end);
  }

  /** The same record in other bytes, where all from `headBegin` on was copied to `begin`. */
  copiedTo(bytes: Uint8Array, begin: number): RecordParts {
    return new RecordParts(bytes, begin, this.from);
  }
}

export class DamagedRecordError extends Error {
  override readonly name = 'DamagedRecordError';
}

/** Records of one commit share their times, so the last one is kept. */
let lastIsoMs = Number.NaN;
let lastIso = '';

/** ISO 8601 with milliseconds; years outside 0000..9999, whose form is longer, never occur as times of a record. */
export function isoTime(milliseconds: number): string {
  if (milliseconds !== lastIsoMs) {
    lastIso = new Date(milliseconds).toISOString();
    lastIsoMs = milliseconds;
  }
  return lastIso;
}

/** The id and the times are of a form that needs no escaping in JSON. */
export function encodeRecord(record: StoredRecord): Buffer {
  const head = `"id":"${record.id}","name":${JSON.stringify(record.name)}`;
  const asOf = `"as_of":"${record.asOf}"${sourceMember(record.source)}`;
  const created = isoTime(record.createdMs);
  const modified = isoTime(record.modifiedMs);
  const text = `${head}${asOf}"created_utc":"${created}","modified_utc":"${modified}"${record.fieldsJson}`;
  const textBytes = Buffer.byteLength(text);
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + textBytes);
  bytes[0] = RECORD_FORMAT;
  bytes[1] = record.nameGenerated ? FLAG_NAME_GENERATED : 0;
  bytes.writeUInt16LE(textBytes === text.length ? asOf.length : Buffer.byteLength(asOf), 2);
  bytes.writeUInt32LE(textBytes === text.length ? head.length : Buffer.byteLength(head), 4);
  bytes.writeDoubleLE(record.createdMs, 8);
  bytes.writeDoubleLE(record.modifiedMs, 16);
  bytes.write(text, HEADER_BYTES, textBytes === text.length ? 'latin1' : 'utf8');
  return bytes;
}

function sourceMember(source: string | undefined): string {
  return source === undefined ? '' : `,"source":${JSON.stringify(source)}`;
}

/** A test of stored records for having come from this source; it reads no more of them than it has to. False for a damaged one. */
export function sourceTest(source: string): (bytes: Uint8Array) => boolean {
  const member = Buffer.from(sourceMember(source));
  return (bytes) => {
    try {
      const { timesBegin } = readRecordParts(bytes);
      return member.equals(bytes.subarray(Math.max(HEADER_BYTES, timesBegin - member.length), timesBegin));
    } catch (error) {
      if (error instanceof DamagedRecordError) return false;
      throw error;
    }
  };
}

/** Throws DamagedRecordError where the bytes are not what encodeRecord makes. */
export function readRecordParts(bytes: Uint8Array): RecordParts {
  return new RecordParts(bytes, HEADER_BYTES, offsets(bytes));
}

/** The head begins at HEADER_BYTES, and the fields end with the bytes. */
function offsets(bytes: Uint8Array): FragmentOffsets {
  if (bytes.length < HEADER_BYTES || bytes[0] !== RECORD_FORMAT) throw new DamagedRecordError('unknown record format');
  const asOfBytes = (bytes[2] as number) | ((bytes[3] as number) << 8);
  const headBytes =
    ((bytes[4] as number) |
      ((bytes[5] as number) << 8) |
      ((bytes[6] as number) << 16) |
      ((bytes[7] as number) << 24)) >>>
    0;
  const times = headBytes + asOfBytes;
  const fields = times + TIMES_BYTES;
  const end = bytes.length - HEADER_BYTES;
  if (fields + 2 > end) throw new DamagedRecordError('a record is shorter than its header says');
  return { asOf: headBytes, times, fields, end };
}

/**
 * The fragments of a record, of which all are JSON and belong together, and its id. Throws DamagedRecordError where an answer that is
 * spliced from them would be none.
 */
export function readWholeRecord(bytes: Uint8Array): { readonly id: string; readonly parts: RecordParts } {
  const parts = readRecordParts(bytes);
  const { asOfBegin, timesBegin, fieldsBegin } = parts;
  const buffer = view(bytes);
  const text = (begin: number, end: number) => buffer.toString('utf8', begin, end);
  const asOf = timesBegin > asOfBegin ? `,${text(asOfBegin, timesBegin)}` : '';
  const about = `{${text(HEADER_BYTES, asOfBegin)}${asOf},${text(timesBegin, fieldsBegin)}}`;
  const { id, name } = parseFragment(about) as { readonly id?: unknown; readonly name?: unknown };
  const fields = parseFragment(text(fieldsBegin, buffer.length));
  if (typeof id !== 'string' || typeof name !== 'string' || !isObject(fields)) {
    throw new DamagedRecordError('a fragment of a record is not what it should be');
  }
  return { id, parts };
}

/** The id of a record of which nothing else may be readable; undefined where it is not either. */
export function storedIdOf(bytes: Uint8Array): string | undefined {
  const begin = view(bytes).toString('latin1', HEADER_BYTES, HEADER_BYTES + ID_FRAGMENT_BYTES);
  return ID_FRAGMENT.exec(begin)?.[1];
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function view(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

export function decodeRecord(bytes: Uint8Array): StoredRecord {
  const { asOfBegin, timesBegin, fieldsBegin } = readRecordParts(bytes);
  const buffer = view(bytes);
  const text = `{${buffer.toString('utf8', HEADER_BYTES, asOfBegin)},${buffer.toString('utf8', asOfBegin, timesBegin)}}`;
  const parsed = parseFragment(text) as {
    readonly id: string;
    readonly name: string;
    readonly as_of: string;
    readonly source?: string;
  };
  return {
    id: parsed.id,
    name: parsed.name,
    nameGenerated: ((bytes[1] as number) & FLAG_NAME_GENERATED) !== 0,
    asOf: parsed.as_of,
    ...(parsed.source === undefined ? {} : { source: parsed.source }),
    createdMs: buffer.readDoubleLE(8),
    modifiedMs: buffer.readDoubleLE(16),
    fieldsJson: buffer.toString('utf8', fieldsBegin, buffer.length),
  };
}

function parseFragment(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new DamagedRecordError('a fragment of a record is not JSON', { cause: error });
  }
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
