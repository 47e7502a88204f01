/**
 * Parses JSON from unknown sources in pieces, with pauses in between, and only as much as fits into memory. A scan of
 * the text finds the places where an array can be cut between its values, or an object between its members. Each piece
 * between two cuts is parsed by the engine's own parser.
 */
import { JSON_DEPTH_MAX, parseExactJson } from '../../platform/index.js';
import type { Slices } from '../text/slices.js';
import type { JsonValue } from './json-path.js';

const PIECE_CHARACTERS = 65_536;
/** Number of steps of the scan after which the clock is looked at. */
const STEPS = 4096;
/**
 * Maximum number of members, objects and arrays. Each takes up to a hundred bytes of the thread's memory, however short
 * it is in the text.
 */
export const PARTS_MAX = 5_000_000;
const VALUES_MAX = 20_000_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Thrown for a text that may be JSON but is larger than what is read. The message is the end of a sentence. */
export class JsonTooMuchError extends Error {
  override readonly name = 'JsonTooMuchError';
}

/** Counts of one answer, which may consist of several texts. */
export interface JsonTally {
  parts: number;
  values: number;
}

/** An array or object whose end has not been reached yet. */
interface Open {
  readonly isObject: boolean;
  readonly start: number;
  /** Position where the part begins that has not been parsed yet. */
  rest: number;
  /** Position where its last value or member begins. */
  last: number;
  /** What has been parsed of it. Undefined until a piece of it has been parsed separately. */
  made: JsonValue[] | Record<string, JsonValue> | undefined;
  /** True if its last value has been parsed already. */
  isLastMade: boolean;
}

export interface JsonReadingOptions {
  /** By default, the text is counted by itself. */
  readonly tally?: JsonTally | undefined;
  /** Parses one piece. Default: `parseExactJson`. */
  readonly parse?: (piece: string) => unknown;
  /** Longer parts are cut if possible. */
  readonly pieceCharacters?: number;
}

/**
 * Parses the text. Rejects with a SyntaxError if it is not JSON, with a JsonTooMuchError, or with the reason of the
 * slices.
 */
export function parseJsonInSlices(text: string, slices: Slices, options: JsonReadingOptions = {}): Promise<JsonValue> {
  return new JsonReading(text, slices, options).whole();
}

class JsonReading {
  /** The arrays and objects around the current position, the outermost first. */
  private readonly open: Open[] = [];
  private made: JsonValue | undefined;
  private isEnded = false;
  /** Position of the next backslash in the text. */
  private escape: number;
  private readonly tally: JsonTally;
  private readonly parse: (piece: string) => unknown;
  private readonly pieceCharacters: number;

  constructor(
    private readonly text: string,
    private readonly slices: Slices,
    { tally = { parts: 0, values: 0 }, parse = parseExactJson, pieceCharacters = PIECE_CHARACTERS }: JsonReadingOptions,
  ) {
    this.tally = tally;
    this.parse = parse;
    this.pieceCharacters = pieceCharacters;
    this.escape = text.indexOf('\\');
  }

