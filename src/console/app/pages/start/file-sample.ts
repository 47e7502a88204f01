/** The first records of a file, and what the service would make of their fields. */
import { isNumberCell } from '../../../../fields/index.js';
import { isLongInteger, parseExactJson } from '../../../../platform/exact-json.js';
import { separatorOf } from '../../../../records/csv-text.js';
import { inferDefinition, type InferenceSample } from '../../../../records/definition-inference.js';
import { isCalledKey, namelessRecords } from '../../../../records/nameless-records.js';
import { piecesOf, type FileReading, type Piece } from './file-records.js';

export type FieldDefinition = ReturnType<typeof inferDefinition>;

export interface FileSample {
  readonly records: readonly InferenceSample[];
  readonly definition: FieldDefinition;
  /** Undefined where all of them have names. */
  readonly nameless: NamelessSample | undefined;
}

export interface NamelessSample {
  /** That may name them. */
  readonly fields: readonly string[];
  /** One of them that tells the records apart and is called as keys are; '' where none does. */
  readonly key: string;
}

const NAMES_MAX = 64;

/** Rejects with a sentence where the file has no records, or does not begin with one. */
export async function sampleOf(file: Blob, reading: FileReading): Promise<FileSample> {
  const piece = await firstOf(piecesOf(file, reading));
  if (piece === undefined) throw new Error('The file has no records.');
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

/** `Films 2024.csv` → `films-2024`: a name that a list can have; '' where nothing is left. */
export function listNameOf(file: string): string {
  // `Bücher` is `bucher`: a letter without its marks is one that a name can have.
  const stem = file
    .replace(/\.[^.]*$/, '')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase();
  return stem
    .replace(/[^a-z0-9_-]+/g, '-')
    .replace(/^[^a-z0-9]+|-+$/g, '')
    .slice(0, NAMES_MAX);
}

/** Of the lines that are records: the service names the others when they are imported. Throws for the first where none is one. */
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

/** As the service reads cells of a list whose fields are not settled. */
function cellValue(cell: string): unknown {
  if (isNumberCell(cell)) return isLongInteger(cell) ? cell : Number(cell);
  return cell === 'true' || cell === 'false' ? cell === 'true' : cell;
}

/** RFC 4180, with the separator of the first row: cells behind separators, rows by line ends, quotes around what has either. */
export function csvRows(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  const content = text.replace(/^\ufeff/, '');
  const separator = separatorOf(content);
  const cell = new RegExp(`("(?:[^"]|"")*"|[^${separator}\\r\\n]*)(${separator}|\\r?\\n|$)`, 'gy');
  while (cell.lastIndex < content.length) {
    const match = cell.exec(content);
    // What is no CSV is the service's to name; the sample ends before it.
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
    throw new Error('A record is an object with a member for each field.');
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
