/**
 * Whether the first records of an import have names, and which of their fields would do for one. A record without a name is a new one
 * each time that it is imported, which few expect of a file that they import again.
 */
import { parse } from 'csv-parse/sync';
import { RECORD_NAME_CHARACTERS_MAX } from '../platform/index.js';
import { csvTextOf } from '../records/index.js';
import type { ImportFormat } from './record-counter.js';

/** Of the first bytes of the file: enough to tell, and parsed once. */
const RECORDS_MAX = 1000;
/** What keys are called, at the end of a field's name. */
const KEY_WORDS = /(?:^|[^a-z])(?:id|uuid|guid|key|sku|isbn|ean|gtin|code|slug|url|number|no)$/iu;

export interface Nameless {
  /** A field that is in all of them, and different in each. */
  readonly suggestion: string | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

/** `begin`: the first bytes of the file. Undefined where the records have names, or cannot be read. */
export function namelessRecords(begin: Uint8Array, format: ImportFormat): Nameless | undefined {
  let records: readonly unknown[];
  try {
    records = readers[format](begin).slice(0, RECORDS_MAX);
  } catch {
    // The service says what is wrong with it.
    return undefined;
  }
  const nameless = records.filter(isObject).filter(({ name }) => name === undefined || name === null || name === '');
  return nameless.length === 0 ? undefined : { suggestion: suggestionOf(nameless.map(fieldsOf)) };
}

/** What lies behind the last whole record is left out. */
const readers: Readonly<Record<ImportFormat, (begin: Uint8Array) => readonly unknown[]>> = {
  ndjson: (begin) => wholeLines(new TextDecoder().decode(begin)).map((line) => JSON.parse(line) as unknown),
  json: (begin) => {
    const text = new TextDecoder().decode(begin);
    const end = text.lastIndexOf('}');
    return JSON.parse(text.trimEnd().endsWith(']') ? text : `${text.slice(0, end + 1)}]`) as unknown[];
  },
  csv: (begin) => {
    const { text, separator } = csvTextOf(begin);
    return parse(text.slice(0, text.lastIndexOf('\n') + 1), {
      bom: true,
      columns: true,
      delimiter: separator,
      relax_column_count: true,
      skip_empty_lines: true,
      to: RECORDS_MAX,
    });
  },
};

function wholeLines(text: string): readonly string[] {
  const lines = text.split('\n');
  return lines.slice(0, Math.max(1, lines.length - 1)).filter((line) => line.trim() !== '');
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
  const candidates = names.filter((name) => KEY_WORDS.test(name));
  return [...candidates, ...names.slice(0, 1)].find((name) => isKey(records.map((record) => record[name])));
}

function isKey(values: readonly unknown[]): boolean {
  const isText = (value: unknown) =>
    typeof value === 'number' ||
    (typeof value === 'string' && value !== '' && value.length <= RECORD_NAME_CHARACTERS_MAX);
  return values.every(isText) && new Set(values.map(String)).size === values.length;
}
