/**
 * Extracts the records from a JSON document that is not itself an array of records, as web APIs return them: `{"data":
 * {"items": [{…}, {…}]}}`. The array is cut into lines of NDJSON while it is read, whatever its length; the service
 * checks the elements. Also runs in browsers.
 */

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BLANK = 0x20;
const TAB = 0x09;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
/** Maximum bytes of a member's name that are compared; longer names are not requested. */
const NAME_BYTES_MAX = 1024;

/** Parses `data.items`, or a JSON pointer if a name contains a dot: `/data/items`. */
export function memberPath(given: string): readonly string[] {
  if (!given.startsWith('/')) return given.split('.');
  return given
    .slice(1)
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Inverse of `memberPath`. */
export function memberName(path: readonly string[]): string {
  if (path.length > 0 && path.every((name) => /^[^./][^.]*$/.test(name))) return path.join('.');
  return path.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** A fault of the document; the message is a sentence without its subject. */
export class JsonRecordsFault extends Error {}

/**
 * Yields the elements of the array at the path as lines. Throws a JsonRecordsFault if the document has no array there,
 * or ends within it. `begin`: the beginning of the document, in which another array is looked for to be suggested. An
 * empty path denotes the document itself.
 */
export async function* recordLines(
  source: AsyncIterable<Uint8Array>,
  path: readonly string[],
  begin: Uint8Array,
): AsyncGenerator<Uint8Array> {
  const cutter = new ArrayCutter(path);
  for await (const chunk of source) {
    const lines = cutter.push(chunk);
    if (lines.length > 0) yield lines;
    if (cutter.state === 'behind') return;
  }
  if (cutter.state === 'before') throw noArray(path, begin);
  throw new JsonRecordsFault('ends before its array of records is complete. The records before that are imported.');
}

function noArray(path: readonly string[], begin: Uint8Array): JsonRecordsFault {
  const found = arrayOfObjects(begin);
  const there = found === undefined || found.length === 0 ? '' : `: one is at ${memberName(found)}`;
  const what = path.length === 0 ? 'is not a JSON array' : `has no array at ${memberName(path)}`;
  return new JsonRecordsFault(`${what}${there}.`);
}

/** Returns the path of the first array of objects in the beginning of a document; undefined if there is none. */
export function arrayOfObjects(begin: Uint8Array): readonly string[] | undefined {
  const places = new JsonPlaces();
  let opened: readonly string[] | undefined;
  for (const byte of begin) {
    if (isBlank(byte)) continue;
    if (opened !== undefined && byte === OPEN_OBJECT) return opened;
    places.next(byte);
    opened = byte === OPEN_ARRAY && !places.isInString ? places.path : undefined;
  }
  return undefined;
}

function isBlank(byte: number): boolean {
  return byte === BLANK || byte === LINE_FEED || byte === CARRIAGE_RETURN || byte === TAB;
}

/** Tracks to which member the next byte of a JSON text belongs. Does not detect invalid JSON. */
class JsonPlaces {
  isInString = false;
  /** Names of the members that lead to the current position; undefined for an element of an array. */
  readonly #names: (string | undefined)[] = [];
  readonly #isObject: boolean[] = [];
  #escaped = false;
  #isName = false;
  #name: number[] = [];

  get depth(): number {
    return this.#isObject.length;
  }

  /** Path of the innermost array or object; undefined if an array is on the way. */
  get path(): readonly string[] | undefined {
    const names = this.#names.slice(0, -1);
    return names.every((name) => name !== undefined) ? names : undefined;
  }

  next(byte: number): void {
    if (this.isInString) this.#insideString(byte);
    else if (byte === QUOTE) {
      this.isInString = true;
      this.#name = [];
    } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      this.#isObject.push(byte === OPEN_OBJECT);
      this.#names.push(undefined);
      this.#isName = byte === OPEN_OBJECT;
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      this.#isObject.pop();
      this.#names.pop();
      this.#isName = false;
    } else if (byte === COMMA) this.#isName = this.#isObject.at(-1) === true;
    else if (byte === COLON) this.#isName = false;
  }

  #insideString(byte: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (byte === BACKSLASH) this.#escaped = true;
    else if (byte === QUOTE) {
      this.isInString = false;
      if (this.#isName) this.#names[this.#names.length - 1] = nameOf(this.#name);
      return;
    }
    if (this.#isName && this.#name.length < NAME_BYTES_MAX) this.#name.push(byte);
  }
}

/** Returns the name as written if it is invalid JSON. */
function nameOf(bytes: readonly number[]): string {
  const text = new TextDecoder().decode(Uint8Array.from(bytes));
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return text;
  }
}

class ArrayCutter {
  state: 'before' | 'within' | 'behind' = 'before';
  readonly #places = new JsonPlaces();
  readonly #path: string;
  #depth = 0;

  constructor(path: readonly string[]) {
    this.#path = JSON.stringify(path);
  }

  /** Returns those of the bytes that belong to elements, with a line feed after each element. */
  push(chunk: Uint8Array): Uint8Array {
    const lines = new Uint8Array(chunk.length);
    let length = 0;
    for (const byte of chunk) {
      if (this.state === 'behind') break;
      const kept = this.state === 'within' ? this.#keptOf(byte) : undefined;
      this.#places.next(byte);
      if (this.state === 'before') this.#look(byte);
      else if (this.#places.depth < this.#depth) this.state = 'behind';
      if (kept !== undefined) lines[length++] = kept;
    }
    return lines.subarray(0, length);
  }

  #look(byte: number): void {
    if (byte !== OPEN_ARRAY || this.#places.isInString) return;
    if (JSON.stringify(this.#places.path) !== this.#path) return;
    this.state = 'within';
    this.#depth = this.#places.depth;
  }

  #keptOf(byte: number): number | undefined {
    if (this.#places.isInString) return byte;
    if (byte === LINE_FEED || byte === CARRIAGE_RETURN) return this.#isBetween ? undefined : BLANK;
    if (!this.#isBetween) return byte;
    if (byte === COMMA || byte === CLOSE_ARRAY) return LINE_FEED;
    return isBlank(byte) ? undefined : byte;
  }

  /** True between elements, not within one. */
  get #isBetween(): boolean {
    return this.#places.depth === this.#depth;
  }
}
