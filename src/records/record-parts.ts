/**
 * A stored record as an answer takes it: what its bytes have, written in the order and form that responses have, without parsing. The two
 * formats of these bytes are `first-format.ts` and `short-format.ts`.
 */
import type { StoredRecord } from './types.js';

export class DamagedRecordError extends Error {
  override readonly name = 'DamagedRecordError';
}

/** What the fragments of a record are written to. */
export interface FragmentWriter {
  /** Characters below U+0080 only. */
  ascii(text: string): void;
  bytes(bytes: Uint8Array, begin: number, end: number): void;
  /** The 36 characters of the 16 bytes from `begin` on. */
  uuid(bytes: Uint8Array, begin: number): void;
}

/** Where a record lies in the bytes that were read. Views are good as long as these are. */
export abstract class RecordParts {
  constructor(
    readonly bytes: Uint8Array,
    readonly begin: number,
    /** `{…}`, from here to the end. */
    readonly fieldsBegin: number,
    readonly end: number,
  ) {}

  /** `"id":"…","name":"…"` */
  abstract writeHead(writer: FragmentWriter): void;
  /** `"as_of":"…"`, and the source behind it where there is one. */
  abstract writeAsOf(writer: FragmentWriter): void;
  /** `"created_utc":"…","modified_utc":"…"` */
  abstract writeTimes(writer: FragmentWriter): void;
  /** The name as a JSON string. */
  abstract readonly nameJson: Uint8Array;
  abstract readonly createdMs: number;
  abstract readonly modifiedMs: number;
  /** Of the record as a member of a response, with all of its fields. */
  abstract readonly resourceBytes: number;
  /** Throws DamagedRecordError where a part is no JSON. */
  abstract stored(): StoredRecord;
  /** The same record in other bytes, where all of it was copied to `begin`. */
  abstract copiedTo(bytes: Uint8Array, begin: number): RecordParts;

  get name(): string {
    return parseFragment(textOf(this.nameJson)) as string;
  }

  /** `{…}`; a view. */
  get fields(): Uint8Array {
    return this.bytes.subarray(this.fieldsBegin, this.end);
  }

  get fieldsJson(): string {
    return bufferOf(this.bytes).toString('utf8', this.fieldsBegin, this.end);
  }
}

/** The same memory. */
export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

export function textOf(bytes: Uint8Array): string {
  return bufferOf(bytes).toString('utf8');
}

export function parseFragment(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new DamagedRecordError('a fragment of a record is not JSON', { cause: error });
  }
}
