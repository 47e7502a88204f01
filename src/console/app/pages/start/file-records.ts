/**
 * Reads files of records in the browser piece by piece. Each piece is sent to the service as a file of its own, and
 * kept small.
 */

import { CsvText } from '../../../../records/csv-text.js';
import { flatLines } from '../../../../records/flat-records.js';
import { formatOfText, type RecordFormat } from '../../../../records/format-of-text.js';
import { arrayOfObjects, JsonRecordsFault, recordLines } from '../../../../records/json-records.js';

/** How records are separated in a file. */
export interface FileReading {
  readonly format: RecordFormat;
  /** For JSON: path to the array of records. Empty if the document is the array. */
  readonly path: readonly string[];
}

/** Returns the content type of the pieces. */
export function contentTypeOf({ format }: FileReading): string {
  return format === 'csv' ? 'text/csv' : 'application/x-ndjson';
}

/** Size of a request: large enough to amortise its overhead, small enough to show progress on a slow connection. */
export const PIECE_BYTES = 524_288;

const [LINE_FEED, CARRIAGE_RETURN, QUOTE] = [0x0a, 0x0d, 0x22];

export interface Piece {
  /** Complete records, in the format of the file. */
  readonly data: Uint8Array<ArrayBuffer>;
  readonly records: number;
  /** Offset from lines of the piece to lines of the file; for JSON, to the number of the record. */
  readonly linesBefore: number;
  /** Bytes of the file read so far. */
  readonly bytesRead: number;
}

/** Returns the format by the file's extension. Undefined if it is unknown. */
function formatOf(name: string): RecordFormat | undefined {
  if (/\.(?:csv|tsv)$/i.test(name)) return 'csv';
  if (/\.(?:ndjson|jsonl)$/i.test(name)) return 'ndjson';
  return /\.json$/i.test(name) ? 'json' : undefined;
}

/**
 * Returns how to read the file, by its name and its beginning. Undefined if the name says nothing. Rejects with a
 * message if a JSON document has no records.
 */
export async function readingOf(file: File): Promise<FileReading | undefined> {
  const named = formatOf(file.name);
  if (named === undefined) return undefined;
  const begin = new Uint8Array(await file.slice(0, PIECE_BYTES).arrayBuffer());
  const path = named === 'json' ? pathOf(begin) : undefined;
  // An API's answer is often a single line, which could be a record. In a .json file, it is taken for a document with
  // records.
  if (path !== undefined && isOneLine(begin)) return { format: 'json', path };
  const format = formatOfText(named, begin);
  if (format === 'json' && path === undefined && isObject(begin))
    throw new Error('This JSON document contains no array of objects, so there are no records to import.');
  return { format, path: format === 'json' ? (path ?? []) : [] };
}

/** Returns the path of the first array of objects. */
const pathOf = (begin: Uint8Array): readonly string[] | undefined => (isObject(begin) ? arrayOfObjects(begin) : []);

const textOf = (begin: Uint8Array): string => new TextDecoder().decode(begin).trim();
const isObject = (begin: Uint8Array): boolean => textOf(begin).startsWith('{');
const isOneLine = (begin: Uint8Array): boolean => !textOf(begin).includes('\n');

/**
 * Cuts the file at ends of records. Incomplete data at the end form a piece of their own, whose fault the service
 * reports. Members of objects within a record become fields.
 */
export async function* piecesOf(file: Blob, reading: FileReading, pieceBytes = PIECE_BYTES): AsyncGenerator<Piece> {
  let bytesRead = 0;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (let offset = 0; offset < file.size; offset += pieceBytes) {
      const chunk = new Uint8Array(await file.slice(offset, offset + pieceBytes).arrayBuffer());
      bytesRead = Math.min(file.size, offset + pieceBytes);
      yield chunk;
    }
  }
  const cutter = new Cutter(reading.format === 'csv');
  for await (const chunk of textIn(chunks(), reading)) {
    const cut = cutter.push(chunk);
    if (cut !== undefined) yield { ...cut, bytesRead };
  }
  const rest = cutter.end();
  if (rest !== undefined) yield { ...rest, bytesRead };
}

