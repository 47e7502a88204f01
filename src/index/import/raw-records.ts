/**
 * Converts raw records of a bulk import to record inputs. A record that cannot be read yields an error; the others
 * continue.
 *
 * CSV is UTF-8 with any separator. The header names the fields; the column `name` has the record's name, and `@vector`
 * its vector (`[0.1,0.2]`, or `[[…],[…]]` for several). An empty cell means no value. Cells are converted as the
 * definition requires: numbers and booleans (`true`, `false`, `1`, `0`) for facets of these types, `a|b|c` or a JSON
 * array for facets with many values, `latitude,longitude` for the location field; text everywhere else.
 */
import { isUtf8 } from 'node:buffer';
import type { FieldDefinition } from '../../catalog/index.js';
import { fieldKind, isNumberCell, numberKind } from '../../fields/index.js';
import {
  findJsonFault,
  isLongInteger,
  parseExactJson,
  repeatedMember,
  ServiceError,
  type JsonFault,
} from '../../platform/index.js';
import {
  INFERENCE_RECORDS_MAX,
  readRecordInput,
  validName,
  type InferenceSample,
  type RecordInput,
} from '../../records/index.js';
import type { CsvHeader, RawRecords } from '../contract/ingest-tasks.js';
import { csvRows, rowsOfPiece, type CsvRow } from './csv-rows.js';
import { LineFaults, toldDamagedCell, toldSyntaxFault } from './line-faults.js';

/** No field can have this name. */
export const VECTOR_COLUMN = '@vector';

export interface RawRecord {
  /** Line number, or element of a JSON array; from 1. */
  readonly line: number;
  /** The record, or the reason why it cannot be read. */
  readonly input: RecordInput | ServiceError;
  /** Name of the record; null if it has none or could not be read. */
  readonly name: string | null;
}

/** `toldMax`: number of malformed lines for which the position of the fault is reported. */
export function* jsonRecords(pieces: readonly RawRecords[], toldMax: number): Generator<RawRecord> {
  const faults = new LineFaults(NOT_JSON, toldMax);
  for (const { bytes, ends, lines } of pieces) {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    const isAllUtf8 = isUtf8(bytes);
    let begin = 0;
    let isBehindBroken = false;
    for (let index = 0; index < ends.length; ++index) {
      const end = ends[index] as number;
      const line = lines[index] as number;
      const record: RawRecord & { readonly isBroken?: true } =
        isAllUtf8 || isUtf8(bytes.subarray(begin, end))
          ? jsonRecord(buffer.toString('utf8', begin, end), line, { faults, isBehindBroken })
          : { line, input: NOT_UTF8, name: null };
      isBehindBroken = record.isBroken === true;
      yield record;
      begin = end;
    }
  }
}

/** Created once: creating an error costs twenty times as much as reading a short line, and every line may have one. */
const NOT_UTF8 = new ServiceError('malformed-json', 'The record is not valid UTF-8.');
const NOT_JSON = new ServiceError('malformed-json', 'The record is not valid JSON.');

/**
 * `isBehindBroken`: the record before was malformed, so this one probably is too. Checking it first costs less than an
 * exception of the parser.
 */
function jsonRecord(
  text: string,
  line: number,
  { faults, isBehindBroken }: { readonly faults: LineFaults; readonly isBehindBroken: boolean },
): RawRecord & { readonly isBroken?: true } {
  const broken = (fault?: JsonFault) => {
    const input = faults.at(() => toldSyntaxFault(text, fault ?? findJsonFault(text)));
    return { line, input, name: null, isBroken: true } as const;
  };
  const expected = isBehindBroken ? findJsonFault(text) : undefined;
  if (expected?.isSyntax === true) return broken(expected);
  let value: unknown;
  try {
    value = parseExactJson(text);
  } catch {
    return broken();
  }
  // One of the two values would be lost, as with a CSV header that names a column twice.
  const repeated = repeatedMember(text, value);
  if (repeated !== undefined)
    return { line, input: new ServiceError('malformed-json', `In the record ${repeated}.`), name: nameOf(value) };
  return recordOf(value, line);
}

function recordOf(value: unknown, line: number): RawRecord {
  const name = nameOf(value);
  try {
    return { line, input: readRecordInput(value), name };
  } catch (error) {
    if (error instanceof ServiceError) return { line, input: error, name };
    throw error;
  }
}

