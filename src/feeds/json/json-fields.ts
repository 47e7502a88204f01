/** Turns the JSON of a source into the fields of a record. */
import { wellFormed } from '../text/cut-text.js';
import type { FieldScalar, FieldValue } from '../source/source-run.js';
import type { JsonPath, JsonValue } from './json-path.js';

const DEPTH_MAX = 4;
export const FIELDS_MAX = 200;

/** Returns the fields that were asked for, by name. A path with more than one match gives an array. */
export function mappedFields(value: JsonValue, paths: ReadonlyMap<string, JsonPath>): Record<string, FieldValue> {
  const entries = [...paths].flatMap(([name, path]): [string, FieldValue][] => {
    const found = path.all(value);
    const scalars = found
      .flatMap((each) => (Array.isArray(each) ? (each as readonly JsonValue[]) : [each]))
      .flatMap(scalarOf);
    const isList = found.length > 1 || Array.isArray(found[0]);
    const [first] = scalars;
    return first === undefined ? [] : [[name, isList ? scalars : first]];
  });
  return Object.fromEntries(entries);
}

/**
 * Returns everything that can be a field. Nested members are named `outer_inner`, and arrays of strings, numbers and
 * booleans are kept as arrays. `isCut`: the value has more fields than a record may have.
 */
export function allFields(value: JsonValue): { readonly fields: Record<string, FieldValue>; readonly isCut: boolean } {
  const fields = new Map<string, FieldValue>();
  let isCut = false;
  const keep = (name: string, found: FieldValue): void => {
    if (fields.size < FIELDS_MAX || fields.has(name)) fields.set(name, found);
    else isCut = true;
  };
  const visit = (each: JsonValue, name: string, depth: number): void => {
    if (isCut || depth > DEPTH_MAX) return;
    const [scalar] = scalarOf(each);
    if (Array.isArray(each)) {
      const scalars = (each as readonly JsonValue[]).flatMap(scalarOf);
      if (scalars.length > 0 && name !== '') keep(name, scalars);
    } else if (scalar !== undefined) {
      if (name !== '') keep(name, scalar);
    } else if (typeof each === 'object' && each !== null) {
      const members = each as Readonly<Record<string, JsonValue>>;
      for (const member of Object.keys(members)) {
        if (isCut) return;
        visit(members[member] as JsonValue, name === '' ? member : `${name}_${member}`, depth + 1);
      }
    }
  };
  visit(value, '', 0);
  return { fields: Object.fromEntries(fields), isCut };
}

const RECORD_NAME = 'name';
const DISPLAY_NAME = 'display_name';

/** Returns true if the path leads to the member `name` of a record. */
export function isMemberName(path: JsonPath): boolean {
  return path.scalar({ [RECORD_NAME]: 'x' }) === 'x';
}

/**
 * Returns the fields with another name for `name`: in a list, `name` is the name of the record, and a field called so
 * could not be searched. It becomes `display_name`, or `display_name_2` and so on if the record has such a member.
 */
export function withoutRecordName(fields: Readonly<Record<string, FieldValue>>): Readonly<Record<string, FieldValue>> {
  const { [RECORD_NAME]: name, ...others } = fields;
  if (name === undefined) return fields;
  let free = DISPLAY_NAME;
  for (let number = 2; Object.hasOwn(others, free); number += 1) free = `${DISPLAY_NAME}_${number}`;
  return { ...others, [free]: name };
}

function scalarOf(value: JsonValue): FieldScalar[] {
  if (typeof value === 'string') return [wellFormed(value)];
  return typeof value === 'number' || typeof value === 'boolean' ? [value] : [];
}
