/** Parses the first records of a file, and infers their fields as the service would. */
import { isNumberCell } from '../../../../fields/index.js';
import { isLongInteger, parseExactJson } from '../../../../platform/exact-json.js';
import { plainLetters } from '../../../../platform/plain-letters.js';
import { separatorOf } from '../../../../records/csv-text.js';
import { inferDefinition, type InferenceSample } from '../../../../records/definition-inference.js';
import { isCalledKey, namelessRecords } from '../../../../records/nameless-records.js';
import { piecesOf, type FileReading, type Piece } from './file-records.js';

export type FieldDefinition = ReturnType<typeof inferDefinition>;

export interface FileSample {
  readonly records: readonly InferenceSample[];
  readonly definition: FieldDefinition;
  /** Undefined if all records have names. */
  readonly nameless: NamelessSample | undefined;
}

export interface NamelessSample {
  /** Fields that may name the records. */
  readonly fields: readonly string[];
  /** A field that is unique and named like a key. '' if there is none. */
  readonly key: string;
}

const NAMES_MAX = 64;

/** Rejects with a message if the file has no records, or does not begin with one. */
export async function sampleOf(file: Blob, reading: FileReading): Promise<FileSample> {
  const piece = await firstOf(piecesOf(file, reading));
  if (piece === undefined) throw new Error('The file contains no records.');
  const text = new TextDecoder().decode(piece.data);
  const read = reading.format === 'csv' ? csvRecords(text) : lineRecords(text);
  const records = read.map(asSample);
  return { records, definition: inferDefinition(records), nameless: namelessOf(read, records) };
}

function namelessOf(read: readonly unknown[], records: readonly InferenceSample[]): NamelessSample | undefined {
  const nameless = namelessRecords(read);
  if (nameless === undefined) return undefined;
  const isName = (value: unknown) => typeof value === 'string' || typeof value === 'number';
  const named = records.flatMap(({ fields }) => Object.keys(fields).filter((name) => isName(fields[name])));
  const key = nameless.suggestion !== undefined && isCalledKey(nameless.suggestion) ? nameless.suggestion : '';
  return { fields: [...new Set(named)].filter((name) => name !== 'name'), key };
}

async function firstOf(pieces: AsyncIterable<Piece>): Promise<Piece | undefined> {
  for await (const piece of pieces) return piece;
  return undefined;
}

/** `Films 2024.csv` → `films-2024`: a valid name for a list, or '' if nothing remains. */
export function listNameOf(file: string): string {
  // `Bücher` becomes `bucher`: names have letters without marks.
  return plainLetters(file.replace(/\.[^.]*$/, ''))
    .replace(/[^a-z0-9_-]+/g, '-')
    .replace(/^[^a-z0-9]+|-+$/g, '')
    .slice(0, NAMES_MAX);
}

/**
 * Parses the lines that are records; the service reports the others during the import. Throws the first error if there
 * is no record.
 */
function lineRecords(text: string): unknown[] {
  const records: unknown[] = [];
  let fault: Error | undefined;
  for (const line of text.split('\n').filter((each) => each.trim() !== '')) {
    try {
      const record = parseExactJson(line);
      asSample(record);
      records.push(record);
    } catch (error) {
      fault ??= error instanceof Error ? error : new Error(String(error));
    }
  }
  if (records.length === 0 && fault !== undefined) throw fault;
  return records;
}

function csvRecords(text: string): unknown[] {
  const [columns = [], ...rows] = csvRows(text);
  return rows.map((row) =>
    Object.fromEntries(
      columns.flatMap((column, index) => ((row[index] ?? '') === '' ? [] : [[column, cellValue(row[index] ?? '')]])),
    ),
  );
}

/** Converts a cell as the service does for a list whose fields are not determined yet. */
function cellValue(cell: string): unknown {
  if (isNumberCell(cell)) return isLongInteger(cell) ? cell : Number(cell);
  return cell === 'true' || cell === 'false' ? cell === 'true' : cell;
}

/** Parses CSV (RFC 4180) with the separator of the first row. */
export function csvRows(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  const content = text.replace(/^\ufeff/, '');
  const separator = separatorOf(content);
  const cell = new RegExp(`("(?:[^"]|"")*"|[^${separator}\\r\\n]*)(${separator}|\\r?\\n|$)`, 'gy');
  while (cell.lastIndex < content.length) {
    const match = cell.exec(content);
    // The sample ends before invalid CSV, which the service reports.
    if (match === null) break;
    const [, value = '', end] = match;
    row.push(value.startsWith('"') ? value.slice(1, -1).replaceAll('""', '"') : value);
    if (end === separator) continue;
    if (row.length > 1 || row[0] !== '') rows.push(row);
    row = [];
  }
  return rows;
}

function asSample(record: unknown): InferenceSample {
  if (typeof record !== 'object' || record === null || Array.isArray(record)) {
    throw new Error('Each record must be a JSON object with a member for each field.');
  }
  const { name, fields } = record as { name?: unknown; fields?: unknown };
  const isNested =
    typeof fields === 'object' &&
    fields !== null &&
    Object.keys(record).every((key) => key === 'name' || key === 'fields');
  const named = typeof name === 'string';
  if (isNested) return { named, fields: fields as InferenceSample['fields'], flat: false };
  return { named, fields: record as InferenceSample['fields'], flat: true };
}
