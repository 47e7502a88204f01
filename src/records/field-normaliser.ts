/**
 * Checks the fields of a record against a definition and converts them to the form in which they are stored and
 * returned: facet values as arrays, nulls and empty arrays left out.
 *
 * Strict for values from clients: the first value that does not fit is an error that names its field. Lenient for
 * building a version from records that were valid under another definition: a facet value is converted from its text if
 * that loses nothing. A value that cannot be converted (or several values of a Single facet) stays in the record
 * unchanged, is not indexed, and is counted. Keeps no state between records except these counts.
 */
import type { Facet, FieldDefinition } from '../catalog/index.js';
import { fieldKind, isPoint } from '../fields/index.js';
import {
  didYouMean,
  ERROR_VALUE_CHARACTERS_MAX,
  FIELD_NAME_CHARACTERS_MAX,
  isLongInteger,
  type ServiceError,
} from '../platform/index.js';
import { invalidRecord } from './record-input.js';
import type { FieldValue } from './types.js';

type Scalar = string | number | boolean;

interface FieldRole {
  readonly facet: Facet | undefined;
  readonly searchable: boolean;
  readonly resource: boolean;
  readonly location: boolean;
}
const NO_ROLE: FieldRole = { facet: undefined, searchable: false, resource: false, location: false };

export interface NormaliserOptions {
  /** Definition under which the records were valid; makes the normaliser lenient. */
  readonly from?: FieldDefinition;
  /** Renamed fields: `{old: new}`. */
  readonly renames?: Readonly<Record<string, string>>;
}

export class FieldNormaliser {
  /** Number of records per field whose value was kept unindexed so far; lenient only. */
  readonly unfit = new Map<string, number>();
  private readonly roles = new Map<string, FieldRole>();
  private readonly renames: ReadonlyMap<string, string>;
  /** Facets of the previous definition, by their previous names. */
  private readonly facetsBefore: ReadonlySet<string>;

  constructor(
    readonly definition: FieldDefinition,
    private readonly options: NormaliserOptions = {},
  ) {
    this.renames = new Map(Object.entries(options.renames ?? {}));
    this.facetsBefore = new Set(options.from?.facets.map(({ name }) => name));
    const extend = (name: string, role: Partial<FieldRole>) => {
      this.roles.set(name, { ...(this.roles.get(name) ?? NO_ROLE), ...role });
    };
    // The searchable field `name` is the record's name, so a field of that name is not searchable.
    for (const field of definition.searchable_fields)
      if (field.name !== 'name') extend(field.name, { searchable: true });
    for (const facet of definition.facets) extend(facet.name, { facet });
    for (const resource of definition.resources) extend(resource.name, { resource: true });
    if (definition.location_field !== null) extend(definition.location_field, { location: true });
  }

  /**
   * Returns the fields in their final form. `flat`: the object also contains the record's `name`, which is not a field.
   * Throws `invalid-record` unless lenient.
   */
  normalise(fields: Readonly<Record<string, unknown>>, flat: boolean): Record<string, FieldValue> {
    const result: Record<string, FieldValue> = {};
    for (const given in fields) {
      if (flat && given === 'name') continue;
      const raw = fields[given];
      if (raw === null || raw === undefined) continue;
      const field = this.renames.size === 0 ? given : this.newNameOf(given, fields);
      if (field === undefined) continue;
      checkFieldName(field);
      const value = this.options.from === undefined ? this.given(field, raw) : this.taken(given, field, raw);
      if (value !== undefined) result[field] = value;
    }
    return result;
  }

  /** Undefined if an undefined field has to give way to one that is renamed to its name. */
  private newNameOf(given: string, fields: Readonly<Record<string, unknown>>): string | undefined {
    const renamed = this.renames.get(given);
    if (renamed !== undefined) return renamed;
    for (const [from, to] of this.renames) if (to === given && (fields[from] ?? null) !== null) return undefined;
    return given;
  }

  private given(field: string, raw: unknown): FieldValue | undefined {
    if (!field.isWellFormed()) throw namelessField(field);
    return normaliseValue(field, raw, this.roles.get(field) ?? NO_ROLE);
  }

  private taken(before: string, field: string, raw: unknown): FieldValue | undefined {
    const role = this.roles.get(field) ?? NO_ROLE;
    try {
      if (role.facet !== undefined) return facetValue(field, asFacetValues(raw, role.facet), role.facet);
      // A single value that was stored as an array because it was a facet becomes a single value again if the field is
      // no longer a facet. The same holds for a link. Other arrays were given by the client.
      const isSingle = Array.isArray(raw) && raw.length === 1 && (role.resource || this.facetsBefore.has(before));
      return normaliseValue(field, isSingle ? (raw[0] as unknown) : raw, role);
    } catch {
      this.unfit.set(field, (this.unfit.get(field) ?? 0) + 1);
      // Values of filterable fields are returned as arrays, whatever they are.
      return (role.facet === undefined || typeof raw === 'object' ? raw : [raw]) as FieldValue;
    }
  }
}

/** Converts values from their text if the facet can read it; others stay unchanged. */
function asFacetValues(raw: unknown, facet: Facet): readonly unknown[] {
  const kind = fieldKind(facet.type);
  const ofText = kind.ofText ?? ((text: string) => kind.ofCell(text));
  const values: readonly unknown[] = Array.isArray(raw) ? raw : [raw];
  return values.map((value) => {
    const hasText = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
    return hasText && kind.columnValue(value) === undefined ? ofText(String(value)) : value;
  });
}

function namelessField(field: string): ServiceError {
  const told = field.toWellFormed();
  return invalidRecord(
    `fields/${told.slice(0, ERROR_VALUE_CHARACTERS_MAX)}`,
    `'${shown(told)}' cannot be the name of a field.`,
  );
}

