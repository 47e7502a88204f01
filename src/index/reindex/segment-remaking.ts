/**
 * Builds new segments of all records of one version, or of all their pages, in pieces of bounded memory. The segments
 * are in no manifest; what happens to them is up to the caller. On failure they are removed. Main thread only.
 */
import { rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { ServiceError, type MemoryBudget } from '../../platform/index.js';
import { DAMAGED_PAGES } from '../parts/readable-pages.js';
import { segmentFile, type PartName } from '../../store/index.js';
import type { BuiltSegment, IngestExecutor, IngestResult, IngestTask } from '../contract/ingest-tasks.js';

/** Limits of one piece: they bound its memory, and the time that a stop waits for it. */
const PIECE_RECORDS_MAX = 20_000;
const PIECE_BYTES_MAX = 16 * 2 ** 20;
/** Delay before a piece is retried after the queue of ingest tasks was full. */
const OVERLOADED_PAUSE_MS = 1000;

export interface SegmentRemaking {
  readonly run: IngestExecutor['run'];
  readonly listPath: string;
  readonly version: number;
  /** Undefined: the index of the fields. */
  readonly part?: PartName | undefined;
  /** Aborts between two pieces, throwing the signal's reason. */
  readonly signal: AbortSignal;
  /** Returns a segment number that was never used. */
  readonly newSegment: () => number;
  readonly onRecords: (count: number) => void;
  readonly log: Logger;
  readonly budget: Pick<MemoryBudget, 'batchRecordsMax' | 'batchBytesMax'>;
}

/** Rejects with the first failure; `unprocessable` names a record that cannot be read. */
export async function remakeSegments({
  run,
  listPath,
  version,
  part,
  signal,
  newSegment,
  onRecords,
  log,
  budget,
}: SegmentRemaking): Promise<BuiltSegment[]> {
  const segments: BuiltSegment[] = [];
  const limits = {
    recordsMax: Math.min(PIECE_RECORDS_MAX, budget.batchRecordsMax),
    bytesMax: Math.min(PIECE_BYTES_MAX, budget.batchBytesMax),
  };
  try {
    let cursor = 0;
    for (let done = false; !done;) {
      const task = { kind: 'reindex', listPath, version, part, cursor, newSegment: newSegment(), ...limits } as const;
      const piece = await runWithRoom(run, task, signal);
      ({ cursor, done } = piece);
      if (piece.damaged.length > 0) log.warn({ list: listPath, version, damaged: piece.damaged }, DAMAGED_PAGES);
      if (piece.segment === undefined) continue;
      segments.push(piece.segment);
      onRecords(piece.segment.documentCount);
    }
    signal.throwIfAborted();
    return segments;
  } catch (error) {
    await discardSegments(listPath, segments);
    throw error;
  }
}

/** Removes files that do not come into force. */
export async function discardSegments(listPath: string, segments: readonly BuiltSegment[]): Promise<void> {
  await Promise.all(segments.map(({ id }) => rm(segmentFile(listPath, id), { force: true })));
}

/** Runs the task as soon as the queue has room for it. Throws the signal's reason. */
export async function runWithRoom<T extends IngestTask>(
  run: IngestExecutor['run'],
  task: T,
  signal: AbortSignal,
): Promise<IngestResult<T>> {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await run(task, { signal });
    } catch (error) {
      if (!(error instanceof ServiceError && error.code === 'overloaded')) throw error;
      await pause(OVERLOADED_PAUSE_MS, undefined, { signal });
    }
  }
}
