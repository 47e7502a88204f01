/** Reads coordinates in degrees, as the options `radius` and `box` have them. */

/** Allows a negative exponent, with which programs print numbers near zero. */
const COORDINATE = /^[+-]?\d{1,3}(?:\.\d+)?(?:e-\d{1,3})?$/i;

/** Returns the degrees of a text; undefined if it is not a number of degrees. */
export function degreesOf(text: string): number | undefined {
  return COORDINATE.test(text) ? Number(text) : undefined;
}

/** Returns whether an option in a query string is a JSON object instead of numbers with commas between them. */
export function isJsonObject(text: string): boolean {
  return text.trimStart().startsWith('{');
}

/**
 * Returns the numbers of a JSON object that has exactly these members, in their order; undefined for any other text.
 */
export function numbersOf(text: string, names: readonly string[]): readonly number[] | undefined {
  const members = membersOf(text);
  const numbers = names.map((name) => members[name]).filter((value) => typeof value === 'number');
  return numbers.length === names.length && Object.keys(members).length === names.length ? numbers : undefined;
}

function membersOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}
