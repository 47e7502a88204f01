/** Parses the first records of a file to be imported, for hints about them. */
import { parse } from 'csv-parse/sync';
import { csvTextOf, type RecordFormat } from '../records/index.js';

/** From the first bytes of the file. */
const RECORDS_MAX = 1000;

/** Returns nothing if they cannot be parsed, since the service reports what is wrong. */
export function firstRecords(begin: Uint8Array, format: RecordFormat): readonly unknown[] {
  try {
    return readers[format](begin).slice(0, RECORDS_MAX);
  } catch {
    return [];
  }
}

/** Ignore what follows the last complete record. */
const readers: Readonly<Record<RecordFormat, (begin: Uint8Array) => readonly unknown[]>> = {
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