/** Yields CSV, or one record per line. */
async function* textIn(source: AsyncIterable<Uint8Array>, { format, path }: FileReading): AsyncGenerator<Uint8Array> {
  if (format === 'ndjson') yield* flatLines(source);
  else if (format === 'json') yield* flatLines(linesIn(source, path));
  else {
    // Converted to UTF-8, since not every piece would reveal the encoding of the whole.
    const csv = new CsvText();
    for await (const chunk of source) yield csv.read(chunk);
    yield csv.end();
  }
}

async function* linesIn(source: AsyncIterable<Uint8Array>, path: readonly string[]): AsyncGenerator<Uint8Array> {
  try {
    yield* recordLines(source, path, new Uint8Array(0));
  } catch (error) {
    throw error instanceof JsonRecordsFault ? new Error(`The file ${error.message}`) : error;
  }
}

interface Cut {
  readonly data: Uint8Array<ArrayBuffer>;
  readonly records: number;
  readonly linesBefore: number;
}

/** `begin`: this byte ends what precedes the records. `end`: this byte ends a record. */
type Mark = 'begin' | 'end' | undefined;

class Cutter {
  readonly #isCsv: boolean;
  readonly #markOf: (byte: number) => Mark;
  #carried = new Uint8Array(0);
  /** For CSV: the heading, after a byte order mark, which tells that the piece is UTF-8. */
  #header = new Uint8Array(0);
  #linesBefore = 0;

  constructor(isCsv: boolean) {
    this.#isCsv = isCsv;
    this.#markOf = isCsv ? rowMarks() : lineMarks();
  }

  push(chunk: Uint8Array): Cut | undefined {
    let [from, end, records] = [0, 0, 0];
    for (let index = 0; index < chunk.length; index += 1) {
      const mark = this.#markOf(chunk[index] ?? 0);
      if (mark === undefined) continue;
      end = index + 1;
      if (mark === 'end') records += 1;
      else {
        this.#begin(joined(this.#carried, chunk.subarray(0, end)));
        from = end;
      }
    }
    const carried = this.#carried;
    this.#carried = records === 0 ? joined(carried, chunk.subarray(from)) : chunk.slice(end);
    return records === 0 ? undefined : this.#cut(joined(carried, chunk.subarray(from, end)), records);
  }

  /** Returns what follows the last end: a last line without line feed, or invalid data. */
  end(): Cut | undefined {
    const rest = this.#carried;
    return rest.every((byte) => byte <= 0x20) ? undefined : this.#cut(rest, 1);
  }

  #begin(before: Uint8Array<ArrayBuffer>): void {
    this.#header = marked(withoutEmptyLines(before));
    this.#carried = new Uint8Array(0);
    this.#linesBefore = lineFeeds(before);
  }

  #cut(data: Uint8Array<ArrayBuffer>, records: number): Cut {
    const linesBefore = this.#linesBefore - lineFeeds(this.#header);
    this.#linesBefore += lineFeeds(data);
    return { data: this.#isCsv ? joined(this.#header, data) : data, records, linesBefore };
  }
}

const lineFeeds = (text: Uint8Array): number => text.reduce((count, byte) => count + (byte === LINE_FEED ? 1 : 0), 0);

/** Marks the ends of lines that are not empty. */
function lineMarks(): (byte: number) => Mark {
  let hasContent = false;
  return (byte) => {
    if (byte > 0x20) hasContent = true;
    if (byte !== LINE_FEED || !hasContent) return undefined;
    hasContent = false;
    return 'end';
  };
}

/** Marks ends of CSV rows outside quotes. The first row that is not empty is the heading. */
function rowMarks(): (byte: number) => Mark {
  let [isQuoted, hasContent, isBegun] = [false, false, false];
  return (byte) => {
    if (byte === QUOTE) isQuoted = !isQuoted;
    if (byte > 0x20) hasContent = true;
    if (byte !== LINE_FEED || isQuoted || !hasContent) return undefined;
    if (isBegun) return 'end';
    isBegun = true;
    return 'begin';
  };
}

/** Removes empty lines before a heading: after the byte order mark, one would be taken for the heading. */
function withoutEmptyLines(header: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return header.subarray(header.findIndex((byte) => byte !== LINE_FEED && byte !== CARRIAGE_RETURN));
}

const BYTE_ORDER_MARK = Uint8Array.of(0xef, 0xbb, 0xbf);
const marked = (text: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> =>
  BYTE_ORDER_MARK.every((byte, at) => text[at] === byte) ? text : joined(BYTE_ORDER_MARK, text);

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}
