/**
 * Records whose fields hold objects, as fields of their own: `{"author": {"name": "Ana"}}` has a field `author.name`, and
 * `{"authors": [{"name": "Ana"}, {"name": "Bo"}]}` has `authors.name` with both. A point on the map stays one.
 */
import { isPoint } from '../fields/index.js';
import { parseExactJson, repeatedMember } from '../platform/index.js';

const LINE_FEED = 0x0a;
const BYTE_ORDER_MARK = '\ufeff';
/** What stands beside `fields` in a record, and is none of them. */
const BESIDE_FIELDS: ReadonlySet<string> = new Set(['name', 'fields', 'as_of', 'vector', 'vectors']);
/** Objects and arrays within each other. */
const DEPTH_MAX = 64;

type Fields = Readonly<Record<string, unknown>>;

/** Lines of NDJSON, as many as before. What is no record stays as it is: the service says what is wrong with it. */
export async function* flatLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let carried: Uint8Array[] = [];
  for await (const chunk of source) {
    const lines: string[] = [];
    let begin = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, begin)) {
      lines.push(flatLine(Buffer.concat([...carried, chunk.subarray(begin, end)]).toString()));
      carried = [];
      begin = end + 1;
    }
    if (begin < chunk.length) carried.push(Uint8Array.from(chunk.subarray(begin)));
    if (lines.length > 0) yield Buffer.from(`${lines.join('\n')}\n`);
  }
  if (carried.length > 0) yield Buffer.from(flatLine(Buffer.concat(carried).toString()));
}

function flatLine(line: string): string {
  let record: unknown;
  try {
    // The first line of a file may begin with a mark of its coding.
    record = parseExactJson(line.startsWith(BYTE_ORDER_MARK) ? line.slice(1) : line);
  } catch {
    return line;
  }
  // Written anew it would have one of the two values, and nobody would be told.
  if (!isObject(record) || repeatedMember(line, record) !== undefined) return line;
  return JSON.stringify(flatRecord(record));
}

export function flatRecord(record: Fields): Fields {
  const { fields } = record;
  return isObject(fields) && isWrapped(record) ? { ...record, fields: flat(fields) } : flat(record);
}

function isWrapped(record: Fields): boolean {
  return Object.keys(record).every((member) => BESIDE_FIELDS.has(member));
}

/** The name of the first field that `flatRecord` would take apart. */
export function nestedField(record: unknown): string | undefined {
  if (!isObject(record)) return undefined;
  const { fields } = record;
  const all = isObject(fields) && isWrapped(record) ? fields : record;
  return Object.keys(all).find((name) => isNested(all[name]));
}

interface Gathered {
  readonly values: unknown[];
  /** Within an array, so that it is one in each record, whatever its length. */
  isMany: boolean;
}

function flat(fields: Fields): Fields {
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
  return isObject(value) ? !isPoint(value) : Array.isArray(value) && value.some(isObject);
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
  else if (isObject(value))
    for (const [member, inner] of Object.entries(value))
      addLeaves({ name: `${name}.${member}`, value: inner, isMany, depth: depth + 1 }, add);
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
