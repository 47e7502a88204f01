/**
 * Checks a JSON text before it is parsed. Reports the position of the first fault of RFC 8259 syntax, and what
 * `JSON.parse` silently accepts: repeated members, unlimited nesting, a member named `__proto__`. Also counts what
 * costs its reader time, and stops beyond a bound. One pass, no recursion.
 */

import { ERROR_VALUE_CHARACTERS_MAX } from './limits.js';
import { toldText } from './told-text.js';

export const JSON_DEPTH_MAX = 100;
/** A number with fewer characters is an integer that a number holds exactly, or no integer. */
const LONG_NUMBER_CHARACTERS_MIN = 16;

/** Bounds on the parts of a text that take time to read. */
export interface JsonBounds {
  /**
   * Members of all objects, plus the objects and arrays themselves: each takes some microseconds, however short it is.
   */
  readonly partsMax: number;
  /** Values of any kind: each takes a tenth of a microsecond. */
  readonly valuesMax: number;
}

const UNBOUNDED: JsonBounds = { partsMax: Infinity, valuesMax: Infinity };

export interface JsonScan {
  /** The first fault of the text, after which nothing was checked; undefined if the text is one valid JSON value. */
  readonly fault: JsonFault | undefined;
  readonly values: number;
  /**
   * True if the text may have an integer that a number cannot hold. Only then do `parseExactJson` and `JSON.parse`
   * differ.
   */
  readonly hasLongNumbers: boolean;
}

export interface JsonFault {
  /** UTF-16 position in the text. */
  readonly position: number;
  /** What is wrong there, as the end of "At line 1, column 2: …". */
  readonly detail: string;
  /** True if the text is valid so far, but exceeds a bound. */
  readonly isTooMuch?: true;
  /** True if the text is not JSON: `JSON.parse` refuses it, too. */
  readonly isSyntax?: true;
}

/** What may follow a backslash. */
const ESCAPE = /["\\/bfnrt]|u[0-9a-fA-F]{4}/y;
const LITERAL = /true|false|null/y;

const WORD = /-?[A-Za-z]{1,9}/y;
const NO_SUCH_NUMBER = 'JSON has no such number';
const MEANT_NULL = 'JSON writes null';
/** Values as other languages write them, and what to say of them. */
const FOREIGN: ReadonlyMap<string, string> = new Map([
  ['NaN', NO_SUCH_NUMBER],
  ['nan', NO_SUCH_NUMBER],
  ['Infinity', NO_SUCH_NUMBER],
  ['-Infinity', NO_SUCH_NUMBER],
  ['None', MEANT_NULL],
  ['nil', MEANT_NULL],
  ['undefined', MEANT_NULL],
  ['True', 'JSON writes true'],
  ['False', 'JSON writes false'],
]);
const A_VALUE = 'a value';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const PLUS = 0x2b;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const LOWER_CASE = 0x20;
const LETTER_E = 0x65;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** An open object or array; an object has the names seen so far. */
interface Container {
  readonly isObject: boolean;
  /**
   * Kept apart from the set, since most objects of a text with many objects have few members: a set for each would cost
   * more than all else.
   */
  firstName?: string;
  otherNames?: Set<string>;
}

/** State of a scan. */
interface Tally {
  readonly bounds: JsonBounds;
  readonly open: Container[];
  parts: number;
  values: number;
  hasLongNumbers: boolean;
}

/** Returns the first fault of the text; undefined if it is one valid JSON value. */
export function findJsonFault(text: string): JsonFault | undefined {
  return scanJson(text).fault;
}

/** Scans the text and returns its first fault and what was counted. */
export function scanJson(text: string, bounds: JsonBounds = UNBOUNDED): JsonScan {
  const tally: Tally = { bounds, open: [], parts: 0, values: 0, hasLongNumbers: false };
  const found = scan(text, tally);
  return { fault: found, values: tally.values, hasLongNumbers: tally.hasLongNumbers };
}

function scan(text: string, tally: Tally): JsonFault | undefined {
  const { open } = tally;
  let position = skipBlanks(text, 0);
  for (;;) {
    // A value starts here.
    const code = text.charCodeAt(position);
    const tooMuch = counted(tally, position);
    if (tooMuch !== undefined) return tooMuch;
    if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      if (open.length === JSON_DEPTH_MAX)
        return fault(position, `it is nested more than ${JSON_DEPTH_MAX} levels deep`);
      const isObject = code === OPEN_OBJECT;
      open.push({ isObject });
      tally.parts += 1;
      position = skipBlanks(text, position + 1);
      if (text.charCodeAt(position) !== (isObject ? CLOSE_OBJECT : CLOSE_ARRAY)) {
        if (!isObject) continue;
        const member = readMemberName(text, position, tally);
        if (typeof member === 'object') return member;
        position = member;
        continue;
      }
    } else {
      const end = scalarEnd(text, position, code);
      if (end === -1) return code === QUOTE ? stringFault(text, position) : unexpected(text, position, A_VALUE);
      if (code !== QUOTE && end - position >= LONG_NUMBER_CHARACTERS_MIN) tally.hasLongNumbers = true;
      position = skipBlanks(text, end);
    }
    // A value, or the `{` or `[` of an empty container, was read: close the containers that end here.
    for (;;) {
      const container = open.at(-1);
      if (container === undefined) {
        return position === text.length ? undefined : unexpected(text, position, 'the end');
      }
      const { isObject } = container;
      const next = text.charCodeAt(position);
      if (next === (isObject ? CLOSE_OBJECT : CLOSE_ARRAY)) {
        open.pop();
        position = skipBlanks(text, position + 1);
        continue;
      }
      if (next !== COMMA) return unexpected(text, position, isObject ? "',' or '}'" : "',' or ']'");
      position = skipBlanks(text, position + 1);
      if (isObject) {
        const member = readMemberName(text, position, tally);
        if (typeof member === 'object') return member;
        position = member;
      }
      break;
    }
  }
}

