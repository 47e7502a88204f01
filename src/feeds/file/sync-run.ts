/**
 * One run of a feed: what the source has now is compared with the file, and the file is replaced in one step where something differs.
 *
 * A record leaves the file by evidence alone: the source says that it is gone, or a complete listing does not have it. Where a complete
 * listing would take away more than half of at least 20 records, the source is asked for each of them first. A listing of nothing at all is
 * believed where the source says of each record that it is gone, or once it has been like that for a day.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { SourceEmptiedError, type SourceListener, type SourceOutcome } from '../source/source-run.js';
import type { FeedFiles } from './feed-files.js';
import { RunRecords, type Skipped } from './run-records.js';
import {
  headerLine,
  readSyncFile,
  readSyncFileNames,
  SyncFileDamagedError,
  type FieldDescriptions,
  type SyncFileLine,
} from './sync-file.js';

const CONFIRMED_FROM_RECORDS = 20;
const PIECE_CHARACTERS = 65_536;

/** A source that can be read, by one provider with the settings of one feed. */
export interface FeedSource {
  readonly provider: string;
  /** Whether `confirmGone` asks for each record; otherwise it lists everything once more, or takes the listing for certain. */
  readonly asksForEach: boolean;
  /** Throws a SourceFailedError where it cannot be read. `isFresh`: everything, whatever is remembered. */
  read(
    listener: SourceListener,
    options: { readonly isFresh: boolean; readonly signal: AbortSignal },
  ): Promise<SourceOutcome>;
  /** Of these names, those that are gone beyond doubt. */
  confirmGone(names: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>>;
  /** What the fields of its records are. */
  fields(): FieldDescriptions;
  /** What was remembered for the next run holds from now on: the file has what was read. */
  keep(): Promise<void>;
}

export interface SyncRunOptions {
  readonly feed: string;
  /** Of the file, within its store. */
  readonly path: string;
  readonly files: FeedFiles;
  readonly source: FeedSource;
  /** A folder for what is in hand. */
  readonly temporaryDir: string;
  readonly isFresh: boolean;
  /** Default false: a listing of nothing is a failure of the source. */
  readonly isEmptinessBelieved?: boolean;
  readonly signal: AbortSignal;
}

export interface SyncRunResult {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly unchanged: number;
  readonly record_count: number;
  readonly skipped: readonly Skipped[];
  readonly skipped_count: number;
  readonly requests: number;
  readonly bytes: number;
  readonly took_ms: number;
  readonly wasReplaced: boolean;
  readonly wasComplete: boolean;
  readonly retryAfterMs: number | undefined;
}

/** Rejects with a SourceFailedError, with what `files` rejects with, or with the signal's reason: the file is as it was then. */
export async function runSync(options: SyncRunOptions): Promise<SyncRunResult> {
  const known = options.isFresh ? undefined : await previous(options, readSyncFileNames);
  // Without a file that can be read, what is remembered says nothing.
  const isFresh = known === undefined;
  const records = new RunRecords(join(options.temporaryDir, `${randomUUID()}.records`));
  try {
    const outcome = await options.source.read(records, { isFresh, signal: options.signal });
    if (!isFresh && [...records.unchangedNames()].some((name) => !known.names.has(name))) {
      // The file is older than what is remembered: all is read anew.
      return await runSync({ ...options, isFresh: true });
    }
    const before = known ?? (await previous(options, readWholeNames));
    return await compared(options, records, { outcome, before });
  } catch (error) {
    // A line of it is damaged, which was not looked at before.
    if (!isFresh && error instanceof SyncFileDamagedError) return await runSync({ ...options, isFresh: true });
    throw error;
  } finally {
    records.close();
  }
}

async function compared(
  options: SyncRunOptions,
  records: RunRecords,
  { outcome, before }: { readonly outcome: SourceOutcome; readonly before: PreviousFile | undefined },
): Promise<SyncRunResult> {
  const { feed, path, files, source, signal } = options;
  records.restore(before?.names ?? new Set());
  const isRemoved = await removals(options, records, { before, isComplete: outcome.isComplete });
  const counts = { added: 0, changed: 0, removed: 0, unchanged: 0 };
  const lines = () => merged({ before: before === undefined ? [] : linesAgain(options), records, isRemoved, counts });
  if (before !== undefined && records.isEmpty && ![...before.names].some(isRemoved))
    counts.unchanged = before.names.size;
  // Counted first: a file is not written to find out that it is the same.
  else for await (const line of lines()) void line;
  const counted = { ...counts };
  const record_count = counted.added + counted.changed + counted.unchanged;
  const header = headerLine({ feed, provider: source.provider, fields: source.fields(), record_count });
  const wasReplaced =
    before === undefined || before.header !== header || counted.added + counted.changed + counted.removed > 0;
  signal.throwIfAborted();
  if (wasReplaced) await files.replace(path, fileBytes(header, lines()));
  await source.keep();
  return {
    ...counted,
    record_count,
    skipped: records.skippedOnes,
    skipped_count: records.skippedCount,
    requests: outcome.requests,
    bytes: outcome.bytes,
    took_ms: Math.round(performance.now() - records.startedMs),
    wasReplaced,
    wasComplete: outcome.isComplete,
    retryAfterMs: outcome.retryAfterMs,
  };
}

interface PreviousFile {
  readonly header: string;
  readonly names: ReadonlySet<string>;
}

/** Undefined: there is none that can be read. */
async function previous(
  { files, path }: SyncRunOptions,
  read: typeof readSyncFileNames,
): Promise<PreviousFile | undefined> {
  const bytes = await files.read(path);
  if (bytes === undefined) return undefined;
  try {
    const { header, names } = await read(bytes);
    return { header: headerLine(header), names };
  } catch (error) {
    if (error instanceof SyncFileDamagedError) return undefined;
    throw error;
  }
}

/** With a look at each line as a whole. */
async function readWholeNames(bytes: AsyncIterable<Uint8Array>): ReturnType<typeof readSyncFileNames> {
  const { header, lines } = await readSyncFile(bytes);
  const names = new Set<string>();
  for await (const { name } of lines) names.add(name);
  return { header, names };
}

async function* linesAgain({ files, path }: SyncRunOptions): AsyncGenerator<SyncFileLine> {
  const bytes = await files.read(path);
  if (bytes === undefined) throw new SyncFileDamagedError('The file went away while it was read.');
  yield* (await readSyncFile(bytes)).lines;
}

/** Which of the records that the file has leave it. */
async function removals(
  { source, signal, isEmptinessBelieved = false }: SyncRunOptions,
  records: RunRecords,
  { before, isComplete }: { readonly before: PreviousFile | undefined; readonly isComplete: boolean },
): Promise<(name: string) => boolean> {
  if (!isComplete || before === undefined) return (name) => records.isGone(name);
  const missing = [...before.names].filter((name) => !records.has(name) && !records.isGone(name));
  const isEmptied = missing.length > 0 && records.hasMetNone;
  const isMost = before.names.size >= CONFIRMED_FROM_RECORDS && missing.length * 2 > before.names.size;
  const gone = isEmptied || isMost ? await source.confirmGone(missing, signal) : new Set(missing);
  if (isEmptied && gone.size > 0 && !source.asksForEach && !isEmptinessBelieved)
    throw new SourceEmptiedError(before.names.size);
  return (name) => records.isGone(name) || gone.has(name);
}

interface MergeOptions {
  readonly before: AsyncIterable<SyncFileLine> | Iterable<SyncFileLine>;
  readonly records: RunRecords;
  readonly isRemoved: (name: string) => boolean;
  readonly counts: { added: number; changed: number; removed: number; unchanged: number };
}

/** The lines of the next file, in their order. */
async function* merged({ before, records, isRemoved, counts }: MergeOptions): AsyncGenerator<string> {
  Object.assign(counts, { added: 0, changed: 0, removed: 0, unchanged: 0 });
  const names = records.names();
  let next = 0;
  const added = function* (until?: string): Generator<string> {
    for (let name = names[next]; name !== undefined && (until === undefined || name < until); name = names[next]) {
      next += 1;
      counts.added += 1;
      yield records.line(name) ?? '';
    }
  };
  for await (const { name, line } of before) {
    yield* added(name);
    if (names[next] === name) {
      next += 1;
      const now = records.line(name) ?? '';
      counts[now === line ? 'unchanged' : 'changed'] += 1;
      yield now;
    } else if (isRemoved(name)) {
      counts.removed += 1;
    } else {
      counts.unchanged += 1;
      yield line;
    }
  }
  yield* added();
}

async function* fileBytes(header: string, lines: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  let piece = `${header}\n`;
  for await (const line of lines) {
    piece += `${line}\n`;
    if (piece.length < PIECE_CHARACTERS) continue;
    yield Buffer.from(piece);
    piece = '';
  }
  if (piece !== '') yield Buffer.from(piece);
}
