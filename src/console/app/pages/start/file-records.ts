/** Files of records, read in the browser piece by piece: each piece is a file of its own to the service, and no larger than it has to be. */

import { CsvText } from '../../../../records/csv-text.js';
import { flatLines } from '../../../../records/flat-records.js';
import { formatOfText, type RecordFormat } from '../../../../records/format-of-text.js';
import { arrayOfObjects, JsonRecordsFault, recordLines } from '../../../../records/json-records.js';

/** How the records of a file are told apart. */
export interface FileReading {
  readonly format: RecordFormat;
  /** Of JSON: the members that lead to the array of records, none where the document is that array. */
  readonly path: readonly string[];
}

/** What its pieces are. */
export function contentTypeOf({ format }: FileReading): string {
  return format === 'csv' ? 'text/csv' : 'application/x-ndjson';
}

/** One request: large enough that a request is little beside its records, small enough that a slow line shows progress. */
export const PIECE_BYTES = 524_288;

const [LINE_FEED, CARRIAGE_RETURN, QUOTE] = [0x0a, 0x0d, 0x22];

export interface Piece {
  /** Whole records, in the form of the file. */
  readonly data: Uint8Array<ArrayBuffer>;
  readonly records: number;
  /** To be added to a line of the piece, which is then that of the file; of JSON, the number of the record. */
  readonly linesBefore: number;
  /** Of the file, read so far. */
  readonly bytesRead: number;
}

/** By the end of the name; undefined where that says nothing. */
function formatOf(name: string): RecordFormat | undefined {
  if (/\.(?:csv|tsv)$/i.test(name)) return 'csv';
  if (/\.(?:ndjson|jsonl)$/i.test(name)) return 'ndjson';
  return /\.json$/i.test(name) ? 'json' : undefined;
}

/** By its name and by how it begins; undefined where the name says nothing. Rejects with a sentence where a JSON document has no records. */
export async function readingOf(file: File): Promise<FileReading | undefined> {
  const named = formatOf(file.name);
  if (named === undefined) return undefined;
  const begin = new Uint8Array(await file.slice(0, PIECE_BYTES).arrayBuffer());
  const path = named === 'json' ? pathOf(begin) : undefined;
  // What interfaces answer is often one line, which would do for a record: in a file that is called .json it is the list that it has.
  if (path !== undefined && isOneLine(begin)) return { format: 'json', path };
  const format = formatOfText(named, begin);
  if (format === 'json' && path === undefined && isObject(begin))
    throw new Error('This JSON document has no array of objects that could be records.');
  return { format, path: format === 'json' ? (path ?? []) : [] };
}

/** Where the first array of objects is. */
const pathOf = (begin: Uint8Array): readonly string[] | undefined => (isObject(begin) ? arrayOfObjects(begin) : []);

const textOf = (begin: Uint8Array): string => new TextDecoder().decode(begin).trim();
const isObject = (begin: Uint8Array): boolean => textOf(begin).startsWith('{');
const isOneLine = (begin: Uint8Array): boolean => !textOf(begin).includes('\n');

/**
 * Cuts the file at the ends of records. Bytes behind the last end are a piece of their own: the service says what is wrong with them. What is in objects
 * within a record becomes fields of its own.
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

/** CSV, or records line by line. */
async function* textIn(source: AsyncIterable<Uint8Array>, { format, path }: FileReading): AsyncGenerator<Uint8Array> {
  if (format === 'ndjson') yield* flatLines(source);
  else if (format === 'json') yield* flatLines(linesIn(source, path));
  else {
    // The pieces are files of their own, and some of them would not tell the encoding of the whole.
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

/** `begin`: what stands before the records ends with this byte. `end`: a record does. */
type Mark = 'begin' | 'end' | undefined;

class Cutter {
  readonly #isCsv: boolean;
  readonly #markOf: (byte: number) => Mark;
  #carried = new Uint8Array(0);
  /** Of CSV: its first line, behind a mark that says that the piece is UTF-8. */
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

  /** What follows the last end: a last line without a line feed, or what is broken. */
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

/** An empty line is none of a record. */
function lineMarks(): (byte: number) => Mark {
  let hasContent = false;
  return (byte) => {
    if (byte > 0x20) hasContent = true;
    if (byte !== LINE_FEED || !hasContent) return undefined;
    hasContent = false;
    return 'end';
  };
}

/** The first row that is not empty names the columns; a line feed within quotes ends nothing. */
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

/** What stands before a heading: behind a mark it would be one itself. */
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
