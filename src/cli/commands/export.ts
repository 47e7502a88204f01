/**
 * `gannet export`: writes all records of a list, page by page, optionally with their vectors, in a format that `gannet
 * import` reads.
 */
import type { RecordFormat } from '../../records/index.js';
import { membersOf } from '../answers.js';
import type { CommandContext } from '../command-context.js';
import { CommandError, EXIT, type ExitStatus } from '../exit-codes.js';
import { changedFields, csvHeading, csvRow, type CsvColumn, type ExportedRecord } from '../export-csv.js';
import type { ExportedFiles, LinkingField } from '../linked-files.js';
import { NpyWriter } from '../npy/npy-file.js';
import { formatCounted, formatRecords, type Output } from '../output.js';
import { beginFile, type FileUnderWay } from '../saved-file.js';
import type { ServiceClient } from '../service-client.js';
import { WatchedStream } from '../watched-stream.js';
import type { ListResource } from './list.js';

const PAGE_RECORDS = 1000;
/** Further ones are only counted. */
const DAMAGED_NAMED_MAX = 20;
const FIELDS_NAMED_MAX = 20;
/** Limit on fields collected that a CSV leaves out: records may have any number. */
const UNDEFINED_FIELDS_MAX = 1000;

export interface ExportOptions {
  readonly list: string;
  readonly format: RecordFormat;
  readonly output?: string;
  /** Include vectors in the records. */
  readonly vectors?: boolean;
  /** File for the vectors, one row per record. */
  readonly npy?: string;
  /** Prevent texts in a CSV from being taken for formulas. */
  readonly forSpreadsheets?: boolean;
  /** Folder for the files in media stores to which records link. */
  readonly withFiles?: string;
  readonly account?: string;
}

/** A record that the service cannot read. */
interface DamagedRecord {
  readonly id: string | null;
  readonly error: string;
}

export async function exportList(context: CommandContext, options: ExportOptions): Promise<ExitStatus> {
  const account = options.account ?? context.config.account.name;
  if (options.forSpreadsheets === true && options.format !== 'csv') {
    throw new CommandError('--for-spreadsheets needs --format csv.');
  }
  const file = options.output === undefined ? undefined : await OutputFile.begin(options.output);
  const { count, damaged, undefinedFields, changed, files } = await keeping(file, async () => {
    const matrix = options.npy === undefined ? undefined : await NpyWriter.create(options.npy);
    return keeping(matrix, () =>
      context.withData(async (client) => {
        const files = await filesOf(client, { ...options, account });
        const target = { records: file ?? context.output, matrix, files };
        return { files, ...(await writeRecords(client, { ...options, account }, target)) };
      }),
    );
  });
  if (file !== undefined) context.output.note(`${formatRecords(count)} written to ${options.output}\n`);
  if (options.npy !== undefined) context.output.note(`${formatCounted(count, 'vector')} written to ${options.npy}\n`);
  if (undefinedFields.size > 0) context.output.note(leftOut([...undefinedFields]));
  if (changed.size > 0) context.output.note(notAsTheyAre([...changed]));
  const hasFiles = files?.tell(context.output) ?? true;
  if (damaged.length === 0) return hasFiles ? EXIT.done : EXIT.failed;
  for (const { id, error } of damaged.slice(0, DAMAGED_NAMED_MAX)) {
    context.output.note(`${id ?? 'a record without a readable id'}: ${error}\n`);
  }
  context.output.note(`${formatRecords(damaged.length)} left out because they are damaged on disk\n`);
  return EXIT.failed;
}

function leftOut(names: readonly string[]): string {
  return `Left out of the CSV, which has only the fields that the list defines: ${namesOf(names)}. --format ndjson exports all fields.\n`;
}

function notAsTheyAre(names: readonly string[]): string {
  const why =
    'it cannot hold empty texts, halves of surrogate pairs, numbers or several values outside of facets, or more than one value of a Single facet';
  return `An import of this CSV changes some values of ${namesOf(names)}: ${why}. --format ndjson keeps all values.\n`;
}

function namesOf(names: readonly string[]): string {
  const named = names.slice(0, FIELDS_NAMED_MAX).map((name) => JSON.stringify(name));
  return `${named.join(', ')}${names.length > named.length ? ` and ${names.length - named.length} more` : ''}`;
}

interface Unfinished {
  end(): Promise<void>;
  abandon(): Promise<void>;
}

/**
 * Runs `write`, then gives the file its name. If that fails, removes the unfinished file; an existing file of that name
 * is unchanged.
 */
async function keeping<Result>(file: Unfinished | undefined, write: () => Promise<Result>): Promise<Result> {
  try {
    const result = await write();
    await file?.end();
    return result;
  } catch (error) {
    await file?.abandon();
    throw error;
  }
}

/** Destination of text, with back pressure. */
type TextTarget = Pick<Output, 'write' | 'settle'>;

interface Target {
  readonly records: TextTarget;
  readonly matrix: NpyWriter | undefined;
  readonly files: ExportedFiles | undefined;
}

class OutputFile implements Unfinished {
  private readonly text: WatchedStream;

  private constructor(
    private readonly file: FileUnderWay,
    path: string,
  ) {
    this.text = new WatchedStream(file.stream, path);
  }

  /** Opens the file before the service is called, so that an unwritable path is reported at once. */
  static async begin(path: string): Promise<OutputFile> {
    const begun = new OutputFile(await beginFile(path), path);
    await begun.settle();
    return begun;
  }

  write(text: string): void {
    this.text.write(text);
  }

  settle(): Promise<void> {
    return this.text.settle();
  }

