/**
 * Parses a record as clients write it. There are two forms, with the same rule everywhere:
 *   flat     {"name": "a", "title": "…", "id": 7}        every member but `name` is a field, including `id`
 *   wrapped  {"name": "a", "fields": {…}, "as_of": "…", "vector": […]}  exactly these members (or `vectors`), where
 *            `fields` is an object; also the members that the service adds to a record (id, source, created_utc,
 *            modified_utc), so that one can be sent back as it was read
 */
import {
  didYouMean,
  ERROR_VALUE_CHARACTERS_MAX,
  RECORD_NAME_CHARACTERS_MAX,
  recordNumberOf,
  ServiceError,
} from '../platform/index.js';
import { isPoint, parseDate } from '../fields/index.js';
import { isoTime, isTime } from './iso-time.js';
import { readGivenVectors, type GivenVectors } from './record-vectors.js';

export interface RecordInput {
  /** Id of a record that was read and is sent back. */
  readonly id?: string;
  readonly name: string | undefined;
  readonly fields: Readonly<Record<string, unknown>>;
  /** True if the fields object also contains the record's `name`, which is not a field. */
  readonly flat: boolean;
  /** Milliseconds since 1970. */
  readonly asOfMs: number | undefined;
  /** Undefined if the record does not mention vectors. */
  readonly vectors: GivenVectors | undefined;
}

const WRAPPED_MEMBERS: ReadonlySet<string> = new Set(['name', 'fields', 'as_of', 'vector', 'vectors']);
type ReadOnlyMember = 'id' | 'source' | 'created_utc' | 'modified_utc';
interface ReadOnlyForm {
  readonly has: (value: unknown) => boolean;
  readonly words: string;
}
const TIME: ReadOnlyForm = { has: isWrittenTime, words: 'and is a time such as 2026-11-21T05:54:00.000Z' };
/**
 * Members that the service sets. They are ignored if a client sends them back; any other value would be lost silently,
 * so it is refused.
 */
const READ_ONLY_MEMBERS: Readonly<Record<ReadOnlyMember, ReadOnlyForm>> = {
  id: { has: isServiceId, words: 'and is of its own form: leave it out, and use name as your key' },
  source: {
    has: (value) => typeof value === 'string' && SOURCE.test(value),
    words: 'and is feed:<name> or media:<store>/<path>',
  },
  created_utc: TIME,
  modified_utc: TIME,
};
const SOURCE = /^(?:feed:[^/]+|media:[^/]+\/.+)$/su;

/** Throws `invalid-record`. */
export function readRecordInput(value: unknown): RecordInput {
  if (Array.isArray(value)) throw ARRAY;
  if (typeof value !== 'object' || value === null) throw NO_OBJECT;
  const record = value as Record<string, unknown>;
  const name = validName(record['name']);
  const fields = record['fields'];
  if (isPlainObject(fields) && isWrapped(record, fields)) {
    const asOfMs = validAsOf(record['as_of']);
    return { ...readId(record), name, fields, flat: false, asOfMs, vectors: readGivenVectors(record) };
  }
  return { name, fields: record, flat: true, asOfMs: undefined, vectors: undefined };
}

/**
 * True for the wrapped form. Throws `invalid-record` if it is neither form: an object that is not a point cannot be the
 * value of a field.
 */
function isWrapped(record: Readonly<Record<string, unknown>>, fields: unknown): boolean {
  const beside = Object.keys(record).filter((member) => !WRAPPED_MEMBERS.has(member));
  if (beside.length === 0) return true;
  if (isPoint(fields) && !isAsRead(record)) return false;
  for (const member of beside) {
    if (!isReadOnly(member)) throw strayMember(member);
    const { has, words } = READ_ONLY_MEMBERS[member];
    if (!has(record[member])) throw invalidRecord(member, `The ${member} of a record is made by the service ${words}.`);
  }
  return true;
}

/**
 * True if the record has everything that the service adds to each record. A flat record may have a point called
 * `fields`, and a field `id` or `source`.
 */
function isAsRead({ id, created_utc, modified_utc }: Readonly<Record<string, unknown>>): boolean {
  return isServiceId(id) && created_utc !== undefined && modified_utc !== undefined;
}

function isReadOnly(member: string): member is ReadOnlyMember {
  return Object.hasOwn(READ_ONLY_MEMBERS, member);
}

function isServiceId(value: unknown): value is string {
  return typeof value === 'string' && recordNumberOf(value) !== undefined;
}

function isWrittenTime(value: unknown): boolean {
  const milliseconds = typeof value === 'string' ? parseDate(value) : undefined;
  return milliseconds !== undefined && isTime(milliseconds) && isoTime(milliseconds) === value;
}

function readId({ id }: Readonly<Record<string, unknown>>): { readonly id?: string } {
  return isServiceId(id) ? { id } : {};
}

function strayMember(member: string): ServiceError {
  const meant = didYouMean(member, [...WRAPPED_MEMBERS]);
  const known = "Beside 'fields' a record has name, as_of, vector and vectors; its other members belong into 'fields'.";
  return invalidRecord(member, `Unknown member '${member.slice(0, ERROR_VALUE_CHARACTERS_MAX)}'.${meant} ${known}`);
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the name to be stored; undefined if there is none. Throws `invalid-record`. */
export function validName(name: unknown): string | undefined {
  if (name === undefined || name === null) return undefined;
  if (typeof name !== 'string') throw invalidRecord('name', 'The name of a record is a string.');
  if (name.length === 0 || name.length > RECORD_NAME_CHARACTERS_MAX) {
    // Code points are counted only if the number of units does not decide it.
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

/** Returns milliseconds since 1970; undefined if there is none. Throws `invalid-record`. */
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

/** Created once: creating an error takes longer than reading a short line, and every line of an import may need it. */
const NO_OBJECT = invalidRecord(undefined, 'A record is a JSON object.');
const ARRAY = invalidRecord(
  undefined,
  'A record is a JSON object, not an array. The body of a bulk call that is one array of records has the content type application/json.',
);
