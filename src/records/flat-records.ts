/**
 * Flattens records whose fields contain objects: `{"author": {"name": "Ana"}}` gets a field `author.name`, and
 * `{"authors": [{"name": "Ana"}, {"name": "Bo"}]}` gets `authors.name` with both values. A geographic point stays an
 * object. Also runs in browsers.
 */
import { isPoint } from '../fields/index.js';
import { changedLines, isJsonObject, recordOfLine, wrappedFields, type JsonObject } from './record-lines.js';

/** Maximum nesting depth of objects and arrays. */
const DEPTH_MAX = 64;

/**
 * Flattens lines of NDJSON and keeps their number. Lines that are flat, or are not records, stay unchanged: the service
 * reports what is wrong with them.
 */
export function flatLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  return changedLines(source, (line) => {
    const record = recordOfLine(line);
    return record === undefined || nestedField(record) === undefined ? line : JSON.stringify(flatRecord(record));
  });
}

export function flatRecord(record: JsonObject): JsonObject {
  const fields = wrappedFields(record);
  return fields === undefined ? flat(record) : { ...record, fields: flat(fields) };
}

/** Returns the name of the first field that `flatRecord` would flatten. */
export function nestedField(record: unknown): string | undefined {
  if (!isJsonObject(record)) return undefined;
  const all = wrappedFields(record) ?? record;
  return Object.keys(all).find((name) => isNested(all[name]));
}

interface Gathered {
  readonly values: unknown[];
  /** True for values within an array, so that the field is an array in each record, whatever its length. */
  isMany: boolean;
}

function flat(fields: JsonObject): JsonObject {
  const gathered = new Map<string, Gathered>();
  const add = (name: string, value: unknown, isMany: boolean): void => {
    const known = gathered.get(name);
    if (known === undefined) gathered.set(name, { values: [value], isMany });
    else {
      known.values.push(value);
      known.isMany = true;
    }
  };
  for (const [name, value] of Object.entries(fields)) {
    if (isNested(value)) addLeaves({ name, value, isMany: false, depth: 0 }, add);
    else add(name, value, false);
  }
  // `fromEntries` also creates a field that is called `__proto__`.
  return Object.fromEntries(
    Array.from(gathered, ([name, { values, isMany }]) => [name, isMany ? values.flat() : values[0]]),
  );
}

function isNested(value: unknown): boolean {
  return isJsonObject(value) ? !isPoint(value) : Array.isArray(value) && value.some(isJsonObject);
}

interface Branch {
  readonly name: string;
  readonly value: unknown;
  readonly isMany: boolean;
  readonly depth: number;
}

/**
 * Adds the scalar values within the value, with their full names. Values that are nested too deeply stay unchanged, and
 * are refused later.
 */
function addLeaves(
  { name, value, isMany, depth }: Branch,
  add: (name: string, value: unknown, isMany: boolean) => void,
): void {
  const isLeaf = depth > DEPTH_MAX || typeof value !== 'object' || isPoint(value);
  if (isLeaf) add(name, value, isMany);
  else if (Array.isArray(value))
    for (const element of value) addLeaves({ name, value: element, isMany: true, depth: depth + 1 }, add);
  else if (isJsonObject(value))
    for (const [member, inner] of Object.entries(value))
      addLeaves({ name: `${name}.${member}`, value: inner, isMany, depth: depth + 1 }, add);
}
