/**
 * One run of a feed: what the source has now is compared with the synced file, and the file is replaced in one step if
 * something differs.
 *
 * A record is removed from the file only on evidence: the source says that it is gone, or a complete listing does not
 * contain it. If a complete listing would remove more than half of at least 20 records, the source is first asked about
 * each of them. An empty listing is believed if the source says of each record that it is gone, or if the listing has
 * been empty for a day.
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

/** A source that can be read by its provider with the settings of one feed. */
export interface FeedSource {
  readonly provider: string;
  /**
   * True if `confirmGone` asks about each record. If it is false, `confirmGone` reads the whole listing once more or
   * trusts the listing.
   */
  readonly asksForEach: boolean;
  /**
   * Reads the source. Rejects with a SourceFailedError if it cannot be read. `isFresh`: read everything, regardless of
   * what is remembered from earlier runs.
   */
  read(
    listener: SourceListener,
    options: { readonly isFresh: boolean; readonly signal: AbortSignal },
  ): Promise<SourceOutcome>;
  /** Resolves with those of these names that are certainly gone. */
  confirmGone(names: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>>;
  /** Returns the fields of the records that were read. */
  fields(): FieldDescriptions;
  /** Makes what was remembered during this run valid for the next one. Called once the file contains what was read. */
  keep(): Promise<void>;
}

export interface SyncRunOptions {
  readonly feed: string;
  /** Path of the file within its store. */
  readonly path: string;
  readonly files: FeedFiles;
  readonly source: FeedSource;
  /** Folder for temporary files. */
  readonly temporaryDir: string;
  readonly isFresh: boolean;
  /** If false, which is the default, an empty listing is a failure of the source. */
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

/**
 * Reads the source and updates the synced file. Rejects with a SourceFailedError, with an error of `files`, or with the
 * signal's reason; the file is then unchanged.
 */
export async function runSync(options: SyncRunOptions): Promise<SyncRunResult> {
  const known = options.isFresh ? undefined : await previous(options, readSyncFileNames);
  // What is remembered from earlier runs is of no use without a readable file.
  const isFresh = known === undefined;
  const records = new RunRecords(join(options.temporaryDir, `${randomUUID()}.records`));
  try {
    const outcome = await options.source.read(records, { isFresh, signal: options.signal });
    if (!isFresh && [...records.unchangedNames()].some((name) => !known.names.has(name))) {
      // The file is older than what is remembered, so that everything is read anew.
      return await runSync({ ...options, isFresh: true });
    }
    const before = known ?? (await previous(options, readWholeNames));
    return await compared(options, records, { outcome, before });
  } catch (error) {
    // A line of the file is damaged, which reading the names alone did not show.
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
  // Changes are counted before anything is written, so that an unchanged file is not written again.
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

/** Resolves with the existing file, or with undefined if there is none that can be read. */
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

/** Reads the names as `readSyncFileNames` does, but parses every line. */
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

/** Resolves with a function that tells whether a record of the existing file is to be removed. */
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

/** Yields the lines of the new file in their order, and counts what changed. */
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
