/**
 * Checks a JSON text before it is parsed: RFC 8259 syntax with the position of the first fault, and what `JSON.parse` lets
 * pass in silence: a member that is given twice, nesting without end, a member named `__proto__`. It counts what costs its reader time, too, and
 * stops where that is too much. One pass, no recursion.
 */

import { ERROR_VALUE_CHARACTERS_MAX } from './limits.js';
import { toldText } from './told-text.js';

export const JSON_DEPTH_MAX = 100;
/** A number of fewer characters is an integer that a number holds, or no integer. */
const LONG_NUMBER_CHARACTERS_MIN = 16;

/** How much of what takes time to read a text may have. */
export interface JsonBounds {
  /** Members of all objects, and the objects and arrays themselves: each takes some microseconds, however few bytes it has. */
  readonly partsMax: number;
  /** Values of any kind: each takes a tenth of one. */
  readonly valuesMax: number;
}

const UNBOUNDED: JsonBounds = { partsMax: Infinity, valuesMax: Infinity };

export interface JsonScan {
  /** The first fault of the text; undefined when it is one good JSON value. What follows was not looked at. */
  readonly fault: JsonFault | undefined;
  readonly values: number;
  /** True where an integer may be written that no number holds: only then `parseExactJson` says something else than `JSON.parse`. */
  readonly hasLongNumbers: boolean;
}

export interface JsonFault {
  /** UTF-16 position in the text. */
  readonly position: number;
  /** What is wrong there, as the end of "At line 1, column 2: …". */
  readonly detail: string;
  /** The text is good so far, and has more than its reader takes. */
  readonly isTooMuch?: true;
  /** It is no JSON: `JSON.parse` refuses it, too. */
  readonly isSyntax?: true;
}

/** What follows a backslash. */
const ESCAPE = /["\\/bfnrt]|u[0-9a-fA-F]{4}/y;
const LITERAL = /true|false|null/y;

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

/** An open object or array; an object knows the names seen so far. */
interface Container {
  readonly isObject: boolean;
  /** Most objects of a text with many have few members: a set for each would cost more than all else. */
  firstName?: string;
  otherNames?: Set<string>;
}

/** The scan as it goes on. */
interface Tally {
  readonly bounds: JsonBounds;
  readonly open: Container[];
  parts: number;
  values: number;
  hasLongNumbers: boolean;
}

/** The first fault of the text, or undefined when it is one good JSON value. */
export function findJsonFault(text: string): JsonFault | undefined {
  return scanJson(text).fault;
}

/** What is wrong with the text, or how much there is of it. */
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
      if (end === -1) return code === QUOTE ? stringFault(text, position) : unexpected(text, position, 'a value');
      if (code !== QUOTE && end - position >= LONG_NUMBER_CHARACTERS_MIN) tally.hasLongNumbers = true;
      position = skipBlanks(text, end);
    }
    // A value, or an empty container whose end is next, lies behind: close what ends here.
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

/** Counts a value; the fault of what is more than may be. */
function counted(tally: Tally, position: number): JsonFault | undefined {
  const { partsMax, valuesMax } = tally.bounds;
  tally.values += 1;
  if (tally.parts > partsMax) return tooMuch(position, `${partsMax} members, objects and arrays`);
  return tally.values > valuesMax ? tooMuch(position, `${valuesMax} values`) : undefined;
}

function tooMuch(position: number, bound: string): JsonFault {
  return { position, detail: `it has more than ${bound}`, isTooMuch: true };
}

/** The position of the member's value, or what is wrong with its name. */
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

/** True where the object has a member of this name; it has one from now on. */
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

/** A loop, since a vector has hundreds of numbers, and a pattern takes several times as long for each. */
function numberEnd(text: string, position: number): number {
  const first = text.charCodeAt(position) === MINUS ? position + 1 : position;
  let end = text.charCodeAt(first) === ZERO ? first + 1 : digitsEnd(text, first);
  if (end === -1) return -1;
  // What has no digits behind its dot or its e ends before it, and is refused there.
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

/** Behind the digits that start here; -1 where there are none. */
function digitsEnd(text: string, position: number): number {
  let at = position;
  while (isDigit(text.charCodeAt(at))) at += 1;
  return at === position ? -1 : at;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

/** Behind the closing quote of the string that starts here; a loop, since a pattern would need a stack as long as the string. */
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
      // A control character, or NaN behind the end of the text.
      return -1;
    }
  }
}

/** What is wrong with a string that starts here and has no end, and where: at its first flaw, or at its quote where none but the closing one is missing. */
function stringFault(text: string, position: number): JsonFault {
  const flaw = flawOf(text, position);
  const code = text.charCodeAt(flaw);
  const isSyntax = true;
  if (code === BACKSLASH) {
    const escape = JSON.stringify(text.slice(flaw, flaw + 2)).replace('\\\\', '\\');
    return { position: flaw, detail: `${escape} is no escape: a backslash in a string is written twice`, isSyntax };
  }
  // A line that ends within a string is the usual sight of a quote that was forgotten, with nothing but the line end behind.
  if (skipBlanks(text, flaw) >= text.length)
    return { position, detail: 'the string that begins here has no closing quote', isSyntax };
  const written = JSON.stringify(text.charAt(flaw));
  return {
    position: flaw,
    detail: `a control character in a string, which is written ${written.slice(1, -1)}`,
    isSyntax,
  };
}

/** Where the string that starts here, and has no end, is none any more: at a backslash, a control character or the end of the text. */
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
  const met = JSON.stringify(String.fromCodePoint(text.codePointAt(position) ?? 0));
  return { position, detail: `${met} where ${expected} was expected`, isSyntax: true };
}

function fault(position: number, detail: string): JsonFault {
  return { position, detail };
}

/** `At line 1, column 2: …` of the first fault; undefined where there is none. */
export function toldJsonFault(text: string): string | undefined {
  const found = findJsonFault(text);
  return found === undefined ? undefined : tellJsonFault(text, found);
}

export function tellJsonFault(text: string, { position, detail }: JsonFault): string {
  const { line, column } = lineAndColumn(text, position);
  return `At line ${line}, column ${column}: ${detail}.`;
}

/** 1-based line and column of a position. */
export function lineAndColumn(text: string, position: number): { readonly line: number; readonly column: number } {
  // Not by splitting: of ten megabytes of line ends each would be a text.
  let line = 1;
  let begin = 0;
  for (let end = text.indexOf('\n'); end !== -1 && end < position; end = text.indexOf('\n', begin)) {
    line += 1;
    begin = end + 1;
  }
  return { line, column: Math.min(position, text.length) - begin + 1 };
}
