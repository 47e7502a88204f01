/**
 * A record as clients write it, taken apart. Two forms, the same rule everywhere:
 *   flat     {"name": "a", "title": "…", "id": 7}        every member but `name` is a field, `id` too
 *   wrapped  {"name": "a", "fields": {…}, "as_of": "…", "vector": […]}  exactly these members (or `vectors`), `fields` being an object
 */
import { RECORD_NAME_CHARACTERS_MAX, ServiceError } from '../platform/index.js';
import { parseDate } from '../fields/index.js';
import { readGivenVectors, type GivenVectors } from './record-vectors.js';

export interface RecordInput {
  readonly name: string | undefined;
  readonly fields: Readonly<Record<string, unknown>>;
  /** The fields object still has the record's `name` in it, which is no field. */
  readonly flat: boolean;
  /** Milliseconds since 1970. */
  readonly asOfMs: number | undefined;
  /** Undefined: the record says nothing of vectors. */
  readonly vectors: GivenVectors | undefined;
}

const WRAPPED_MEMBERS: ReadonlySet<string> = new Set(['name', 'fields', 'as_of', 'vector', 'vectors']);

/** Throws `invalid-record`. */
export function readRecordInput(value: unknown): RecordInput {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidRecord(undefined, 'A record is a JSON object.');
  }
  const record = value as Record<string, unknown>;
  const name = validName(record['name']);
  const fields = record['fields'];
  if (isPlainObject(fields) && Object.keys(record).every((member) => WRAPPED_MEMBERS.has(member))) {
    return { name, fields, flat: false, asOfMs: validAsOf(record['as_of']), vectors: readGivenVectors(record) };
  }
  return { name, fields: record, flat: true, asOfMs: undefined, vectors: undefined };
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The name as it is stored, or undefined where there is none. Throws `invalid-record`. */
export function validName(name: unknown): string | undefined {
  if (name === undefined || name === null) return undefined;
  if (typeof name !== 'string') throw invalidRecord('name', 'The name of a record is a string.');
  if (name.length === 0 || name.length > RECORD_NAME_CHARACTERS_MAX) {
    // Code points are counted only where counting units says that it may matter.
    const characters = name.length > 2 * RECORD_NAME_CHARACTERS_MAX ? 'more' : Array.from(name).length;
    if (characters === 0 || characters === 'more' || characters > RECORD_NAME_CHARACTERS_MAX) {
      throw invalidRecord(
        'name',
        `The name of a record has 1 to ${RECORD_NAME_CHARACTERS_MAX} characters, not ${characters}.`,
      );
    }
  }
  if (/\p{Surrogate}/u.test(name)) throw invalidRecord('name', 'The name of a record is well-formed Unicode.');
  return name;
}

/** Milliseconds since 1970, or undefined where there is none. Throws `invalid-record`. */
export function validAsOf(asOf: unknown): number | undefined {
  if (asOf === undefined || asOf === null) return undefined;
  const milliseconds = typeof asOf === 'string' ? parseDate(asOf) : undefined;
  if (milliseconds === undefined) {
    throw invalidRecord('as_of', 'as_of is an ISO 8601 date, or a date-time with a zone.');
  }
  return milliseconds;
}

/** `member`: `name`, `as_of` or `fields/<field>`. */
export function invalidRecord(member: string | undefined, detail: string): ServiceError {
  return new ServiceError('invalid-record', detail, {
    errors: [{ pointer: member === undefined ? '' : `/${member}`, detail }],
  });
}
