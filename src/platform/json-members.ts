/**
 * Finds members that are given twice: `JSON.parse` silently keeps the last value. A scan of every text would cost more
 * than parsing it; counting members does not.
 */
import { findJsonFault } from './json-scanner.js';

const QUOTE = 0x22;

/**
 * Returns a message about a member that is given twice, as the end of a sentence; undefined if there is none. `value`:
 * what the text was parsed to. A string that begins with a colon also makes the counts differ, so the text is then
 * scanned, and the scan decides.
 */
export function repeatedMember(text: string, value: unknown): string | undefined {
  return namesIn(text) === membersIn(value) ? undefined : findJsonFault(text)?.detail;
}

/**
 * Counts the colons after a quote. Each member name has one; a string that contains one adds to the count, never
 * subtracts.
 */
function namesIn(text: string): number {
  let count = 0;
  for (let colon = text.indexOf(':'); colon >= 0; colon = text.indexOf(':', colon + 1))
    if (text.charCodeAt(lastBefore(text, colon)) === QUOTE) count += 1;
  return count;
}

/** Returns the position of the last character before `position` that is not white space. */
function lastBefore(text: string, position: number): number {
  for (let at = position - 1; ; at -= 1) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at;
  }
}

/** Counts the members of all objects in the value. Not recursive, so it works at any depth. */
function membersIn(whole: unknown): number {
  let count = 0;
  const open: object[] = [];
  const look = (value: unknown): void => {
    if (typeof value === 'object' && value !== null) open.push(value);
  };
  look(whole);
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (Array.isArray(value)) {
      for (const element of value) look(element);
      continue;
    }
    for (const name in value) {
      count += 1;
      look((value as Readonly<Record<string, unknown>>)[name]);
    }
  }
  return count;
}
