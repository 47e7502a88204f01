/** Reads the bytes of an import from a file or standard input, and cuts them into requests. */
import { closeSync, createReadStream, openSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { CommandError, EXIT } from './exit-codes.js';
import { sourceName } from './output.js';
import { readFullySync, systemReason } from '../platform/index.js';
import { NO_TEXT_BYTES, noTextOf, type NoTextKind, type RecordFormat } from '../records/index.js';

const READ_BYTES = 262_144;
const LINE_FEED = 0x0a;

const FORMAT_OF_EXTENSION: Readonly<Record<string, RecordFormat>> = {
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  '.json': 'json',
  '.csv': 'csv',
  '.tsv': 'csv',
};

export const CONTENT_TYPES: Readonly<Record<RecordFormat, string>> = {
  ndjson: 'application/x-ndjson',
  json: 'application/json',
  csv: 'text/csv',
};

/** Returns the format by the file's name. Throws a CommandError if it is unclear. */
export function formatOf(file: string, given: RecordFormat | undefined): RecordFormat {
  if (given !== undefined) return given;
  if (file === '-') return 'ndjson';
  const format = FORMAT_OF_EXTENSION[extname(file).toLowerCase()];
  if (format === undefined) {
    const found = statSync(file, { throwIfNoEntry: false });
    if (found === undefined) throw new CommandError(`${file} cannot be read: it does not exist (ENOENT).`);
    if (found.isDirectory())
      throw new CommandError(`${file} is a folder. To import the PDF files in it, use --pdf.`, EXIT.usage);
    // Reading a pipe here would wait for its writer.
    if (found.isFile()) assertText(file, firstBytes(file));
    const other = extname(file).toLowerCase() === '.pdf' ? ' To import PDF files, use --pdf.' : '';
    throw new CommandError(
      `Cannot tell the format from the name ${file}. Add --format ndjson (one JSON object per line), --format json (an array) or --format csv (with a header line).${other}`,
      EXIT.usage,
    );
  }
  return format;
}

/** Returns what a file is, by its first bytes, if it is no text. Undefined if it may be text, or is no regular file. */
export function noTextFile(file: string): string | undefined {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  return noTextOf(firstBytes(file))?.what;
}

/** Throws a CommandError for anything other than text, which says what to do instead. */
export function assertText(file: string, begin: Uint8Array): void {
  const found = noTextOf(begin);
  if (found === undefined) return;
  const name = sourceName(file);
  throw new CommandError(`${name} has no records: it is ${found.what}. ${INSTEAD[found.kind](file)}`, EXIT.usage);
}

const INSTEAD: Readonly<Record<NoTextKind, (file: string) => string>> = {
  picture: (file) =>
    `Upload it with gannet media put ${file}, then link to it (media:default/${basename(file)}) from a record, in a field that is a resource of the kind image.`,
  pdf: () => 'To import a PDF file, or a folder of them, use --pdf.',
  workbook: () => 'Save it as CSV in your spreadsheet program.',
  packed: () => 'Unpack it first, or pipe it: zcat FILE.csv.gz | gannet import - --format csv --list NAME',
  table: () => 'Export its rows as CSV or NDJSON.',
};

function firstBytes(file: string): Uint8Array {
  const opened = openSync(file, 'r');
  try {
    const bytes = new Uint8Array(NO_TEXT_BYTES);
    return bytes.subarray(0, readFullySync(opened, bytes, 0));
  } finally {
    closeSync(opened);
  }
}

export interface ImportSource {
  readonly stream: AsyncIterable<Uint8Array>;
  /** Undefined for a pipe. */
  readonly bytes: number | undefined;
}

export async function openSource(file: string): Promise<ImportSource> {
  if (file === '-') return { stream: process.stdin as AsyncIterable<Uint8Array>, bytes: undefined };
  try {
    const found = await stat(file);
    if (found.isDirectory()) throw new CommandError(`${file} cannot be read: it is a folder.`);
    const { size } = found;
    // A pipe or device has no size.
    return { stream: bytesOf(file), bytes: size === 0 ? undefined : size };
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`${file} cannot be read: ${systemReason(error)}.`);
  }
}

interface BegunStream {
  readonly begin: Uint8Array;
  /** True if nothing follows `begin`. */
  readonly isWhole: boolean;
  readonly stream: AsyncGenerator<Uint8Array>;
}

/** Reads the beginning of a stream for as long as `wantsMore` returns true. The returned stream is complete. */
export async function readMore(
  stream: AsyncIterable<Uint8Array>,
  wantsMore: (begin: Uint8Array) => boolean,
): Promise<BegunStream> {
  const iterator = stream[Symbol.asyncIterator]();
  let begin: Uint8Array = new Uint8Array(0);
  let isWhole = false;
  do {
    const next = await iterator.next();
    if (next.done === true) isWhole = true;
    else begin = begin.length === 0 ? next.value : Buffer.concat([begin, next.value]);
  } while (!isWhole && wantsMore(begin));
  async function* all(): AsyncGenerator<Uint8Array> {
    try {
      if (begin.length > 0) yield begin;
      for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value;
    } finally {
      await iterator.return?.();
    }
  }
  return { begin, isWhole, stream: all() };
}

/**
 * Opens the file on the first read, so that its errors reach the reader, and a command that ends before has nothing
 * open.
 */
async function* bytesOf(file: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(file, { highWaterMark: READ_BYTES }) as AsyncIterable<Uint8Array>;
}

/**
 * Cuts a stream at line ends into consecutive streams of about `partBytes` each, so that NDJSON of any length is sent
 * in several requests. Each part has to be read completely before the next is requested.
 */
export async function* cutAtLines(
  source: AsyncIterable<Uint8Array>,
  partBytes: number,
): AsyncGenerator<AsyncIterable<Uint8Array>> {
  const iterator = source[Symbol.asyncIterator]();
  let carried: Uint8Array | undefined;
  let ended = false;

  async function* part(): AsyncGenerator<Uint8Array> {
    let sent = 0;
    for (;;) {
      const next: IteratorResult<Uint8Array> =
        carried === undefined ? await iterator.next() : { done: false, value: carried };
      carried = undefined;
      if (next.done === true) {
        ended = true;
        return;
      }
      const chunk = next.value;
      const lineEnd =
        sent + chunk.length < partBytes ? -1 : chunk.indexOf(LINE_FEED, Math.max(0, partBytes - sent - 1));
      if (lineEnd >= 0) {
        if (lineEnd + 1 < chunk.length) carried = chunk.subarray(lineEnd + 1);
        yield chunk.subarray(0, lineEnd + 1);
        return;
      }
      sent += chunk.length;
      yield chunk;
    }
  }

  try {
    do {
      yield part();
      if (carried !== undefined || ended) continue;
      // Looks ahead, so that no empty request follows a file that ends exactly at a cut.
      const next = await iterator.next();
      if (next.done === true) ended = true;
      else carried = next.value;
    } while (!ended);
  } finally {
    await iterator.return?.();
  }
}
