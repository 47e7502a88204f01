/**
 * Records whose fields hold objects, as fields of their own: `{"author": {"name": "Ana"}}` has a field `author.name`, and
 * `{"authors": [{"name": "Ana"}, {"name": "Bo"}]}` has `authors.name` with both. A point on the map stays one. Runs in browsers, too.
 */
import { isPoint } from '../fields/index.js';
import { changedLines, isJsonObject, recordOfLine, wrappedFields, type JsonObject } from './record-lines.js';

/** Objects and arrays within each other. */
const DEPTH_MAX = 64;

/** Lines of NDJSON, as many as before. What is flat or no record stays as it is: the service says what is wrong with it. */
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

/** The name of the first field that `flatRecord` would take apart. */
export function nestedField(record: unknown): string | undefined {
  if (!isJsonObject(record)) return undefined;
  const all = wrappedFields(record) ?? record;
  return Object.keys(all).find((name) => isNested(all[name]));
}

interface Gathered {
  readonly values: unknown[];
  /** Within an array, so that it is one in each record, whatever its length. */
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
  // Also a field that is called `__proto__`.
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

/** What is neither object nor array within the value, with the name that it has then. What is nested deeper than that stays, and is refused. */
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
