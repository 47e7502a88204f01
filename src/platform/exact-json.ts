/** JSON whose integers keep all their digits. */

/** From here on two integers that are written differently may be the same number. */
const EXACT_BELOW = 2 ** 53;
/** A text between quotes, or whatever else could be part of a number. In what is no JSON it may find others: that stays no JSON. */
const TEXT_OR_NUMBER = /"[^"\\]*(?:\\[^][^"\\]*)*"|[-+.\w]+/gu;
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

function withQuotedIntegers(text: string): string {
  return text.replace(TEXT_OR_NUMBER, (found) => (isLongInteger(found) ? `"${found}"` : found));
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
