/**
 * The synced file of a feed: NDJSON whose first line describes it, and then a record a line, in the order of their names by UTF-16 code
 * units. Lines are canonical: the same record is the same text, so that what did not change is seen without a look into it.
 */
import { cutText } from '../text/cut-text.js';
import type { FieldValue, SourceRecord } from '../source/source-run.js';

export const SYNC_FILE_FORMAT = 1;
const LINE_CHARACTERS_MAX = 4 * 2 ** 20;
export const RECORD_NAME_CHARACTERS_MAX = 512;

/** In the form in which a list is defined, so that one without fields takes them over. */
export interface FieldDescriptions {
  readonly searchable_fields: readonly { readonly name: string; readonly weight: number }[];
  readonly facets: readonly {
    readonly name: string;
    readonly type: 'string' | 'number' | 'boolean' | 'date';
    readonly cardinality: 'Single' | 'Many';
  }[];
  readonly resources: readonly { readonly name: string; readonly kind: 'document' | 'image' | 'video' | 'audio' }[];
}

export interface SyncFileHeader {
  readonly gannet: 'feed';
  readonly format: typeof SYNC_FILE_FORMAT;
  readonly feed: string;
  readonly provider: string;
  readonly fields: FieldDescriptions;
  readonly record_count: number;
}

/** The file is not one of ours, is damaged, or ends too early. Who meets it writes it anew from the source. */
export class SyncFileDamagedError extends Error {
  override readonly name = 'SyncFileDamagedError';
}

export interface SyncFileLine {
  readonly name: string;
  /** The whole line, without its end. */
  readonly line: string;
}

export function headerLine(header: Omit<SyncFileHeader, 'gannet' | 'format'>): string {
  const { feed, provider, fields, record_count } = header;
  return JSON.stringify({ gannet: 'feed', format: SYNC_FILE_FORMAT, feed, provider, fields, record_count });
}

export function recordLine({ name, fields }: SourceRecord): string {
  const ordered = Object.keys(fields).sort();
  const members = ordered
    .map((field) => [field, fields[field]] as const)
    .filter((entry): entry is readonly [string, FieldValue] => entry[1] !== undefined);
  return JSON.stringify({ name: cutText(name, RECORD_NAME_CHARACTERS_MAX), fields: Object.fromEntries(members) });
}

export function parseRecordLine(line: string): SourceRecord {
  const { name, fields } = JSON.parse(line) as SourceRecord;
  return { name, fields };
}

/** An open file: its header, then its lines. */
export interface SyncFileReading {
  readonly header: SyncFileHeader;
  /** Once; throws a SyncFileDamagedError for what is not in order. */
  readonly lines: AsyncGenerator<SyncFileLine>;
}

/**
 * Throws a SyncFileDamagedError where the first line is none of ours. `isNamesOnly`: of a line only its name and its two ends are looked at.
 */
export async function readSyncFile(
  bytes: AsyncIterable<Uint8Array>,
  { isNamesOnly = false } = {},
): Promise<SyncFileReading> {
  const lines = linesOf(bytes);
  const first = await lines.next();
  const header = first.done === true ? undefined : parseHeader(first.value);
  if (header === undefined) {
    await lines.return(undefined);
    throw new SyncFileDamagedError('The file does not begin as the file of a feed does.');
  }
  return { header, lines: namedLines(lines, header.record_count, isNamesOnly ? nameWithin : nameOf) };
}

async function* namedLines(
  lines: AsyncGenerator<string>,
  recordCount: number,
  nameOf: (line: string) => string | undefined,
): AsyncGenerator<SyncFileLine> {
  let before: string | undefined;
  let count = 0;
  for await (const line of lines) {
    const name = nameOf(line);
    if (name === undefined || (before !== undefined && name <= before)) {
      throw new SyncFileDamagedError('The file has a line that is no record, or not in its place.');
    }
    before = name;
    count += 1;
    yield { name, line };
  }
  if (count !== recordCount)
    throw new SyncFileDamagedError(`The file has ${count} records and says that it has ${recordCount}.`);
}

/** Undefined where the line does not describe such a file. */
export function parseHeader(line: string): SyncFileHeader | undefined {
  const header = parsed(line) as Partial<SyncFileHeader> | undefined;
  return header?.gannet === 'feed' &&
    header.format === SYNC_FILE_FORMAT &&
    typeof header.fields === 'object' &&
    typeof header.record_count === 'number'
    ? (header as SyncFileHeader)
    : undefined;
}

const LINE_START = '{"name":"';
const NAME_END = '","fields":{';

/** As `recordLine` writes it. */
function nameWithin(line: string): string | undefined {
  const end = line.indexOf('"', LINE_START.length);
  const isPlain = line.startsWith(LINE_START) && line.startsWith(NAME_END, end) && line.endsWith('}}');
  const name = isPlain ? line.slice(LINE_START.length, end) : '\\';
  return name.includes('\\') ? nameOf(line) : name;
}

function nameOf(line: string): string | undefined {
  const record = parsed(line) as Partial<SourceRecord> | undefined;
  return typeof record?.name === 'string' && typeof record.fields === 'object' ? record.name : undefined;
}

function parsed(line: string): object | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Every line ends with its end: one without is what is left of a file that was cut. */
async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of bytes) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > LINE_CHARACTERS_MAX)
      throw new SyncFileDamagedError(`The file has a line of more than ${LINE_CHARACTERS_MAX} characters.`);
    yield* lines;
  }
  if (rest + decoder.decode() !== '') throw new SyncFileDamagedError('The file ends within a line.');
}
