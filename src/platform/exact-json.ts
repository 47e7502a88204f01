/** JSON whose integers keep all their digits. */

/** From here on two integers that are written differently may be the same number. */
const EXACT_BELOW = 2 ** 53;
/** Where a text begins, or whatever could be part of a number. */
const QUOTE_OR_NUMBER = /"|[-+.\w]+/gu;
const INTEGER = /^-?[1-9]\d*$/u;

/**
 * The value of a JSON text. An integer that no number here holds, such as `12345678901234567890`, comes as the text of its digits: identifiers of
 * this length are usual, and two that differ in their last digits would be one. Throws as `JSON.parse` does.
 */
export function parseExactJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return holdsLargeNumber(value) ? (JSON.parse(withQuotedIntegers(text)) as unknown) : value;
}

/** True for the text that such an integer has become. */
export function isLongInteger(value: unknown): value is string {
  return typeof value === 'string' && INTEGER.test(value) && String(Number(value)) !== value;
}

/** Of a text that is JSON. By hand, since a pattern of all that is between two quotes has no room for millions of escapes. */
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

/** Without recursion: however deep it is. */
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
