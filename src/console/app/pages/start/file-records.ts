/** Files of records, read in the browser piece by piece: each piece is a file of its own to the service, and no larger than it has to be. */

import { CsvText } from '../../../../records/csv-text.js';
import { formatOfText } from '../../../../records/format-of-text.js';

export type FileFormat = 'csv' | 'ndjson' | 'json';

export const CONTENT_TYPES: Readonly<Record<FileFormat, string>> = {
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  json: 'application/json',
};

/** One request: large enough that a request is little beside its records, small enough that a slow line shows progress. */
export const PIECE_BYTES = 524_288;

const [LINE_FEED, CARRIAGE_RETURN, QUOTE, BACKSLASH, COMMA] = [0x0a, 0x0d, 0x22, 0x5c, 0x2c];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

export interface Piece {
  /** Whole records, in the form of the file. */
  readonly data: Uint8Array<ArrayBuffer>;
  readonly records: number;
  /** Of the file, read so far. */
  readonly bytesRead: number;
}

/** By the end of the name; undefined where that says nothing. */
function formatOf(name: string): FileFormat | undefined {
  if (/\.(?:csv|tsv)$/i.test(name)) return 'csv';
  if (/\.(?:ndjson|jsonl)$/i.test(name)) return 'ndjson';
  return /\.json$/i.test(name) ? 'json' : undefined;
}

/** By its name and by how it begins; undefined where the name says nothing. */
export async function formatOfFile(file: File): Promise<FileFormat | undefined> {
  const named = formatOf(file.name);
  return named && formatOfText(named, new Uint8Array(await file.slice(0, PIECE_BYTES).arrayBuffer()));
}

/** Cuts the file at the ends of records. Bytes behind the last end are a piece of their own: the service says what is wrong with them. */
export async function* piecesOf(file: Blob, format: FileFormat, pieceBytes = PIECE_BYTES): AsyncGenerator<Piece> {
  const cutter = new Cutter(format);
  // The pieces are files of their own, and some of them would not tell the encoding of the whole.
  const csv = format === 'csv' ? new CsvText() : undefined;
  for (let offset = 0; offset < file.size; offset += pieceBytes) {
    const chunk = new Uint8Array(await file.slice(offset, offset + pieceBytes).arrayBuffer());
    const cut = cutter.push(csv?.read(chunk) ?? chunk);
    if (cut !== undefined) yield { ...cut, bytesRead: Math.min(file.size, offset + pieceBytes) };
  }
  const last = csv && cutter.push(csv.end());
  if (last !== undefined) yield { ...last, bytesRead: file.size };
  const rest = cutter.end();
  if (rest !== undefined) yield { ...rest, bytesRead: file.size };
}

interface Cut {
  readonly data: Uint8Array<ArrayBuffer>;
  readonly records: number;
}

/** `begin`: what stands before the records ends with this byte. `end`: a record does. */
type Mark = 'begin' | 'end' | undefined;

class Cutter {
  readonly #format: FileFormat;
  readonly #markOf: (byte: number) => Mark;
  #carried = new Uint8Array(0);
  /** Of CSV: its first line, behind a mark that says that the piece is UTF-8. */
  #header = new Uint8Array(0);

  constructor(format: FileFormat) {
    this.#format = format;
    this.#markOf = format === 'json' ? elementMarks() : format === 'csv' ? rowMarks() : lineMarks;
  }

  push(chunk: Uint8Array): Cut | undefined {
    let [from, end, records] = [0, 0, 0];
    for (let index = 0; index < chunk.length; index += 1) {
      const mark = this.#markOf(chunk[index] ?? 0);
      if (mark === undefined) continue;
      end = index + 1;
      if (mark === 'end') {
        records += 1;
        continue;
      }
      if (this.#format === 'csv')
        this.#header = marked(withoutEmptyLines(joined(this.#carried, chunk.subarray(0, end))));
      this.#carried = new Uint8Array(0);
      from = end;
    }
    const carried = this.#carried;
    this.#carried = records === 0 ? joined(carried, chunk.subarray(from)) : chunk.slice(end);
    if (records === 0) return undefined;
    // The comma or bracket behind the last element belongs to the file.
    const last = this.#format === 'json' ? end - 1 : end;
    return { data: this.#wrapped(joined(carried, chunk.subarray(from, last))), records };
  }

  /** What follows the last end: a last line without a line feed, or what is broken. */
  end(): Cut | undefined {
    const rest = this.#carried;
    if (rest.every((byte) => byte <= 0x20 || (this.#format === 'json' && byte === CLOSE_ARRAY))) return undefined;
    return { data: this.#wrapped(rest), records: 1 };
  }

  #wrapped(records: Uint8Array): Uint8Array<ArrayBuffer> {
    if (this.#format === 'json') return joined(joined(Uint8Array.of(OPEN_ARRAY), records), Uint8Array.of(CLOSE_ARRAY));
    return joined(this.#header, records);
  }
}

const lineMarks = (byte: number): Mark => (byte === LINE_FEED ? 'end' : undefined);

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

/** An element ends with the comma, or the bracket, behind it. */
function elementMarks(): (byte: number) => Mark {
  let [depth, isText, isEscaped, hasContent] = [0, false, false, false];
  const inText = (byte: number): void => {
    if (isEscaped) isEscaped = false;
    else if (byte === BACKSLASH) isEscaped = true;
    else if (byte === QUOTE) isText = false;
  };
  return (byte) => {
    if (isText) {
      inText(byte);
      return undefined;
    }
    const before = depth;
    if (byte === QUOTE) isText = true;
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) depth += 1;
    else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) depth -= 1;
    if (before === 0) return depth === 1 ? 'begin' : undefined;
    if (before === 1 && hasContent && (byte === COMMA || depth === 0)) {
      hasContent = false;
      return 'end';
    }
    if (before === 1 && byte > 0x20 && byte !== COMMA) hasContent = true;
    return undefined;
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
