/** Records as lines of CSV (RFC 4180). */

export interface ExportedRecord {
  readonly name: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly vector?: readonly number[];
  /** Of a record with several. */
  readonly vectors?: readonly (readonly number[])[];
}

/** As a CSV brings vectors. */
export const VECTOR_COLUMN = '@vector';

export interface CsvOptions {
  readonly withVectors?: boolean;
  /** No text is a formula to a program that shows tables; an import takes such a file for other records. */
  readonly forSpreadsheets?: boolean;
}

/** A field, and what an import makes of its cells: of a Many facet `several` values, of a Single one `one`, of every other field its `text` or its `point`. */
export interface CsvColumn {
  readonly name: string;
  readonly holds: 'text' | 'one' | 'several' | 'point';
}

export function csvHeading(
  columns: readonly CsvColumn[],
  { withVectors = false, forSpreadsheets }: CsvOptions = {},
): string {
  const cells = ['name', ...columns.map(({ name }) => name)].map((cell) =>
    forSpreadsheets === true ? harmless(cell) : cell,
  );
  return csvLine([...cells, ...(withVectors ? [VECTOR_COLUMN] : [])]);
}

export function csvRow(record: ExportedRecord, columns: readonly CsvColumn[], options: CsvOptions = {}): string {
  const { name, fields, vector, vectors } = record;
  const { withVectors = false, forSpreadsheets = false } = options;
  const beside = withVectors ? [JSON.stringify(vector ?? vectors) ?? ''] : [];
  const cells = [name, ...columns.map((column) => cellText(fields[column.name], column))];
  return csvLine([...(forSpreadsheets ? cells.map(harmless) : cells), ...beside]);
}

/** Begins a formula, or may where a program leaves out what is before it (docs/decisions/0292). */
const FORMULA = /^[\s\p{Cc}]*[=+\-@＝＋－＠]/u;
const NUMBER = /^[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;

/** A text stays one: spreadsheets show an apostrophe that begins a cell of a file, and calculate nothing. */
function harmless(cell: string): string {
  return FORMULA.test(cell) && !NUMBER.test(cell) ? `'${cell}` : cell;
}

/** Fields of the record that an import of the CSV would not bring back as they are: it has no empty texts and no halves of pairs, and cells have no types but those of facets. */
export function changedFields({ fields }: ExportedRecord, columns: readonly CsvColumn[]): string[] {
  return columns.filter(({ name, holds }) => !comesBack(fields[name], holds)).map(({ name }) => name);
}

function comesBack(value: unknown, holds: CsvColumn['holds']): boolean {
  if (value === undefined || value === null || holds === 'several') return true;
  if (holds === 'point') return isPoint(value);
  if (holds === 'text') return isSayable(value);
  const one: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  return typeof one === 'string' ? isSayable(one) : !Array.isArray(one);
}

function isSayable(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && !HALF_OF_A_PAIR.test(value);
}

/** A surrogate by itself, which UTF-8 does not have; JSON writes it as an escape. */
const HALF_OF_A_PAIR = /\p{Surrogate}/u;

/** What would not be itself as the cell of a Many facet, which is JSON, or values behind `|`. */
const NOT_ONE = /^\[|\||^\s|\s$|^$|\p{Surrogate}/u;

/** As the import reads them: one value as it is (facets are arrays even of one), several as JSON, a point as `51.5,-0.12`. */
function cellText(value: unknown, column: CsvColumn): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value) && value.length === 1) {
    const one: unknown = value[0];
    // As several are: it would be taken for some, or for none.
    const isMistaken = column.holds === 'several' && typeof one === 'string' && NOT_ONE.test(one);
    return isMistaken ? JSON.stringify(value) : cellText(one, column);
  }
  if (isPoint(value)) return `${value.latitude},${value.longitude}`;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function isPoint(value: unknown): value is { readonly latitude: number; readonly longitude: number } {
  return typeof value === 'object' && value !== null && 'latitude' in value && 'longitude' in value;
}

export function csvLine(cells: readonly string[]): string {
  return `${cells.map(quoted).join(',')}\n`;
}

/** Also around what could be taken for another separator (records/csv-text.ts). */
function quoted(cell: string): string {
  return /[",;\t\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