function checkFieldName(field: string): void {
  if (field === '' || field === '__proto__' || field.length > 2 * FIELD_NAME_CHARACTERS_MAX) {
    throw namelessField(field);
  }
  if (field.length > FIELD_NAME_CHARACTERS_MAX && Array.from(field).length > FIELD_NAME_CHARACTERS_MAX) {
    throw invalidRecord(
      'fields',
      `The name of a field has at most ${FIELD_NAME_CHARACTERS_MAX} characters: '${shown(field)}'.`,
    );
  }
}

function normaliseValue(field: string, raw: unknown, role: FieldRole): FieldValue | undefined {
  if (role.facet !== undefined) return facetValue(field, asGiven(raw, role.facet), role.facet);
  if (role.location) return locationValue(field, raw);
  if (role.resource) return resourceValue(field, raw);
  switch (typeof raw) {
    case 'string':
      return raw.toWellFormed();
    case 'boolean':
      return raw;
    case 'number':
      if (Number.isFinite(raw)) return raw;
      throw fieldError(field, `must be a finite number`);
    default:
      if (Array.isArray(raw)) return raw.length === 0 ? undefined : arrayOfScalars(field, raw);
      if (!role.searchable && isPoint(raw)) return locationValue(field, raw);
      throw objectError(field);
  }
}

/** In a flat record every member is a field, including a mistyped `fields`. */
function objectError(field: string): ServiceError {
  return fieldError(
    field,
    'must be a string, a number, a boolean or an array of these, not an object',
    didYouMean(field, ['fields']),
  );
}

function arrayOfScalars(field: string, raw: readonly unknown[]): readonly Scalar[] {
  for (const value of raw) {
    const scalar =
      typeof value === 'string' || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value));
    if (!scalar)
      throw fieldError(field, `is an array that may hold strings, numbers and booleans only, not ${describe(value)}`);
  }
  return wellFormed(raw as readonly Scalar[]);
}

/**
 * Replaces halves of surrogate pairs by U+FFFD, as every encoder of UTF-8 does. Stored, they would be escapes in every
 * answer with the record, and several JSON parsers refuse such an answer as a whole.
 */
function wellFormed(values: readonly Scalar[]): readonly Scalar[] {
  const isSound = values.every((value) => typeof value !== 'string' || value.isWellFormed());
  return isSound ? values : values.map((value) => (typeof value === 'string' ? value.toWellFormed() : value));
}

/** An integer with too many digits for a number is passed as text. If the facet is numeric, it is to be rounded. */
function asGiven(raw: unknown, { type }: Facet): unknown {
  if (type !== 'number') return raw;
  if (Array.isArray(raw)) return raw.some(isLongInteger) ? raw.map(rounded) : (raw as unknown);
  return rounded(raw);
}

function rounded(value: unknown): unknown {
  return isLongInteger(value) ? Number(value) : value;
}

function facetValue(field: string, raw: unknown, facet: Facet): FieldValue | undefined {
  const values: readonly unknown[] = Array.isArray(raw) ? raw : [raw];
  if (values.length === 0) return undefined;
  if (values.length > 1 && facet.cardinality === 'Single') {
    throw fieldError(field, `is a Single facet and takes one value, not ${values.length}`);
  }
  const kind = fieldKind(facet.type);
  for (const value of values) {
    if (kind.columnValue(value) === undefined) {
      const problem = `is a ${facet.type} facet and takes ${kind.expected}, not ${describe(value)}`;
      throw fieldError(field, problem, kind.hint?.(value));
    }
  }
  return wellFormed(values as readonly Scalar[]);
}

/** Maximum number of member names in the message on a value that is not a point. */
const MEMBERS_TOLD_MAX = 4;

function locationValue(field: string, raw: unknown): FieldValue {
  if (!isPoint(raw))
    throw fieldError(
      field,
      `takes a point, such as {"latitude": 51.5, "longitude": -0.12}, not ${describeObject(raw)}`,
    );
  const { latitude, longitude } = raw;
  // Written this way, the comparison also refuses NaN.
  if (!(Math.abs(latitude) <= 90)) throw fieldError(field, 'has a latitude outside -90 to 90');
  if (!(Math.abs(longitude) <= 180)) throw fieldError(field, 'has a longitude outside -180 to 180');
  return raw;
}

function resourceValue(field: string, raw: unknown): FieldValue {
  if (typeof raw !== 'string' || !URL.canParse(raw))
    throw fieldError(field, `takes the URL of a file, not ${describe(raw)}`);
  return raw.toWellFormed();
}

function fieldError(field: string, problem: string, hint = ''): ServiceError {
  return invalidRecord(`fields/${escapePointer(field)}`, `The field '${shown(field)}' ${problem}.${hint}`);
}

function escapePointer(field: string): string {
  return field.replaceAll('~', '~0').replaceAll('/', '~1');
}

function shown(text: string): string {
  return text.length > ERROR_VALUE_CHARACTERS_MAX ? `${text.slice(0, ERROR_VALUE_CHARACTERS_MAX)}…` : text;
}

/** For an object, lists its members: `lat` shows what was meant. */
function describeObject(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return describe(value);
  const names = Object.keys(value).slice(0, MEMBERS_TOLD_MAX);
  return names.length === 0
    ? 'an empty object'
    : `an object with ${names.map((name) => `'${shown(name)}'`).join(', ')}`;
}

function describe(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  switch (typeof value) {
    case 'string':
      return `the string '${shown(value)}'`;
    case 'number':
    case 'boolean':
      return String(value);
    default:
      return 'an object';
  }
}
