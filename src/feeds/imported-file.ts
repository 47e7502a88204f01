/**
 * A file that a list imports: either the synced file of a feed, whose records follow a line that describes it, or any
 * other file of records.
 */
import { ServiceError } from '../platform/index.js';
import { formatOfText, type RecordFormat } from '../records/index.js';
import { parseHeader, SyncFileDamagedError, type FieldDescriptions } from './file/sync-file.js';

export interface ImportedFile {
  readonly format: RecordFormat;
  /** The fields as the file describes them. Undefined if it does not. */
  readonly fields: FieldDescriptions | undefined;
  /** The bytes of the records. Throws if the file is not complete. */
  readonly pieces: AsyncIterable<Uint8Array>;
}

const LINE_END = 0x0a;
const HEADER_BYTES_MAX = 1_048_576;
const FORMATS: Readonly<Record<string, RecordFormat>> = {
  sync: 'ndjson',
  ndjson: 'ndjson',
  jsonl: 'ndjson',
  json: 'json',
  csv: 'csv',
  tsv: 'csv',
};

/**
 * Returns the format that the ending of the name stands for, or undefined if this is not a file of records. The text of
 * the file may show later that it is another format.
 */
export function formatOf(path: string): RecordFormat | undefined {
  const ending = /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(FORMATS, ending) ? FORMATS[ending] : undefined;
}

/** Opens the file for import. Rejects with `unprocessable` if it is of another kind. */
export async function importedFile(path: string, pieces: AsyncIterable<Uint8Array>): Promise<ImportedFile> {
  const format = formatOf(path);
  if (format === undefined)
    throw new ServiceError(
      'unprocessable',
      `'${path}' is none of ${Object.keys(FORMATS)
        .map((each) => `.${each}`)
        .join(', ')}.`,
    );
  if (format === 'csv') return { format, fields: undefined, pieces };
  const rest = pieces[Symbol.asyncIterator]();
  const { line, behind } = await firstLine(rest);
  const header = format === 'ndjson' ? parseHeader(line.toString()) : undefined;
  if (header === undefined) {
    if (path.endsWith('.sync')) throw damaged('The file does not begin as the file of a feed does.');
    const begin = Buffer.concat([line, behind]);
    return { format: formatOfText(format, begin), fields: undefined, pieces: joined(begin, rest) };
  }
  const { fields } = header;
  return { format, fields, pieces: counted(joined(behind.subarray(1), rest), header.record_count) };
}

/** Resolves with the first line without its end, and with the bytes that were read after it. */
async function firstLine(
  pieces: AsyncIterator<Uint8Array>,
): Promise<{ readonly line: Buffer; readonly behind: Buffer }> {
  let read: Buffer = Buffer.alloc(0);
  for (;;) {
    const end = read.indexOf(LINE_END);
    if (end !== -1 || read.length > HEADER_BYTES_MAX) {
      const length = end === -1 ? read.length : end;
      return { line: read.subarray(0, length), behind: read.subarray(length) };
    }
    const next = await pieces.next();
    if (next.done === true) return { line: read, behind: Buffer.alloc(0) };
    read = Buffer.concat([read, next.value]);
  }
}

async function* joined(first: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (first.length > 0) yield first;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

/**
 * Passes the pieces on. At the end, throws if the number of lines is not the expected one or the last line is cut off.
 */
async function* counted(pieces: AsyncIterable<Uint8Array>, recordCount: number): AsyncGenerator<Uint8Array> {
  let lines = 0;
  let last = LINE_END;
  for await (const piece of pieces) {
    for (let end = piece.indexOf(LINE_END); end !== -1; end = piece.indexOf(LINE_END, end + 1)) lines += 1;
    last = piece.at(-1) ?? last;
    yield piece;
  }
  if (lines !== recordCount || last !== LINE_END)
    throw damaged(`The file has ${lines} records and says that it has ${recordCount}.`);
}

function damaged(detail: string): ServiceError {
  return new ServiceError('unprocessable', detail, { cause: new SyncFileDamagedError(detail) });
}