function nameOf(value: unknown): string | null {
  const name = typeof value === 'object' && value !== null ? (value as { name?: unknown }).name : undefined;
  return typeof name === 'string' ? name : null;
}

/** Names records that have no name by the value of this field. A record without such a value yields an error. */
export function* namedRecords(records: Iterable<RawRecord>, nameFrom: string): Generator<RawRecord> {
  for (const record of records) {
    const { line, input, name } = record;
    yield input instanceof ServiceError || input.name !== undefined
      ? record
      : { line, name, ...named(input, nameFrom) };
  }
}

function named(input: RecordInput, nameFrom: string): Partial<RawRecord> & Pick<RawRecord, 'input'> {
  const raw = Object.hasOwn(input.fields, nameFrom) ? input.fields[nameFrom] : undefined;
  const value: unknown = Array.isArray(raw) && raw.length === 1 ? raw[0] : raw;
  if (typeof value !== 'string' && typeof value !== 'number') {
    const detail = `The record has no name, and its field '${nameFrom}' has no text or number to use as its name.`;
    return { input: new ServiceError('invalid-record', detail) };
  }
  try {
    const name = validName(String(value));
    return { input: { ...input, name }, name: name ?? null };
  } catch (error) {
    if (error instanceof ServiceError) return { input: error };
    throw error;
  }
}

/** Samples the first readable records, from which a definition is inferred. */
export function samplesOf(records: Iterable<RawRecord>): InferenceSample[] {
  const samples: InferenceSample[] = [];
  for (const { input } of records) {
    if (input instanceof ServiceError) continue;
    samples.push({ named: input.name !== undefined, fields: input.fields, flat: input.flat });
    if (samples.length >= INFERENCE_RECORDS_MAX) break;
  }
  return samples;
}

interface CsvReading {
  readonly definition: FieldDefinition;
  /** Number of malformed lines whose fault is described. */
  readonly toldMax: number;
  readonly nameFrom?: string | undefined;
}

/** While the definition is still to be inferred, cells that look like numbers or booleans are converted to these. */
export function* csvRecords(
  header: CsvHeader,
  pieces: readonly RawRecords[],
  { definition, toldMax, nameFrom = '' }: CsvReading,
): Generator<RawRecord> {
  const columns = columnsOf(header);
  const nameColumn = columns.indexOf(nameFrom);
  if (nameFrom !== '' && !columns.includes(nameFrom))
    throw malformed(`The header of the CSV has no column '${shownName(nameFrom)}', from which names were to be taken.`);
  const cellReaders = columns.map((column) => cellReader(column, definition));
  const faults = new LineFaults(FAULTY_LINES['no-csv'], toldMax);
  for (const piece of pieces) {
    let at = 0;
    for (const row of rowsOfPiece(piece, header.separator)) {
      const line = piece.lines[at] as number;
      at += 1;
      const cells = isRow(row) ? (faultOf(row, columns, faults) ?? row) : faultyLine(row, columns, faults);
      if (cells instanceof ServiceError) {
        yield { line, input: cells, name: null };
        continue;
      }
      // The name is the cell's text as written, whatever the type of its field. A value in the column `name` takes
      // precedence.
      const cell = cells[nameColumn] ?? '';
      const named = cell === '' ? {} : { name: cell };
      yield recordOf({ ...named, ...csvRecord(columns, cells, cellReaders) }, line);
    }
  }
}

/** Created once, like those of JSON. */
const FAULTY_LINES = {
  'no-csv': new ServiceError('invalid-record', 'The line is not valid CSV.'),
  'no-utf8': new ServiceError('invalid-record', 'The line is not valid UTF-8.'),
};

const isRow = (row: CsvRow): row is readonly string[] => Array.isArray(row);

function faultyLine(
  row: Exclude<CsvRow, readonly string[]>,
  columns: readonly string[],
  faults: LineFaults,
): ServiceError {
  if (typeof row === 'string') return FAULTY_LINES[row];
  return faults.at(() => {
    const cell = row.cell();
    const column = columns[cell] ?? '';
    return toldDamagedCell(cell, row.fault, column === '' ? undefined : shownName(column));
  });
}