  async end(): Promise<void> {
    await this.text.end();
    await this.file.keep();
  }

  abandon(): Promise<void> {
    return this.file.abandon();
  }
}

interface Exported {
  readonly count: number;
  readonly damaged: readonly DamagedRecord[];
  /** Fields of records that are not columns of the CSV. */
  readonly undefinedFields: ReadonlySet<string>;
  /** Fields whose values an import of the CSV would change. */
  readonly changed: ReadonlySet<string>;
}

async function writeRecords(
  client: ServiceClient,
  options: ExportOptions & { readonly account: string },
  { records: target, matrix, files }: Target,
): Promise<Exported> {
  const { format, vectors: withVectors = false, forSpreadsheets = false } = options;
  const columns = format === 'csv' ? await columnsOf(client, options) : [];
  await write(target, { ndjson: '', json: '[', csv: csvHeading(columns, { withVectors, forSpreadsheets }) }[format]);
  const listed: ReadonlySet<string> = new Set(columns.map(({ name }) => name));
  let count = 0;
  const damaged: DamagedRecord[] = [];
  const undefinedFields = new Set<string>();
  const changed = new Set<string>();
  for await (const records of pages(client, options)) {
    let text = '';
    for (const record of records) {
      if ('error' in record) {
        damaged.push(record);
        continue;
      }
      await matrix?.write(rowOf(record, matrix));
      const { name, fields, vector, vectors } = record;
      const written = withVectors ? { name, fields, vector, vectors } : { name, fields };
      if (format === 'csv') {
        text += csvRow(record, columns, { withVectors, forSpreadsheets });
        addUnlisted(Object.keys(fields), listed, undefinedFields);
        // Files for spreadsheets are for viewing, so losses are not reported.
        if (!forSpreadsheets) for (const field of changedFields(record, columns)) changed.add(field);
      }
      if (format === 'ndjson') text += `${JSON.stringify(written)}\n`;
      if (format === 'json') text += `${count === 0 ? '\n' : ',\n'}${JSON.stringify(written)}`;
      count += 1;
      await files?.take(fields);
    }
    await write(target, text);
  }
  if (format === 'json') await write(target, '\n]\n');
  return { count, damaged, undefinedFields, changed };
}

function addUnlisted(fields: readonly string[], listed: ReadonlySet<string>, to: Set<string>): void {
  for (const field of fields) if (!listed.has(field) && to.size < UNDEFINED_FIELDS_MAX) to.add(field);
}

/** Returns undefined if the record has no vector. */
function rowOf({ name, vector, vectors }: ExportedRecord, matrix: NpyWriter): Float32Array | undefined {
  if (vectors !== undefined) {
    const detail = `The record ${JSON.stringify(name)} has ${vectors.length} vectors, but a matrix has one row for each record`;
    throw new CommandError(
      `${detail}, so ${matrix.path} was not written. Use --vectors to write the vectors into the records.`,
    );
  }
  return vector === undefined ? undefined : Float32Array.from(vector);
}

/**
 * Yields records in storage order. A record that exists throughout appears exactly once, whatever is written meanwhile.
 */
async function* pages(
  client: ServiceClient,
  { account, list, vectors, npy }: ExportOptions & { readonly account: string },
): AsyncGenerator<readonly (ExportedRecord | DamagedRecord)[]> {
  let after: string | undefined;
  do {
    const answer = await client.call('search-result.list', {
      params: { account, list },
      query: {
        size: PAGE_RECORDS,
        ...(after === undefined ? {} : { after }),
        ...(vectors === true || npy !== undefined ? { vectors: true } : {}),
      },
    });
    yield membersOf<ExportedRecord | DamagedRecord>(answer, 'results');
    after = (answer as { readonly next?: string }).next;
  } while (after !== undefined);
}

/** Undefined if no files are wanted. */
async function filesOf(
  client: ServiceClient,
  { withFiles, account, list }: ExportOptions & { readonly account: string },
): Promise<ExportedFiles | undefined> {
  if (withFiles === undefined) return undefined;
  const [{ ExportedFiles }, { resources: fields }] = await Promise.all([
    import('../linked-files.js'),
    definitionOf(client, { account, list }),
  ]);
  return ExportedFiles.into({ client, account, folder: withFiles, fields });
}

type Definition = ListResource & {
  readonly resources: readonly LinkingField[];
  readonly location_field: string | null;
};

async function definitionOf(client: ServiceClient, params: { account: string; list: string }): Promise<Definition> {
  return (await client.call('list.read', { params })) as Definition;
}

/** Returns the columns of a CSV file: all fields that the list defines. */
async function columnsOf(
  client: ServiceClient,
  { account, list }: { readonly account: string; readonly list: string },
): Promise<CsvColumn[]> {
  const resource = await definitionOf(client, { account, list });
  const names = [...resource.searchable_fields, ...resource.facets, ...resource.resources].map(({ name }) => name);
  if (resource.location_field !== null) names.push(resource.location_field);
  const cardinalities = new Map(resource.facets.map(({ name, cardinality }) => [name, cardinality]));
  const holds = (name: string): CsvColumn['holds'] => {
    if (name === resource.location_field) return 'point';
    const cardinality = cardinalities.get(name);
    if (cardinality === undefined) return 'text';
    return cardinality === 'Single' ? 'one' : 'several';
  };
  return [...new Set(names)].filter((name) => name !== 'name').map((name) => ({ name, holds: holds(name) }));
}

async function write(target: TextTarget, text: string): Promise<void> {
  if (text === '') return;
  target.write(text);
  await target.settle();
}
