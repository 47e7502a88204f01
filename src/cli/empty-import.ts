/** Whether there is anything in what is to be imported, before something is made for it. */
import { parse } from 'csv-parse/sync';
import { csvTextOf, formatOfText, type RecordFormat } from '../records/index.js';
import { CommandError } from './exit-codes.js';
import { readMore } from './import-source.js';
import { sourceName, type Output } from './output.js';
import { ProblemError } from './problem.js';
import type { ServiceClient } from './service-client.js';

/** In what is longer, the service says what there is. */
const BLANK_BYTES_MAX = 65_536;

export interface ImportText {
  readonly format: RecordFormat;
  /** The first bytes, and all where there is no record in it. */
  readonly begin: Uint8Array;
  readonly stream: AsyncIterable<Uint8Array>;
  /** Why there is no record in it; undefined where there may be some. */
  readonly emptiness: string | undefined;
}

/** Reads on until something may be a record, or to the end. `given`: the format that was asked for; `named`: that of the file's name. */
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

/** What is said of the text where it is no more than this; undefined where there may be a record in it. */
function emptinessOf(format: RecordFormat, text: Uint8Array, isWhole: boolean): string | undefined {
  if (format === 'csv') return csvEmptiness(text, isWhole);
  const letters = new TextDecoder().decode(text, { stream: true }).trim();
  if (letters === '') return 'is empty';
  return format === 'json' && /^\[\s*\]?$/.test(letters) ? 'is an empty array' : undefined;
}

function csvEmptiness(bytes: Uint8Array, isWhole: boolean): string | undefined {
  const { text, separator: delimiter } = csvTextOf(bytes);
  if (text.trim() === '') return 'is empty';
  // A row that has not ended may be an empty one, or the middle of a cell.
  const rows = isWhole ? text : text.slice(0, text.lastIndexOf('\n') + 1);
  try {
    const parsed = parse(rows, { bom: true, delimiter, relax_column_count: true, skip_empty_lines: true, to: 2 });
    if (parsed.length > 1) return undefined;
  } catch {
    // Of all of it, the service says what is wrong.
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

/** For a list that there is, no records are as good as some. Rejects with a CommandError where one would be made for them. */
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
