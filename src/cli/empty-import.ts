/** Detects imports without records before anything is created for them. */
import { parse } from 'csv-parse/sync';
import { csvTextOf, formatOfText, type RecordFormat } from '../records/index.js';
import { CommandError } from './exit-codes.js';
import { readMore } from './import-source.js';
import { sourceName, type Output } from './output.js';
import { ProblemError } from './problem.js';
import type { ServiceClient } from './service-client.js';

/** In a longer text, the service decides whether there are records. */
const BLANK_BYTES_MAX = 65_536;

export interface ImportText {
  readonly format: RecordFormat;
  /** The first bytes; the whole text if it has no record. */
  readonly begin: Uint8Array;
  readonly stream: AsyncIterable<Uint8Array>;
  /** Why there is no record. Undefined if there may be some. */
  readonly emptiness: string | undefined;
}

/**
 * Reads until something may be a record, or to the end. `given` is the requested format, `named` the one of the file's
 * name.
 */
export async function importText(
  stream: AsyncIterable<Uint8Array>,
  { given, named }: { readonly given: RecordFormat | undefined; readonly named: RecordFormat },
): Promise<ImportText> {
  const formatOf = (text: Uint8Array) => given ?? formatOfText(named, text);
  const isBlank = (text: Uint8Array) =>
    text.length < BLANK_BYTES_MAX && emptinessOf(formatOf(text), text, false) !== undefined;
  const { begin, isWhole, stream: all } = await readMore(stream, isBlank);
  const format = formatOf(begin);
  return { format, begin, stream: all, emptiness: isWhole ? emptinessOf(format, begin, true) : undefined };
}

/** Describes a text without records. Undefined if there may be a record. */
function emptinessOf(format: RecordFormat, text: Uint8Array, isWhole: boolean): string | undefined {
  if (format === 'csv') return csvEmptiness(text, isWhole);
  const letters = new TextDecoder().decode(text, { stream: true }).trim();
  if (letters === '') return 'is empty';
  return format === 'json' && /^\[\s*\]?$/.test(letters) ? 'is an empty array' : undefined;
}

function csvEmptiness(bytes: Uint8Array, isWhole: boolean): string | undefined {
  const { text, separator: delimiter } = csvTextOf(bytes);
  if (text.trim() === '') return 'is empty';
  // An incomplete row may be empty, or the middle of a cell.
  const rows = isWhole ? text : text.slice(0, text.lastIndexOf('\n') + 1);
  try {
    const parsed = parse(rows, { bom: true, delimiter, relax_column_count: true, skip_empty_lines: true, to: 2 });
    if (parsed.length > 1) return undefined;
  } catch {
    // The service reports what is wrong with it.
    if (isWhole) return undefined;
  }
  return 'has only a header line';
}

interface EmptyImport {
  readonly file: string;
  readonly emptiness: string;
  readonly account: string;
  readonly list: string;
  readonly create: boolean;
}

/**
 * For an existing list, an import without records is fine. Rejects with a CommandError if a list would be created for
 * it.
 */
export async function tellEmptyImport(output: Output, client: ServiceClient, empty: EmptyImport): Promise<void> {
  const { file, emptiness, account, list, create } = empty;
  const sentence = `${sourceName(file)} ${emptiness}: there are no records to import`;
  if (create && !(await isThere(client, account, list)))
    throw new CommandError(`${sentence}, so the list ${list} was not created.`);
  output.note(`${sentence}.\n`);
}

async function isThere(client: ServiceClient, account: string, list: string): Promise<boolean> {
  try {
    await client.call('list.read', { params: { account, list } });
    return true;
  } catch (error) {
    if (error instanceof ProblemError && error.problem.code === 'list-not-found') return false;
    throw error;
  }
}
