/** Formats records as lines of CSV (RFC 4180). */

export interface ExportedRecord {
  readonly name: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly vector?: readonly number[];
  /** Set for a record with several vectors. */
  readonly vectors?: readonly (readonly number[])[];
}

/** Column of vectors in a CSV. */
export const VECTOR_COLUMN = '@vector';

export interface CsvOptions {
  readonly withVectors?: boolean;
  /** Prevents spreadsheets from taking texts for formulas. Importing such a file would change records. */
  readonly forSpreadsheets?: boolean;
}

/**
 * A field, and how an import reads its cells: `several` values of a Many facet, `one` of a Single facet, a `point`, or
 * `text` of any other field.
 */
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

/**
 * Matches texts that are formulas, or become formulas in programs that skip leading characters (docs/decisions/0292).
 */
const FORMULA = /^[\s\p{Cc}]*[=+\-@＝＋－＠]/u;
const NUMBER = /^[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;

/** Keeps a text from becoming a formula: spreadsheets show a leading apostrophe and calculate nothing. */
function harmless(cell: string): string {
  return FORMULA.test(cell) && !NUMBER.test(cell) ? `'${cell}` : cell;
}

/**
 * Returns the fields that an import of the CSV would change: CSV has no empty texts and no unpaired surrogates, and
 * cells have no types except those of facets.
 */
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

/** UTF-8 cannot encode an unpaired surrogate; JSON escapes it. */
const HALF_OF_A_PAIR = /\p{Surrogate}/u;

/** Matches texts that a Many facet's cell would misread, since such cells are JSON or values separated by `|`. */
const NOT_ONE = /^\[|\||^\s|\s$|^$|\p{Surrogate}/u;

/**
 * Formats a value for the import: a single value as it is (facets are arrays even of one), several as JSON, a point as
 * `51.5,-0.12`.
 */
function cellText(value: unknown, column: CsvColumn): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value) && value.length === 1) {
    const one: unknown = value[0];
    // Written as JSON, since it would be read as several values, or none.
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

/** Quotes cells, including those with characters that could be taken for another separator (records/csv-text.ts). */
function quoted(cell: string): string {
  return /[",;\t\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
