/**
 * Raw records of a bulk import to record inputs. A record that cannot be read is an error of its own; the others go on.
 *
 * CSV, in UTF-8 and behind any separator: the header names the fields, `name` is the record's name, and `@vector` its vector (`[0.1,0.2]`, or `[[…],[…]]` for several). An empty cell is no value. Cells become what the
 * definition wants: numbers and booleans (`true`, `false`, `1`, `0`) for facets of these types, `a|b|c` or a JSON array for
 * Many facets, `latitude,longitude` for the location field; text everywhere else.
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

/** No field has such a name. */
export const VECTOR_COLUMN = '@vector';

export interface RawRecord {
  /** 1-based line, or element of a JSON array. */
  readonly line: number;
  /** The record, or what is wrong with it. */
  readonly input: RecordInput | ServiceError;
  /** Where it could be read that far. */
  readonly name: string | null;
}

/** `toldMax`: of how many lines that are no records it is told where. */
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

/** Made once: an error takes twenty times as long as a short line, and there may be one for every line. */
const NOT_UTF8 = new ServiceError('malformed-json', 'The record is not valid UTF-8.');
const NOT_JSON = new ServiceError('malformed-json', 'The record is not valid JSON.');

/** `isBehindBroken`: this one is probably no JSON either. Looking at it then costs less than an attempt to parse it, which is an exception. */
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
  // One of the two values would be lost, as where the header of a CSV names a column twice.
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

/** The same, where those without a name are named by the value of this field; one that has none is an error of its own. */
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
    const detail = `The record has no name, and no text or number in the field '${nameFrom}' that would be its name.`;
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

/** Samples for the inference of a definition: those of the first records that can be read. */
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
  /** Of how many lines that are no rows it is told what is wrong with them. */
  readonly toldMax: number;
  readonly nameFrom?: string | undefined;
}

/** Where the definition is still to be inferred, cells that look like numbers or booleans become these. */
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
      // As the cell is written, whatever its field makes of it; that of the column `name` goes before it.
      const cell = cells[nameColumn] ?? '';
      const named = cell === '' ? {} : { name: cell };
      yield recordOf({ ...named, ...csvRecord(columns, cells, cellReaders) }, line);
    }
  }
}

/** Made once, as those of JSON. */
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

/** Throws `malformed-request` for a header by which values would be lost. */
function columnsOf({ bytes, separator }: CsvHeader): string[] {
  if (!isUtf8(bytes)) throw malformed('The first line of the CSV is not valid UTF-8.');
  const columns = csvRows(bytes, separator)?.[0];
  if (columns === undefined) throw malformed('The first line of the CSV does not name its columns.');
  const twice = namedTwice(columns);
  if (twice !== undefined) throw malformed(`The header of the CSV names the column '${shownName(twice)}' twice.`);
  return columns;
}

/** The first that was there before. A line may have a hundred thousand of them: none is compared with all others. */
function namedTwice(columns: readonly string[]): string | undefined {
  const seen = new Set<string>();
  return columns.find((column) => {
    if (seen.has(column)) return true;
    if (column !== '') seen.add(column);
    return false;
  });
}

const malformed = (detail: string) => new ServiceError('malformed-request', detail);

/** As much of the name of a column as a sentence has room for. */
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

/** What is no array is refused where the record is read. */
function vectorsOfCell(cell: string): { readonly vector: unknown } | { readonly vectors: unknown } {
  let value: unknown = cell;
  try {
    value = JSON.parse(cell);
  } catch {
    // As text.
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
      // Not JSON after all: a text that begins with a bracket.
    }
  }
  return cell
    .split('|')
    .map((value) => value.trim())
    .filter((value) => value !== '');
}
