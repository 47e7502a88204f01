/**
 * The synced file of a feed: NDJSON whose first line describes the file, followed by one record per line, sorted by
 * name in the order of UTF-16 code units. Lines are canonical: the same record always gives the same text, so that
 * unchanged records are recognized without parsing them.
 */
import { cutText } from '../text/cut-text.js';
import type { FieldValue, SourceRecord } from '../source/source-run.js';

const SYNC_FILE_FORMAT = 1;
const LINE_BYTES_MAX = 16 * 2 ** 20;
export const RECORD_NAME_CHARACTERS_MAX = 512;

/** The fields of the records, in the form in which a list is defined, so that a list without fields can adopt them. */
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

/**
 * Thrown if the file is not the synced file of a feed, is damaged, or ends too early. Whoever catches it writes the
 * file anew from the source.
 */
export class SyncFileDamagedError extends Error {
  override readonly name = 'SyncFileDamagedError';
}

export interface SyncFileLine {
  readonly name: string;
  /** The whole line without its line end. */
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

/** A synced file that is being read: its header and its lines. */
export interface SyncFileReading {
  readonly header: SyncFileHeader;
  /** The lines, which can be read once. Throws a SyncFileDamagedError for a line that is not in order. */
  readonly lines: AsyncGenerator<SyncFileLine>;
}

/** Reads the header of a synced file. Rejects with a SyncFileDamagedError if the first line is not a header. */
export async function readSyncFile(bytes: AsyncIterable<Uint8Array>): Promise<SyncFileReading> {
  const lines = linesOneByOne(bytes);
  const first = await lines.next();
  const header = first.done === true ? undefined : parseHeader(first.value.toString());
  if (header === undefined) {
    await lines.return(undefined);
    throw notOurs();
  }
  return { header, lines: namedLines(lines, header.record_count) };
}

async function* namedLines(lines: AsyncGenerator<Buffer>, recordCount: number): AsyncGenerator<SyncFileLine> {
  const order = new LineOrder();
  for await (const bytes of lines) {
    const line = bytes.toString();
    yield { name: order.next(nameOf(line)), line };
  }
  order.end(recordCount);
}

/** Reads the header and all names. Unlike `readSyncFile`, it looks only at the name and the two ends of each line. */
export async function readSyncFileNames(
  bytes: AsyncIterable<Uint8Array>,
): Promise<{ readonly header: SyncFileHeader; readonly names: ReadonlySet<string> }> {
  const order = new LineOrder();
  const names = new Set<string>();
  let header: SyncFileHeader | undefined;
  for await (const lines of linesOf(bytes)) {
    for (const line of lines) {
      if (header !== undefined) names.add(order.next(nameWithin(line)));
      else header = parseHeader(line.toString());
      if (header === undefined) throw notOurs();
    }
  }
  if (header === undefined) throw notOurs();
  order.end(header.record_count);
  return { header, names };
}

/** Checks that every line has a name, which comes after the one of the line before. */
class LineOrder {
  private before: string | undefined;
  private count = 0;

  next(name: string | undefined): string {
    if (name === undefined || (this.before !== undefined && name <= this.before)) {
      throw new SyncFileDamagedError('The file has a line that is no record, or not in its place.');
    }
    this.before = name;
    this.count += 1;
    return name;
  }

  end(recordCount: number): void {
    if (this.count !== recordCount)
      throw new SyncFileDamagedError(`The file has ${this.count} records and says that it has ${recordCount}.`);
  }
}

function notOurs(): SyncFileDamagedError {
  return new SyncFileDamagedError('The file does not begin as the file of a feed does.');
}

/** Returns the header in this line, or undefined if the line is not the header of a synced file. */
export function parseHeader(line: string): SyncFileHeader | undefined {
  const header: Partial<SyncFileHeader> | undefined = parsed(line);
  return header?.gannet === 'feed' &&
    header.format === SYNC_FILE_FORMAT &&
    typeof header.fields === 'object' &&
    typeof header.record_count === 'number'
    ? (header as SyncFileHeader)
    : undefined;
}

const LINE_START = Buffer.from('{"name":"');
const NAME_END = Buffer.from('","fields":{');
const LINE_END = Buffer.from('}}');
const QUOTE = 0x22;
const NEW_LINE = 0x0a;

/** Returns the name of a line as `recordLine` writes it. Parses lines that look different. */
function nameWithin(line: Buffer): string | undefined {
  const end = line.indexOf(QUOTE, LINE_START.length);
  const isPlain =
    hasAt(line, LINE_START, 0) && hasAt(line, NAME_END, end) && hasAt(line, LINE_END, line.length - LINE_END.length);
  const name = isPlain ? line.toString('utf8', LINE_START.length, end) : '\\';
  return name.includes('\\') ? nameOf(line.toString()) : name;
}

function hasAt(line: Buffer, part: Buffer, position: number): boolean {
  const end = position + part.length;
  return position >= 0 && end <= line.length && line.compare(part, 0, part.length, position, end) === 0;
}

function nameOf(line: string): string | undefined {
  const record: Partial<SourceRecord> | undefined = parsed(line);
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

async function* linesOneByOne(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  for await (const lines of linesOf(bytes)) yield* lines;
}

/**
 * Yields, for each piece of the file, its lines without their line ends. Every line has a line end; if the last one has
 * none, the file was cut off.
 */
async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<readonly Buffer[]> {
  let rest: Buffer[] = [];
  let restBytes = 0;
  for await (const chunk of bytes) {
    const piece = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = piece.indexOf(NEW_LINE); end !== -1; end = piece.indexOf(NEW_LINE, start)) {
      const line = piece.subarray(start, end);
      lines.push(rest.length === 0 ? line : Buffer.concat([...rest, line]));
      rest = [];
      restBytes = 0;
      start = end + 1;
    }
    if (lines.length > 0) yield lines;
    if (start < piece.length) rest.push(piece.subarray(start));
    restBytes += piece.length - start;
    if (restBytes > LINE_BYTES_MAX)
      throw new SyncFileDamagedError(`The file has a line of more than ${LINE_BYTES_MAX} bytes.`);
  }
  if (rest.length > 0) throw new SyncFileDamagedError('The file ends within a line.');
}