/** Counts a value; returns a fault if a bound is exceeded. */
function counted(tally: Tally, position: number): JsonFault | undefined {
  const { partsMax, valuesMax } = tally.bounds;
  tally.values += 1;
  if (tally.parts > partsMax) return tooMuch(position, `${partsMax} members, objects and arrays`);
  return tally.values > valuesMax ? tooMuch(position, `${valuesMax} values`) : undefined;
}

function tooMuch(position: number, bound: string): JsonFault {
  return { position, detail: `it has more than ${bound}`, isTooMuch: true };
}

/** Returns the position of the member's value, or the fault of its name. */
function readMemberName(text: string, position: number, tally: Tally): number | JsonFault {
  if (text.charCodeAt(position) !== QUOTE) return unexpected(text, position, 'a member name in double quotes');
  const end = stringEnd(text, position);
  if (end === -1) return stringFault(text, position);
  const quoted = text.slice(position, end);
  const name = quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
  if (name === '__proto__') return fault(position, "no member can be named '__proto__'");
  const container = tally.open.at(-1);
  if (container !== undefined && isRepeated(container, name)) {
    return fault(position, `the member '${toldText(name, ERROR_VALUE_CHARACTERS_MAX)}' is given twice`);
  }
  tally.parts += 1;
  const colon = skipBlanks(text, end);
  if (text.charCodeAt(colon) !== COLON) return unexpected(text, colon, "':'");
  return skipBlanks(text, colon + 1);
}

/** True if the object already has a member of this name; adds the name. */
function isRepeated(container: Container, name: string): boolean {
  if (container.firstName === undefined) {
    container.firstName = name;
    return false;
  }
  if (container.firstName === name) return true;
  container.otherNames ??= new Set();
  if (container.otherNames.has(name)) return true;
  container.otherNames.add(name);
  return false;
}

function scalarEnd(text: string, position: number, code: number): number {
  if (code === QUOTE) return stringEnd(text, position);
  if (code === MINUS || isDigit(code)) return numberEnd(text, position);
  return matchEnd(LITERAL, text, position);
}

/**
 * Returns the end of a number; -1 if there is none. A loop, since vectors have hundreds of numbers and a regular
 * expression takes several times as long for each.
 */
function numberEnd(text: string, position: number): number {
  const first = text.charCodeAt(position) === MINUS ? position + 1 : position;
  let end = text.charCodeAt(first) === ZERO ? first + 1 : digitsEnd(text, first);
  if (end === -1) return -1;
  // Without digits after the dot or the e, the number ends before it, and the rest is refused.
  if (text.charCodeAt(end) === DOT) {
    const fraction = digitsEnd(text, end + 1);
    if (fraction === -1) return end;
    end = fraction;
  }
  if ((text.charCodeAt(end) | LOWER_CASE) !== LETTER_E) return end;
  const sign = text.charCodeAt(end + 1);
  const exponent = digitsEnd(text, sign === PLUS || sign === MINUS ? end + 2 : end + 1);
  return exponent === -1 ? end : exponent;
}

