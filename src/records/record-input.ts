/**
 * A record as clients write it, taken apart. Two forms, the same rule everywhere:
 *   flat     {"name": "a", "title": "…", "id": 7}        every member but `name` is a field, `id` too
 *   wrapped  {"name": "a", "fields": {…}, "as_of": "…", "vector": […]}  exactly these members (or `vectors`), `fields` being an object;
 *            beside them, what the service says of a record, so that one can be sent back as it was read
 */
import { didYouMean, ERROR_VALUE_CHARACTERS_MAX, RECORD_NAME_CHARACTERS_MAX, ServiceError } from '../platform/index.js';
import { isPoint, parseDate } from '../fields/index.js';
import { readGivenVectors, type GivenVectors } from './record-vectors.js';

export interface RecordInput {
  /** Of the record that was read and is sent back. */
  readonly id?: string;
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
/** What the service makes of a record: strings, and left as they are where a client sends them back. */
const READ_ONLY_MEMBERS: ReadonlySet<string> = new Set(['id', 'source', 'created_utc', 'modified_utc']);
const RECORD_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Throws `invalid-record`. */
export function readRecordInput(value: unknown): RecordInput {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidRecord(undefined, 'A record is a JSON object.');
  }
  const record = value as Record<string, unknown>;
  const name = validName(record['name']);
  const fields = record['fields'];
  if (isPlainObject(fields)) {
    const stray = Object.keys(record).find((member) => !isOfWrapped(member, record));
    if (stray === undefined) {
      const asOfMs = validAsOf(record['as_of']);
      return { ...validId(record['id']), name, fields, flat: false, asOfMs, vectors: readGivenVectors(record) };
    }
    // A flat record may have a point that is called so; any other object is no value of a field.
    if (!isPoint(fields)) throw strayMember(stray);
  }
  return { name, fields: record, flat: true, asOfMs: undefined, vectors: undefined };
}

function isOfWrapped(member: string, record: Readonly<Record<string, unknown>>): boolean {
  return WRAPPED_MEMBERS.has(member) || (READ_ONLY_MEMBERS.has(member) && typeof record[member] === 'string');
}

/** An id that a client has made would be lost without a word. Throws `invalid-record`. */
function validId(id: unknown): { readonly id?: string } {
  if (typeof id !== 'string') return {};
  if (RECORD_ID.test(id)) return { id };
  throw invalidRecord('id', 'The id of a record is made by the service: leave it out, and use name as your key.');
}

function strayMember(member: string): ServiceError {
  if (READ_ONLY_MEMBERS.has(member)) return invalidRecord(member, `${member} is made by the service, and is a string.`);
  const meant = didYouMean(member, [...WRAPPED_MEMBERS]);
  const known = "Beside 'fields' a record has name, as_of, vector and vectors; its other members belong into 'fields'.";
  return invalidRecord(member, `Unknown member '${member.slice(0, ERROR_VALUE_CHARACTERS_MAX)}'.${meant} ${known}`);
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
