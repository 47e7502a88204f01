/**
 * Format 1 of a stored record: a fixed header and JSON fragments in the form that responses have.
 *
 *   offset  bytes
 *        0  u8   format (1)
 *        1  u8   flags: 1 = the name was made from the id
 *        2  u16  bytes of the as_of fragment
 *        4  u32  bytes of the head fragment
 *        8  f64  created, milliseconds since 1970
 *       16  f64  modified, milliseconds since 1970
 *       24  head     "id":"…","name":"…"
 *           as_of    "as_of":"…", followed by ,"source":"…" for a record that came from a source
 *           times    "created_utc":"…","modified_utc":"…"   (always TIMES_BYTES: both are ISO with milliseconds)
 *           fields   {…}                                      (to the end; facet values are arrays)
 *
 * Little-endian. Earlier releases wrote all records in this format; now it is used for the few that the short format
 * cannot hold. Pure functions over bytes that the caller owns.
 */
import { isoTime } from './iso-time.js';
import { bufferOf, DamagedRecordError, parseFragment, RecordParts, type FragmentWriter } from './record-parts.js';
import type { StoredRecord } from './types.js';

export const FIRST_FORMAT = 1;
const HEADER_BYTES = 24;
const FLAG_NAME_GENERATED = 1;
const CREATED_AT = 8;
const MODIFIED_AT = 16;
const TIMES_BYTES = '"created_utc":"2026-11-21T05:54:00.000Z","modified_utc":"2026-11-21T05:54:00.000Z"'.length;
const FRAME_BYTES = '{,"fields":,,}'.length;
const NAME_MEMBER = Buffer.from('","name":');
const EMPTY_OBJECT_BYTES = 2;
const ID_FRAGMENT = /^"id":"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"/u;
const ID_FRAGMENT_BYTES = 44;

/** Offsets of the fragments from the beginning of the record, and the end of the last one. */
interface Offsets {
  readonly asOf: number;
  readonly times: number;
  readonly fields: number;
  readonly end: number;
}

class FirstParts extends RecordParts {
  constructor(
    bytes: Uint8Array,
    begin: number,
    private readonly at: Offsets,
  ) {
    super(bytes, begin, begin + at.fields, begin + at.end);
  }

  writeHead(writer: FragmentWriter): void {
    writer.bytes(this.bytes, this.begin + HEADER_BYTES, this.begin + this.at.asOf);
  }

  writeAsOf(writer: FragmentWriter): void {
    writer.bytes(this.bytes, this.begin + this.at.asOf, this.begin + this.at.times);
  }

  writeTimes(writer: FragmentWriter): void {
    writer.bytes(this.bytes, this.begin + this.at.times, this.fieldsBegin);
  }

  get nameJson(): Uint8Array {
    const head = bufferOf(this.bytes).subarray(this.begin + HEADER_BYTES, this.begin + this.at.asOf);
    const found = head.indexOf(NAME_MEMBER);
    if (found < 0) throw new DamagedRecordError('a record has no name');
    return head.subarray(found + NAME_MEMBER.length);
  }

  get createdMs(): number {
    return bufferOf(this.bytes).readDoubleLE(this.begin + CREATED_AT);
  }

  get modifiedMs(): number {
    return bufferOf(this.bytes).readDoubleLE(this.begin + MODIFIED_AT);
  }

  get resourceBytes(): number {
    return FRAME_BYTES + this.at.end - HEADER_BYTES;
  }

  stored(): StoredRecord {
    const { begin, at } = this;
    const buffer = bufferOf(this.bytes);
    const head = buffer.toString('utf8', begin + HEADER_BYTES, begin + at.asOf);
    const asOf = buffer.toString('utf8', begin + at.asOf, begin + at.times);
    const times = buffer.toString('utf8', begin + at.times, begin + at.fields);
    const parsed = parseFragment(`{${head},${asOf},${times}}`) as {
      readonly id: string;
      readonly name: string;
      readonly as_of: string;
      readonly source?: string;
    };
    return {
      id: parsed.id,
      name: parsed.name,
      nameGenerated: ((buffer[begin + 1] as number) & FLAG_NAME_GENERATED) !== 0,
      asOf: parsed.as_of,
      ...(parsed.source === undefined ? {} : { source: parsed.source }),
      createdMs: this.createdMs,
      modifiedMs: this.modifiedMs,
      fieldsJson: this.fieldsJson,
    };
  }

  copiedTo(bytes: Uint8Array, begin: number): FirstParts {
    return new FirstParts(bytes, begin, this.at);
  }

  isOfSource(source: string): boolean {
    const member = Buffer.from(sourceMember(source));
    const end = this.begin + this.at.times;
    return member.equals(this.bytes.subarray(Math.max(this.begin + HEADER_BYTES, end - member.length), end));
  }
}

/** The id and the times never need escaping in JSON. */
export function encodeFirstFormat(record: StoredRecord): Buffer {
  const head = `"id":"${record.id}","name":${JSON.stringify(record.name)}`;
  const asOf = `"as_of":"${record.asOf}"${sourceMember(record.source)}`;
  const created = isoTime(record.createdMs);
  const modified = isoTime(record.modifiedMs);
  const text = `${head}${asOf}"created_utc":"${created}","modified_utc":"${modified}"${record.fieldsJson}`;
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + Buffer.byteLength(text));
  bytes[0] = FIRST_FORMAT;
  bytes[1] = record.nameGenerated ? FLAG_NAME_GENERATED : 0;
  bytes.writeUInt16LE(Buffer.byteLength(asOf), 2);
  bytes.writeUInt32LE(Buffer.byteLength(head), 4);
  bytes.writeDoubleLE(record.createdMs, CREATED_AT);
  bytes.writeDoubleLE(record.modifiedMs, MODIFIED_AT);
  bytes.write(text, HEADER_BYTES, 'utf8');
  return bytes;
}

function sourceMember(source: string | undefined): string {
  return source === undefined ? '' : `,"source":${JSON.stringify(source)}`;
}

/** Throws DamagedRecordError if the lengths of the fragments do not match the bytes. */
export function readFirstFormat(bytes: Uint8Array): FirstParts {
  if (bytes.length < HEADER_BYTES) throw new DamagedRecordError('a record is shorter than its header');
  const buffer = bufferOf(bytes);
  const asOf = HEADER_BYTES + buffer.readUInt32LE(4);
  const times = asOf + buffer.readUInt16LE(2);
  const fields = times + TIMES_BYTES;
  if (fields + EMPTY_OBJECT_BYTES > bytes.length) {
    throw new DamagedRecordError('a record is shorter than its header says');
  }
  return new FirstParts(bytes, 0, { asOf, times, fields, end: bytes.length });
}

/** Returns the id of a record, even if the rest cannot be read; undefined if the id cannot be read either. */
export function idOfFirstFormat(bytes: Uint8Array): string | undefined {
  const begin = bufferOf(bytes).toString('latin1', HEADER_BYTES, HEADER_BYTES + ID_FRAGMENT_BYTES);
  return ID_FRAGMENT.exec(begin)?.[1];
}