/** Returns the position after the digits that start here; -1 if there are none. */
function digitsEnd(text: string, position: number): number {
  let at = position;
  while (isDigit(text.charCodeAt(at))) at += 1;
  return at === position ? -1 : at;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

/**
 * Returns the position after the closing quote; -1 if the string is faulty. A loop, since a regular expression would
 * need a stack as deep as the string is long.
 */
function stringEnd(text: string, position: number): number {
  for (let at = position + 1; ;) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code === BACKSLASH) {
      at = matchEnd(ESCAPE, text, at + 1);
      if (at === -1) return -1;
    } else if (code >= 0x20) {
      at += 1;
    } else {
      // A control character, or NaN after the end of the text.
      return -1;
    }
  }
}

/**
 * Returns the fault of a string that starts here: at its first bad character or, if only the closing quote is missing,
 * at its opening quote.
 */
function stringFault(text: string, position: number): JsonFault {
  const flaw = flawOf(text, position);
  const code = text.charCodeAt(flaw);
  const isSyntax = true;
  if (code === BACKSLASH) {
    const escape = JSON.stringify(text.slice(flaw, flaw + 2)).replace('\\\\', '\\');
    return { position: flaw, detail: `${escape} is no escape: a backslash in a string is written twice`, isSyntax };
  }
  // A string that is only followed by the end of the line or text usually lacks its closing quote.
  if (skipBlanks(text, flaw) >= text.length)
    return { position, detail: 'the string that begins here has no closing quote', isSyntax };
  const written = JSON.stringify(text.charAt(flaw));
  return {
    position: flaw,
    detail: `a control character in a string, which is written ${written.slice(1, -1)}`,
    isSyntax,
  };
}

/**
 * Returns the position of the first fault in a string without end: a backslash, a control character or the end of the
 * text.
 */
function flawOf(text: string, position: number): number {
  for (let at = position + 1; ;) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) {
      const behind = matchEnd(ESCAPE, text, at + 1);
      if (behind === -1) return at;
      at = behind;
    } else if (code >= 0x20) at += 1;
    else return Math.min(at, text.length);
  }
}

function matched(pattern: RegExp, text: string, position: number): RegExpExecArray | null {
  pattern.lastIndex = position;
  return pattern.exec(text);
}

function matchEnd(pattern: RegExp, text: string, position: number): number {
  pattern.lastIndex = position;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

function skipBlanks(text: string, position: number): number {
  for (let at = position; ; at += 1) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at;
  }
}

function unexpected(text: string, position: number, expected: string): JsonFault {
  if (position >= text.length)
    return { position: text.length, detail: `the text ends where ${expected} was expected`, isSyntax: true };
  const [word = ''] = expected === A_VALUE ? (matched(WORD, text, position) ?? []) : [];
  const told = FOREIGN.get(word);
  if (told !== undefined)
    return { position, detail: `"${word}" where ${expected} was expected (${told})`, isSyntax: true };
  const met = JSON.stringify(String.fromCodePoint(text.codePointAt(position) ?? 0));
  return { position, detail: `${met} where ${expected} was expected`, isSyntax: true };
}

function fault(position: number, detail: string): JsonFault {
  return { position, detail };
}

/** Returns `At line 1, column 2: …` for the first fault; undefined if there is none. */
export function toldJsonFault(text: string): string | undefined {
  const found = findJsonFault(text);
  return found === undefined ? undefined : tellJsonFault(text, found);
}

export function tellJsonFault(text: string, { position, detail }: JsonFault): string {
  const { line, column } = lineAndColumn(text, position);
  return `At line ${line}, column ${column}: ${detail}.`;
}

/** Returns the 1-based line and column of a position. */
export function lineAndColumn(text: string, position: number): { readonly line: number; readonly column: number } {
  // Not by splitting: ten megabytes of line ends would become as many strings.
  let line = 1;
  let begin = 0;
  for (let end = text.indexOf('\n'); end !== -1 && end < position; end = text.indexOf('\n', begin)) {
    line += 1;
    begin = end + 1;
  }
  return { line, column: Math.min(position, text.length) - begin + 1 };
}
