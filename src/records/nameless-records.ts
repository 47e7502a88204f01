/**
 * Detects whether the first records of an import lack names, and which of their fields could serve as one. A record
 * without a name is added again each time that it is imported, which few users expect when they import a file again.
 */
import { RECORD_NAME_CHARACTERS_MAX } from '../platform/limits.js';

/** Words for keys, at the end of a field's name. */
const KEY_WORDS = /(?:^|[^a-z])(?:id|uuid|guid|key|sku|isbn|ean|gtin|code|slug|url|number|no)$/iu;

export interface Nameless {
  /** A field that all of them have, with different values. */
  readonly suggestion: string | undefined;
}

/** True if the field's name suggests that it identifies records. */
export const isCalledKey = (field: string): boolean => KEY_WORDS.test(field);

type Fields = Readonly<Record<string, unknown>>;

/** `first`: the records at the beginning of the file. Undefined if all have names, or there are none. */
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

/** Returns the first suitable field whose name suggests a key, or else the first field if it is suitable. */
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