function faultOf(row: readonly string[], columns: readonly string[], faults: LineFaults): ServiceError | undefined {
  if (row.length !== columns.length) {
    return faults.at(() => {
      const missing = columns[row.length] ?? '';
      const which = missing === '' ? '' : ` It ends before '${shownName(missing)}'.`;
      return `The line has ${row.length} values, the header ${columns.length}.${which}`;
    });
  }
  const nameless = columns.findIndex((column, at) => column === '' && row[at] !== '');
  if (nameless < 0) return undefined;
  return faults.at(() => `The header has no name for column ${nameless + 1}, in which the line has a value.`);
}

/** Throws `malformed-request` for a header with which values would be lost. */
function columnsOf({ bytes, separator }: CsvHeader): string[] {
  if (!isUtf8(bytes)) throw malformed('The first line of the CSV is not valid UTF-8.');
  const columns = csvRows(bytes, separator)?.[0];
  if (columns === undefined) throw malformed('The first line of the CSV does not name its columns.');
  const twice = namedTwice(columns);
  if (twice !== undefined) throw malformed(`The header of the CSV names the column '${shownName(twice)}' twice.`);
  return columns;
}

/** Returns the first name that occurs a second time. Linear, because a line may have a hundred thousand names. */
function namedTwice(columns: readonly string[]): string | undefined {
  const seen = new Set<string>();
  return columns.find((column) => {
    if (seen.has(column)) return true;
    if (column !== '') seen.add(column);
    return false;
  });
}

const malformed = (detail: string) => new ServiceError('malformed-request', detail);

/** Shortens the name of a column to what fits into a sentence. */
const shownName = (column: string) => (column.length > NAME_SHOWN_MAX ? `${column.slice(0, NAME_SHOWN_MAX)}…` : column);
const NAME_SHOWN_MAX = 60;

type CellReader = (cell: string) => unknown;

function csvRecord(columns: readonly string[], row: readonly string[], readers: readonly CellReader[]): object {
  const fields: Record<string, unknown> = {};
  const beside: Record<string, unknown> = {};
  columns.forEach((column, index) => {
    const cell = row[index] ?? '';
    if (cell === '') return;
    if (column === 'name') beside['name'] = cell;
    else if (column === VECTOR_COLUMN) Object.assign(beside, vectorsOfCell(cell));
    else fields[column] = (readers[index] as CellReader)(cell);
  });
  return { ...beside, fields };
}

/** A value that is not an array is refused when the record is read. */
function vectorsOfCell(cell: string): { readonly vector: unknown } | { readonly vectors: unknown } {
  let value: unknown = cell;
  try {
    value = JSON.parse(cell);
  } catch {
    // Not JSON: kept as text.
  }
  return Array.isArray(value) && Array.isArray(value[0]) ? { vectors: value } : { vector: value };
}

const asText: CellReader = (cell) => cell;
const asNumber: CellReader = (cell) => numberKind.ofCell(cell);
const asGuess: CellReader = (cell) => {
  if (isNumberCell(cell)) return isLongInteger(cell) ? cell : Number(cell);
  return cell === 'true' || cell === 'false' ? cell === 'true' : cell;
};
const asPoint: CellReader = (cell) => {
  const [latitude, longitude, ...rest] = cell.split(',').map(asNumber);
  return rest.length === 0 && typeof latitude === 'number' && typeof longitude === 'number'
    ? { latitude, longitude }
    : cell;
};

function cellReader(column: string, definition: FieldDefinition): CellReader {
  if (definition.inferred === 'pending') return asGuess;
  if (column === definition.location_field) return asPoint;
  const facet = definition.facets.find((candidate) => candidate.name === column);
  if (facet === undefined) return asText;
  const kind = fieldKind(facet.type);
  const single: CellReader = (cell) => kind.ofCell(cell);
  return facet.cardinality === 'Single'
    ? single
    : (cell) => manyValues(cell).map((value) => (typeof value === 'string' ? single(value) : value));
}

function manyValues(cell: string): unknown[] {
  if (cell.startsWith('[')) {
    try {
      return parseExactJson(cell) as unknown[];
    } catch {
      // Not JSON after all, but a text that begins with a bracket.
    }
  }
  return cell
    .split('|')
    .map((value) => value.trim())
    .filter((value) => value !== '');
}
