/**
 * The parts of a stored record that answers are made of: written in the order and form of responses, without parsing.
 * The two formats are `first-format.ts` and `short-format.ts`.
 */
import type { StoredRecord } from './types.js';

export class DamagedRecordError extends Error {
  override readonly name = 'DamagedRecordError';
}

/** Receives the fragments of a record. */
export interface FragmentWriter {
  /** Only characters below U+0080. */
  ascii(text: string): void;
  bytes(bytes: Uint8Array, begin: number, end: number): void;
  /** Writes the 36 characters of the UUID in the 16 bytes from `begin` on. */
  uuid(bytes: Uint8Array, begin: number): void;
}

/** Position of a record in the bytes that were read. Views are valid as long as these. */
export abstract class RecordParts {
  constructor(
    readonly bytes: Uint8Array,
    readonly begin: number,
    /** Beginning of the fields, `{…}`, which extend to the end. */
    readonly fieldsBegin: number,
    readonly end: number,
  ) {}

  /** `"id":"…","name":"…"` */
  abstract writeHead(writer: FragmentWriter): void;
  /** `"as_of":"…"`, followed by the source if there is one. */
  abstract writeAsOf(writer: FragmentWriter): void;
  /** `"created_utc":"…","modified_utc":"…"` */
  abstract writeTimes(writer: FragmentWriter): void;
  /** The name as a JSON string. */
  abstract readonly nameJson: Uint8Array;
  abstract readonly createdMs: number;
  abstract readonly modifiedMs: number;
  /** Bytes of the record as a member of a response, with all its fields. */
  abstract readonly resourceBytes: number;
  /** Throws DamagedRecordError if a part is not JSON. */
  abstract stored(): StoredRecord;
  /** Returns the same record in other bytes, to which it was copied at `begin`. */
  abstract copiedTo(bytes: Uint8Array, begin: number): RecordParts;

  get name(): string {
    return parseFragment(textOf(this.nameJson)) as string;
  }

  /** View of the fields, `{…}`. */
  get fields(): Uint8Array {
    return this.bytes.subarray(this.fieldsBegin, this.end);
  }

  get fieldsJson(): string {
    return bufferOf(this.bytes).toString('utf8', this.fieldsBegin, this.end);
  }
}

/** Returns a Buffer that shares the memory. */
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
