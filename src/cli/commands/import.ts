/** `gannet import`: streams a file into a list at the pace of the service. */
import { namelessRecords, type Nameless, type RecordFormat } from '../../records/index.js';
import { flatLines, nestedField } from '../../records/flat-records.js';
import { arrayOfObjects, JsonRecordsFault, memberName, memberPath, recordLines } from '../../records/json-records.js';
import type { BulkAnswer } from '../answers.js';
import { writeJson, type CommandContext } from '../command-context.js';
import { fillNewList } from '../created-list.js';
import { decimalCommaNote } from '../decimal-commas.js';
import { importText, tellEmptyImport, type ImportText } from '../empty-import.js';
import { CommandError, EXIT, type ExitStatus } from '../exit-codes.js';
import { firstRecords } from '../first-records.js';
import { assertText, CONTENT_TYPES, cutAtLines, formatOf, openSource, readMore } from '../import-source.js';
import { NpyReader } from '../npy/npy-file.js';
import { recordsWithVectors } from '../npy/records-with-vectors.js';
import { formatCount, printable, sourceName, type Output } from '../output.js';
import { Progress } from '../progress.js';
import { createRecordCounter, type RecordCounter } from '../record-counter.js';
import type { ServiceClient } from '../service-client.js';

/** NDJSON is sent in requests of this size, since a file may be larger than the limit for one request. */
const REQUEST_BYTES = 536_870_912;
const ERRORS_SHOWN_MAX = 20;

export interface ImportOptions {
  readonly list: string;
  readonly pdf?: boolean;
  /** For PDF files: put their text into the records. */
  readonly text?: boolean;
  /** Media store for PDF files. */
  readonly mediaStore?: string;
  readonly create?: boolean;
  /** Field that names records without a name. */
  readonly nameFrom?: string;
  /** Records update existing records of their names; none is created. */
  readonly patch?: boolean;
  /** File of vectors, one row per record. */
  readonly npy?: string;
  /** Folder with files of media stores to which the records link, as written by an export. */
  readonly withFiles?: string;
  /** Path of the records in a JSON document (`data.items`). */
  readonly records?: string;
  /** Convert members of objects within records into fields. */
  readonly flatten?: boolean;
  readonly format?: RecordFormat;
  readonly account?: string;
  readonly json?: boolean;
}

export async function importFile(context: CommandContext, file: string, options: ImportOptions): Promise<ExitStatus> {
  if (options.mediaStore !== undefined || options.text === true) {
    const option = options.text === true ? '--text' : '--media-store';
    throw new CommandError(`${option} needs --pdf, which imports a folder of PDF files.`, EXIT.usage);
  }
  const format = formatOf(file, options.format);
  const vectors = options.npy === undefined ? undefined : await NpyReader.open(options.npy);
  try {
    return await importRecords(context, { file, format, vectors }, options);
  } finally {
    await vectors?.close();
  }
}

interface ImportFiles {
  readonly file: string;
  readonly format: RecordFormat;
  readonly vectors: NpyReader | undefined;
}

