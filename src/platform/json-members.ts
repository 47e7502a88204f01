/**
 * What a parsed value says less than its text: `JSON.parse` takes a member that is given twice, keeps the last value, and says nothing. A scan of
 * every text finds it and costs more than parsing; counting does not.
 */
import { findJsonFault } from './json-scanner.js';

const QUOTE = 0x22;

/**
 * Which member is given twice, as the end of a sentence; undefined where none is. `value`: what the text was parsed to. Where a text begins with
 * a colon there are more names than members, too, and the scan of the text decides; whatever it finds is said.
 */
export function repeatedMember(text: string, value: unknown): string | undefined {
  return namesIn(text) === membersIn(value) ? undefined : findJsonFault(text)?.detail;
}

/** Colons behind a quote: each name of a member has one, and a text that holds one makes them more, never fewer. */
function namesIn(text: string): number {
  let count = 0;
  for (let colon = text.indexOf(':'); colon >= 0; colon = text.indexOf(':', colon + 1))
    if (text.charCodeAt(lastBefore(text, colon)) === QUOTE) count += 1;
  return count;
}

/** The position of what is no blank before this one. */
function lastBefore(text: string, position: number): number {
  for (let at = position - 1; ; at -= 1) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at;
  }
}

/** Without recursion: however deep it is. */
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
