/** Parses JSON without losing digits of large integers. */

/** From here on, two integers written differently may parse to the same number. */
const EXACT_BELOW = 2 ** 53;
/** The start of a string, or anything that could be part of a number. */
const QUOTE_OR_NUMBER = /"|[-+.\w]+/gu;
const INTEGER = /^-?[1-9]\d*$/u;

/**
 * Parses a JSON text. An integer that a number cannot hold exactly, such as `12345678901234567890`, becomes the string
 * of its digits: identifiers of this length are common, and two that differ in their last digits must stay different.
 * Throws as `JSON.parse` does.
 */
export function parseExactJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return holdsLargeNumber(value) ? (JSON.parse(withQuotedIntegers(text)) as unknown) : value;
}

/** True if the value is the string that such an integer is parsed to. */
export function isLongInteger(value: unknown): value is string {
  return typeof value === 'string' && INTEGER.test(value) && String(Number(value)) !== value;
}

/**
 * Quotes the long integers of a valid JSON text. Strings are skipped by hand, since a regular expression for a whole
 * string overflows its stack with millions of escapes.
 */
function withQuotedIntegers(text: string): string {
  const pattern = new RegExp(QUOTE_OR_NUMBER);
  const parts: string[] = [];
  let copied = 0;
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    const [token] = found;
    if (token === '"') {
      pattern.lastIndex = closingQuote(text, pattern.lastIndex) + 1;
    } else if (isLongInteger(token)) {
      parts.push(text.slice(copied, found.index), `"${token}"`);
      copied = pattern.lastIndex;
    }
  }
  return parts.join('') + text.slice(copied);
}

function closingQuote(text: string, from: number): number {
  let quote = text.indexOf('"', from);
  while (isEscaped(text, quote)) quote = text.indexOf('"', quote + 1);
  return quote;
}

function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text[first - 1] === '\\') first -= 1;
  return (at - first) % 2 === 1;
}

/** True if the value contains a number of at least 2^53. Not recursive, so it works at any depth. */
function holdsLargeNumber(whole: unknown): boolean {
  const open: unknown[] = [whole];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === 'number') {
      if (Math.abs(value) >= EXACT_BELOW) return true;
    } else if (Array.isArray(value)) {
      for (const element of value as readonly unknown[]) if (isWorthALook(element)) open.push(element);
    } else if (typeof value === 'object' && value !== null) {
      for (const name in value) {
        const member = (value as Readonly<Record<string, unknown>>)[name];
        if (isWorthALook(member)) open.push(member);
      }
    }
  }
  return false;
}

function isWorthALook(value: unknown): boolean {
  return typeof value === 'object' ? value !== null : typeof value === 'number' && Math.abs(value) >= EXACT_BELOW;
}