async function importRecords(context: CommandContext, files: ImportFiles, options: ImportOptions): Promise<ExitStatus> {
  const { file, format: named, vectors } = files;
  const source = await openSource(file);
  const account = options.account ?? context.config.account.name;
  let nameless: Nameless | undefined;
  let commas: string | undefined;
  let nested: string | undefined;
  let unit: CountedIn = 'line';
  const { answer } = await context.withService(async (client) => {
    // Before anything is created, so that an unreadable or empty file is reported first.
    const text = await importText(source.stream, { given: options.format, named });
    assertText(file, text.begin);
    if (text.format === 'json' || options.records !== undefined) unit = 'record';
    const { format, begin, stream: read, isAnew } = await asAsked(text, file, options);
    const { emptiness } = text;
    if (emptiness !== undefined) {
      const target = { account, list: options.list, create: options.create === true };
      await tellEmptyImport(context.output, client, { file, emptiness, ...target });
    }
    const fill = async () => {
      // Before the records, so that files which records link to can be read at once.
      if (options.withFiles !== undefined) {
        const { putFiles } = await import('../linked-files.js');
        await putFiles(client, { account, folder: options.withFiles }, context.output);
      }
      const progress = new Progress(progressOutput(context.output, options), `Importing into ${options.list}`);
      try {
        const first = firstRecords(begin, format);
        if (options.nameFrom === undefined && options.patch !== true) nameless = namelessRecords(first);
        if (format === 'csv') commas = decimalCommaNote(first, options.list);
        else if (options.flatten !== true) nested = nestedNote(first, options.records === undefined);
        const stream = counted(read, createRecordCounter(format), isAnew ? undefined : source.bytes, progress);
        const records = vectors === undefined ? stream : recordsWithVectors(stream, format, vectors);
        const total = await sendAll(client, { account, ...options, format, stream: records });
        progress.done(total.created + total.updated);
        return { answer: total };
      } catch (error) {
        progress.abandon();
        throw error;
      }
    };
    if (options.create !== true) return fill();
    const definition = vectors === undefined ? {} : { model: 'own' };
    return fillNewList({ client, output: context.output }, { account, list: options.list, definition }, fill);
  });
  if (options.json === true) writeJson(context.output, answer);
  else printOutcome(context.output, answer, { unit, isPatch: options.patch === true });
  if (nameless !== undefined && answer.created > 0) context.output.note(namelessNote(nameless));
  if (nested !== undefined && answer.failed > 0) context.output.note(nested);
  if (commas !== undefined && answer.created + answer.updated > 0) context.output.note(commas);
  return answer.failed === 0 ? EXIT.done : EXIT.failed;
}

interface AskedText extends Pick<ImportText, 'format' | 'begin' | 'stream'> {
  /** True if the stream is no longer the file's own bytes. */
  readonly isAnew: boolean;
}

/** Takes the records out of a document and flattens them, if asked for. */
async function asAsked(text: ImportText, file: string, { records, flatten }: ImportOptions): Promise<AskedText> {
  const { format, begin, stream } = text;
  if (records === undefined && flatten !== true) {
    if (format === 'json') assertArray(file, begin);
    return { ...text, isAnew: false };
  }
  if (format === 'csv') throw new CommandError('--records and --flatten work with JSON and NDJSON only.', EXIT.usage);
  const path = records === undefined ? [] : memberPath(records);
  const isCut = records !== undefined || format === 'json';
  const lines = isCut ? recordsWithin(file, recordLines(stream, path, begin)) : stream;
  const read = await readMore(flatten === true ? flatLines(lines) : lines, (bytes) => bytes.length === 0);
  return { format: 'ndjson', begin: read.begin, stream: read.stream, isAnew: true };
}

async function* recordsWithin(file: string, lines: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* lines;
  } catch (error) {
    throw error instanceof JsonRecordsFault
      ? new CommandError(`${sourceName(file)} ${printable(error.message)}`)
      : error;
  }
}

/**
 * Throws a CommandError that says where the array of records is. The service would only say that the document is not an
 * array.
 */
function assertArray(file: string, begin: Uint8Array): void {
  const path = new TextDecoder().decode(begin).trimStart().startsWith('{') ? arrayOfObjects(begin) : undefined;
  if (path === undefined) return;
  const member = memberName(path);
  throw new CommandError(
    `${sourceName(file)} is a JSON object, not an array of records. If the records are in its member ${printable(member)}, add --records ${printable(member)}.`,
  );
}

/** `mayBeWithin` is true if the records may be inside the file's single record. */
function nestedNote(first: readonly unknown[], mayBeWithin: boolean): string | undefined {
  const field = first.map(nestedField).find((name) => name !== undefined);
  if (field === undefined) return undefined;
  const name = printable(field);
  const [only] = first;
  const isList = mayBeWithin && first.length === 1 && Array.isArray((only as Readonly<Record<string, unknown>>)[field]);
  const within = isList ? ` If these objects are the records, use --records ${name}.` : '';
  return `The field '${name}' holds objects. --flatten turns their members into fields of their own ('${name}.…').${within}\n`;
}

