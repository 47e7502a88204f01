/**
 * Whether the first records of an import have names, and which of their fields would do for one. A record without a name is a new one
 * each time that it is imported, which few expect of a file that they import again.
 */
import { RECORD_NAME_CHARACTERS_MAX } from '../platform/limits.js';

/** What keys are called, at the end of a field's name. */
const KEY_WORDS = /(?:^|[^a-z])(?:id|uuid|guid|key|sku|isbn|ean|gtin|code|slug|url|number|no)$/iu;

export interface Nameless {
  /** A field that is in all of them, and different in each. */
  readonly suggestion: string | undefined;
}

/** Of a field: whether its name says that it tells records apart. */
export const isCalledKey = (field: string): boolean => KEY_WORDS.test(field);

type Fields = Readonly<Record<string, unknown>>;

/** `first`: the records that the file begins with. Undefined where they have names, or there is none. */
export function namelessRecords(first: readonly unknown[]): Nameless | undefined {
  const nameless = first.filter(isObject).filter(({ name }) => name === undefined || name === null || name === '');
  return nameless.length === 0 ? undefined : { suggestion: suggestionOf(nameless.map(fieldsOf)) };
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fieldsOf(record: Fields): Fields {
  const { fields } = record;
  return isObject(fields) ? fields : record;
}

/** The first that is called as keys are, else the first of all. */
function suggestionOf(records: readonly Fields[]): string | undefined {
  const [first] = records;
  if (first === undefined) return undefined;
  const names = Object.keys(first);
  const candidates = names.filter(isCalledKey);
  return [...candidates, ...names.slice(0, 1)].find((name) => isKey(records.map((record) => record[name])));
}

function isKey(values: readonly unknown[]): boolean {
  const isText = (value: unknown) =>
    typeof value === 'number' ||
    (typeof value === 'string' && value !== '' && value.length <= RECORD_NAME_CHARACTERS_MAX);
  return values.every(isText) && new Set(values.map(String)).size === values.length;
}
