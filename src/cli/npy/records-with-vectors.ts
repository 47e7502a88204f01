/**
 * Joins the records of an import with the rows of a matrix, in order. The output has as many lines as the input, so
 * that line numbers in the service's answer match the file.
 */
import { pipeline, Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { CsvText, type CsvSeparator, type RecordFormat } from '../../records/index.js';
import { csvLine, VECTOR_COLUMN } from '../export-csv.js';
import { CommandError, EXIT } from '../exit-codes.js';
import { changedLines, recordOfLine, wrappedFields, type JsonObject } from '../../records/record-lines.js';
import type { NpyReader } from './npy-file.js';

/** Significant digits that distinguish any two 32-bit floats. */
const FLOAT_DIGITS = 9;

/** Throws a CommandError if the numbers of records and rows differ. */
export async function* recordsWithVectors(
  source: AsyncIterable<Uint8Array>,
  format: RecordFormat,
  vectors: NpyReader,
): AsyncGenerator<Uint8Array> {
  if (format === 'json') {
    throw new CommandError('--npy works with NDJSON and CSV only.', EXIT.usage);
  }
  let records = 0;
  const next = async (): Promise<Float32Array> => {
    const row = await vectors.next();
    if (row === undefined) throw unequal(vectors, `the file has a record ${records + 1}`);
    records += 1;
    return row;
  };
  yield* format === 'csv' ? csvWithVectors(source, next) : changedLines(source, (line) => lineWithVector(line, next));
  if (records < vectors.rows) throw unequal(vectors, `the file has only ${records} records`);
}

function unequal({ path, rows }: NpyReader, what: string): CommandError {
  return new CommandError(
    `${path} has ${rows} vectors, but ${what}. Each record needs one row. The records before that are imported.`,
  );
}

type NextRow = () => Promise<Float32Array>;

/**
 * Returns undefined for a row of zeros, which means no vector. NaN and infinities become null, which the service
 * refuses for this record.
 */
function vectorText(row: Float32Array): string | undefined {
  if (row.every((value) => value === 0)) return undefined;
  return JSON.stringify(Array.from(row, (value) => Number(value.toPrecision(FLOAT_DIGITS))));
}

/** Leaves invalid records unchanged for the service to report. */
async function lineWithVector(line: string, next: NextRow): Promise<string> {
  if (line.trim() === '') return line;
  const vector = vectorText(await next());
  const record = recordOfLine(line);
  if (vector === undefined || record === undefined) return line;
  const { vector: _one, vectors: _several, ...wrapped } = wrappedRecord(record);
  return `${JSON.stringify(wrapped).slice(0, -1)},"vector":${vector}}`;
}

/** Returns the form of a record that has room for a vector; a flat record may have a field of any name. */
function wrappedRecord(record: JsonObject): JsonObject {
  if (wrappedFields(record) !== undefined) return record;
  const { name, ...others } = record;
  return { ...(name === undefined ? {} : { name }), fields: others };
}

async function* csvWithVectors(source: AsyncIterable<Uint8Array>, next: NextRow): AsyncGenerator<Uint8Array> {
  const rows = csvRows(source);
  let isHeading = true;
  for await (const row of rows) {
    if (isHeading) {
      if (row.includes(VECTOR_COLUMN)) {
        throw new CommandError(
          `The file has a column ${VECTOR_COLUMN}. Remove the column, or leave out --npy: vectors come from one of them.`,
        );
      }
      isHeading = false;
      yield Buffer.from(csvLine([...row, VECTOR_COLUMN]));
    } else {
      yield Buffer.from(csvLine([...row, vectorText(await next()) ?? '']));
    }
  }
}

async function* csvRows(source: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  const { separator, text } = await readableCsv(source);
  const options = { delimiter: separator, bom: true, relax_column_count: true, skip_empty_lines: true };
  // Errors reach the reader of the parser.
  const rows = pipeline(Readable.from(text), parse(options), () => undefined);
  try {
    yield* rows as AsyncIterable<string[]>;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new CommandError(`The file is not valid CSV: ${error.message}.`);
  }
}

/** Returns the text in UTF-8, read on demand after the beginning. */
async function readableCsv(
  source: AsyncIterable<Uint8Array>,
): Promise<{ readonly separator: CsvSeparator; readonly text: AsyncIterable<Uint8Array> }> {
  const csv = new CsvText();
  const pieces = source[Symbol.asyncIterator]();
  const read = async (): Promise<Uint8Array | undefined> => {
    const next = await pieces.next();
    return next.done === true ? undefined : csv.read(next.value);
  };
  let begun = await read();
  while (begun !== undefined && csv.form === undefined) begun = await read();
  const first = begun ?? csv.end();
  async function* text(): AsyncGenerator<Uint8Array> {
    yield first;
    if (begun === undefined) return;
    for (let next = await read(); next !== undefined; next = await read()) yield next;
    yield csv.end();
  }
  return { separator: csv.form?.separator ?? ',', text: text() };
}