  async whole(): Promise<JsonValue> {
    const { text, slices } = this;
    for (let at = 0, step = 1; at < text.length && !this.isEnded; at += 1, step += 1) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) at = this.stringEnd(at);
      else if (code === OPEN_OBJECT || code === OPEN_ARRAY) this.begin(at, code === OPEN_OBJECT);
      else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) this.end(at, code === CLOSE_OBJECT);
      else if (code === COMMA) this.comma(at);
      else if (code === COLON) this.count('parts');
      if (step % STEPS === 0 && slices.areOver) await slices.next();
    }
    if (this.open.length > 0) throw new SyntaxError('the text ends within an array or object');
    return this.made ?? (this.parse(text) as JsonValue);
  }

  private count(what: keyof JsonTally): void {
    this.tally[what] += 1;
    if (this.tally.parts > PARTS_MAX)
      throw new JsonTooMuchError(`it has more than ${PARTS_MAX} members, objects and arrays`);
    if (this.tally.values > VALUES_MAX) throw new JsonTooMuchError(`it has more than ${VALUES_MAX} values`);
  }

  /** Returns the position of the closing quote. */
  private stringEnd(start: number): number {
    const { text } = this;
    for (let at = start + 1; ; at = this.escape + 2) {
      const quote = text.indexOf('"', at);
      if (quote === -1) throw new SyntaxError('a string has no end');
      if (this.escape !== -1 && this.escape < at) this.escape = text.indexOf('\\', at);
      if (this.escape === -1 || this.escape > quote) return quote;
    }
  }

  private begin(start: number, isObject: boolean): void {
    if (this.open.length >= JSON_DEPTH_MAX)
      throw new JsonTooMuchError(`it is nested more than ${JSON_DEPTH_MAX} levels deep`);
    this.count('parts');
    this.open.push({ isObject, start, rest: start + 1, last: start + 1, made: undefined, isLastMade: false });
  }

  private comma(at: number): void {
    this.count('values');
    const container = this.open.at(-1);
    if (container === undefined) return;
    if (container.isLastMade) this.expectBlank(container.rest, at);
    else if (at - container.rest < this.pieceCharacters) {
      container.last = at + 1;
      return;
    } else {
      this.makeOuter();
      this.add(container, at);
    }
    container.isLastMade = false;
    container.rest = at + 1;
    container.last = at + 1;
  }

  private end(at: number, isObject: boolean): void {
    const container = this.open.pop();
    if (container?.isObject !== isObject) throw new SyntaxError('a bracket closes what it does not fit');
    const outer = this.open.at(-1);
    if (container.made !== undefined) {
      if (container.isLastMade) this.expectBlank(container.rest, at);
      else this.add(container, at);
      if (outer !== undefined) this.addMade(outer, container, at);
    }
    // If no piece of it has been parsed yet, it is parsed along with the array or object that contains it.
    if (outer !== undefined) return;
    this.expectBlank(0, container.start);
    this.expectBlank(at + 1, this.text.length);
    this.made = container.made;
    this.isEnded = true;
  }

  /**
   * Parses everything that precedes the innermost array or object in those around it, so that it can be appended to
   * them when it ends.
   */
  private makeOuter(): void {
    for (const container of this.open.slice(0, -1)) {
      if (container.last > container.rest) this.add(container, container.last - 1);
      container.made ??= container.isObject ? {} : [];
      container.rest = container.last;
    }
  }

  /** Parses what has not been parsed yet, up to `end`. */
  private add(container: Open, end: number): void {
    const piece = this.text.slice(container.rest, end);
    if (piece.trim() === '') throw new SyntaxError('there is nothing before or behind a comma');
    const made = (container.made ??= container.isObject ? {} : []);
    if (Array.isArray(made)) {
      for (const value of this.parse(`[${piece}]`) as JsonValue[]) made.push(value);
    } else {
      const members = this.parse(`{${piece}}`) as Record<string, JsonValue>;
      for (const [name, value] of Object.entries(members)) setMember(made, name, value);
    }
  }

  private addMade(outer: Open, { start, made }: Open, end: number): void {
    const before = this.text.slice(outer.last, start).trim();
    if (Array.isArray(outer.made)) {
      if (before !== '') throw new SyntaxError('there is something between two values');
      outer.made.push(made as JsonValue);
    } else {
      if (!before.endsWith(':')) throw new SyntaxError('a member has no name');
      setMember(outer.made as Record<string, JsonValue>, String(JSON.parse(before.slice(0, -1))), made as JsonValue);
    }
    outer.rest = end + 1;
    outer.isLastMade = true;
  }

  private expectBlank(from: number, to: number): void {
    if (this.text.slice(from, to).trim() !== '') throw new SyntaxError('there is something behind a value');
  }
}

/** Sets a member of any name, as the engine's own parser does. */
function setMember(object: Record<string, JsonValue>, name: string, value: JsonValue): void {
  if (name !== '__proto__') object[name] = value;
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}