function namelessNote({ suggestion }: Nameless): string {
  const how =
    suggestion === undefined
      ? 'Use --name-from FIELD with a field that is different in each record'
      : `--name-from ${/^[\w.-]+$/.test(suggestion) ? suggestion : `'${printable(suggestion)}'`} names them by that field`;
  return `Some records have no name, so importing the file again adds them again. ${how}, so that the next import replaces them.\n`;
}

/** Returns the output for progress, which is silent if JSON is wanted. */
export function progressOutput(output: Output, { json }: ImportOptions): Output {
  return json === true ? { ...output, isTerminal: false, columns: 80, write: () => undefined } : output;
}

interface Import {
  readonly account: string;
  readonly list: string;
  readonly nameFrom?: string;
  readonly patch?: boolean;
  readonly format: RecordFormat;
  readonly stream: AsyncIterable<Uint8Array>;
}

export async function sendAll(client: ServiceClient, given: Import): Promise<BulkAnswer> {
  const { account, list, nameFrom, patch, format, stream } = given;
  const query = {
    ...(nameFrom === undefined ? {} : { name_from: nameFrom }),
    ...(patch === true ? { patch: true } : {}),
  };
  const send = async (part: AsyncIterable<Uint8Array>): Promise<BulkAnswer> =>
    (await client.call('search-result.bulk', {
      params: { account, list },
      query,
      stream: part,
      contentType: CONTENT_TYPES[format],
    })) as BulkAnswer;
  if (format !== 'ndjson') return send(stream);

  const lines = createRecordCounter('ndjson');
  let total: BulkAnswer = { created: 0, updated: 0, failed: 0, errors: [], took_ms: 0 };
  for await (const part of cutAtLines(stream, REQUEST_BYTES)) {
    const linesBefore = lines.count;
    const answer = await send(counted(part, lines));
    total = sumOf(total, answer, linesBefore);
  }
  return total;
}

/** Adds the results of two requests, of which the second began after `linesBefore` lines. */
export function sumOf(total: BulkAnswer, answer: BulkAnswer, linesBefore: number): BulkAnswer {
  return {
    created: total.created + answer.created,
    updated: total.updated + answer.updated,
    failed: total.failed + answer.failed,
    errors: [...total.errors, ...answer.errors.map((error) => ({ ...error, line: error.line + linesBefore }))],
    took_ms: total.took_ms + answer.took_ms,
  };
}

/** Passes the bytes on and counts them. The request for a chunk shows that the previous one was taken. */
async function* counted(
  stream: AsyncIterable<Uint8Array>,
  counter: RecordCounter,
  bytesTotal?: number,
  progress?: Progress,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of stream) {
    yield chunk;
    bytes += chunk.length;
    counter.push(chunk);
    progress?.update({ records: counter.count, share: bytesTotal === undefined ? undefined : bytes / bytesTotal });
  }
}

/** Unit of positions in errors: `line` in the answer is the element of a JSON array. */
type CountedIn = 'line' | 'record';

export function printOutcome(
  output: Output,
  answer: BulkAnswer,
  { unit = 'line', isPatch = false }: { readonly unit?: CountedIn; readonly isPatch?: boolean } = {},
): void {
  const updated = formatCount(answer.updated);
  const written = isPatch ? `${updated} changed` : `${formatCount(answer.created)} added, ${updated} replaced`;
  output.write(`${written}, ${formatCount(answer.failed)} refused\n`);
  for (const error of answer.errors.slice(0, ERRORS_SHOWN_MAX)) {
    const name = error.name === null ? '' : ` (${printable(error.name)})`;
    output.note(`  ${unit} ${formatCount(error.line)}${name}: ${printable(error.detail)}\n`);
  }
  const rest = answer.failed - Math.min(answer.errors.length, ERRORS_SHOWN_MAX);
  if (rest > 0) output.note(`  and ${formatCount(rest)} more\n`);
}
