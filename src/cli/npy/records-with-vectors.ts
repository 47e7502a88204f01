/**
 * Records of an import beside a matrix of vectors: the first record gets the first row, and so on. They go on as records that bring their
 * vectors, of as many lines as before, so that what the service says of a line is true of the file.
 */
import { pipeline, Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { parseExactJson, repeatedMember } from '../../platform/index.js';
import { CsvText, type CsvSeparator, type RecordFormat } from '../../records/index.js';
import { csvLine, VECTOR_COLUMN } from '../export-csv.js';
import { CommandError, EXIT } from '../exit-codes.js';
import type { NpyReader } from './npy-file.js';

const LINE_FEED = 0x0a;
/** So many tell any 32 bit float from all others. */
const FLOAT_DIGITS = 9;
const BESIDE_FIELDS: ReadonlySet<string> = new Set(['name', 'fields', 'as_of', 'vector', 'vectors']);

/** Throws a CommandError where there are more records than rows, or more rows than records. */
export async function* recordsWithVectors(
  source: AsyncIterable<Uint8Array>,
  format: RecordFormat,
  vectors: NpyReader,
): AsyncGenerator<Uint8Array> {
  if (format === 'json') {
    throw new CommandError(
      'A matrix goes with NDJSON or CSV, whose records are told apart while they are read.',
      EXIT.usage,
    );
  }
  let records = 0;
  const next = async (): Promise<Float32Array> => {
    const row = await vectors.next();
    if (row === undefined) throw unequal(vectors, `there is a record ${records + 1}`);
    records += 1;
    return row;
  };
  yield* format === 'csv' ? csvWithVectors(source, next) : linesWithVectors(source, next);
  if (records < vectors.rows) throw unequal(vectors, `only ${records} records were there`);
}

function unequal({ path, rows }: NpyReader, what: string): CommandError {
  return new CommandError(
    `${path} has ${rows} vectors, and ${what}: each record needs a row. What came before is in the list.`,
  );
}

type NextRow = () => Promise<Float32Array>;

/** A row of zeros: the record has no vector. What is no number becomes null, which the service refuses for this record. */
function vectorText(row: Float32Array): string | undefined {
  if (row.every((value) => value === 0)) return undefined;
  return JSON.stringify(Array.from(row, (value) => Number(value.toPrecision(FLOAT_DIGITS))));
}

async function* linesWithVectors(source: AsyncIterable<Uint8Array>, next: NextRow): AsyncGenerator<Uint8Array> {
  let carried: Uint8Array[] = [];
  for await (const chunk of source) {
    const lines: string[] = [];
    let begin = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, begin)) {
      lines.push(await lineWithVector(Buffer.concat([...carried, chunk.subarray(begin, end)]).toString(), next));
      carried = [];
      begin = end + 1;
    }
    if (begin < chunk.length) carried.push(Uint8Array.from(chunk.subarray(begin)));
    if (lines.length > 0) yield Buffer.from(`${lines.join('\n')}\n`);
  }
  if (carried.length > 0) yield Buffer.from(await lineWithVector(Buffer.concat(carried).toString(), next));
}

/** What is no record is left as it is: the service says what is wrong with it. */
async function lineWithVector(line: string, next: NextRow): Promise<string> {
  if (line.trim() === '') return line;
  const vector = vectorText(await next());
  let record: unknown;
  try {
    record = parseExactJson(line);
  } catch {
    return line;
  }
  // Written anew it would have one of the two values, and nobody would be told.
  if (repeatedMember(line, record) !== undefined) return line;
  if (vector === undefined || typeof record !== 'object' || record === null || Array.isArray(record)) return line;
  const { vector: _one, vectors: _several, ...wrapped } = wrappedRecord(record as Readonly<Record<string, unknown>>);
  return `${JSON.stringify(wrapped).slice(0, -1)},"vector":${vector}}`;
}

/** The form that has room for a vector; a flat record has fields of any name. */
function wrappedRecord(record: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { fields } = record;
  const isPlain = typeof fields === 'object' && fields !== null && !Array.isArray(fields);
  if (isPlain && Object.keys(record).every((member) => BESIDE_FIELDS.has(member))) return record;
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
          `The file has a column ${VECTOR_COLUMN}: its vectors come from there, or from the matrix.`,
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
  // Who reads the parser hears of what fails before it.
  const rows = pipeline(Readable.from(text), parse(options), () => undefined);
  try {
    yield* rows as AsyncIterable<string[]>;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new CommandError(`The file is no valid CSV: ${error.message}.`);
  }
}

/** In UTF-8. What follows the beginning is read when it is asked for. */
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
