/**
 * Rebuilds the indexes of lists that cannot be opened as they are: everything in a segment can be made again from the records
 * of the list's store. One list at a time, the others wait; nothing else touches a list meanwhile, for it is not open.
 *
 * Each version is written in pieces (new segment files that no manifest names) and put in force by one commit. What a
 * crash or a stop leaves are such files, which are removed when the list is opened next, and whole versions, which stay.
 * Main thread only.
 */
import { rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { ServiceError, type Metrics } from '../platform/index.js';
import { segmentFile } from '../records/index.js';
import type { BuiltSegment, IngestExecutor, IngestResult, IngestTask } from './ingest-tasks.js';
import type { ListOutline } from './types.js';
import type { UnusableIndexError, UnusableVersion } from './unusable-segments.js';

/** Of one piece: bounds its memory, and how long a stop waits for it. */
const PIECE_RECORDS_MAX = 20_000;
const PIECE_BYTES_MAX = 16 * 2 ** 20;
const PROGRESS_LOG_INTERVAL_MS = 10_000;
/** Before a piece is tried again that found the queue of ingest tasks full. */
const OVERLOADED_PAUSE_MS = 1000;
const RETRY_AFTER_SECONDS = { min: 1, unknown: 5, max: 60 };

export interface ListRebuilderOptions {
  readonly executor: IngestExecutor;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'listsRebuilding'>;
}

interface Rebuild {
  readonly listPath: string;
  readonly found: UnusableIndexError;
  readonly abort: AbortController;
  readonly recordsTotal: number;
  recordsDone: number;
  nextSegment: number;
  /** Of `performance.now`; undefined while it waits for its turn. */
  beganMs: number | undefined;
  failed: boolean;
  /** Resolves when it has ended, however it did. */
  outcome: Promise<unknown>;
}

interface RebuildRequest<List> {
  readonly listId: string;
  readonly listPath: string;
  readonly found: UnusableIndexError;
  readonly open: () => List;
}

export class ListRebuilder {
  private readonly rebuilds = new Map<string, Rebuild>();
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: ListRebuilderOptions) {}

  /**
   * Rebuilds every unusable version when the lists before it are done, then opens the list with `open` and resolves with
   * what that returns. Rejects where it failed, and then the list stays refused.
   */
  start<List>({ listId, listPath, found, open }: RebuildRequest<List>): Promise<List> {
    const rebuild: Rebuild = {
      listPath,
      found,
      abort: new AbortController(),
      recordsTotal: found.unusable.reduce((sum, { version }) => sum + (found.recordCounts.get(version) ?? 0), 0),
      recordsDone: 0,
      nextSegment: found.nextSegment,
      beganMs: undefined,
      failed: false,
      outcome: Promise.resolve(),
    };
    const { log } = this.options;
    const reason = found.unusable.map(({ segment }) => segment.message);
    log.warn(
      { list: listId, reason, records: rebuild.recordsTotal },
      'The index of a list is rebuilt from its records',
    );
    const opened = this.last.then(() => this.run(listId, rebuild, open));
    rebuild.outcome = opened.catch(() => undefined);
    this.last = rebuild.outcome;
    this.rebuilds.set(listId, rebuild);
    this.count();
    return opened;
  }

  /** Why nothing can be done with this list now; undefined where it is none of those here. */
  refusal(listId: string): ServiceError | undefined {
    const rebuild = this.rebuilds.get(listId);
    if (rebuild === undefined) return undefined;
    if (rebuild.failed) {
      return new ServiceError('internal-error', "The list's index could not be rebuilt; the service's log says why.");
    }
    const { recordsDone, recordsTotal } = rebuild;
    const progress =
      rebuild.beganMs === undefined
        ? `it waits for another list, with ${recordsTotal} records to do`
        : `${recordsDone} of ${recordsTotal} records are done`;
    const detail = `The list's index is being rebuilt from its records: ${progress}.`;
    return new ServiceError('not-ready', detail, { retryAfterSeconds: retryAfterSeconds(rebuild) });
  }

  /** What is known of a list that is here. */
  outline(listId: string): ListOutline | undefined {
    const found = this.rebuilds.get(listId)?.found;
    return found && outlineOf(found);
  }

  /** Resolves when nothing is done for this list any more; it is forgotten, so that opening it begins anew. */
  async stop(listId: string): Promise<void> {
    const rebuild = this.rebuilds.get(listId);
    rebuild?.abort.abort(new ServiceError('shutting-down', 'The rebuild was stopped.'));
    await rebuild?.outcome;
    this.rebuilds.delete(listId);
    this.count();
  }

  /** Stops between two pieces. */
  async close(): Promise<void> {
    await Promise.all([...this.rebuilds.keys()].map((listId) => this.stop(listId)));
  }

  private async run<List>(listId: string, rebuild: Rebuild, open: () => List): Promise<List> {
    const { log } = this.options;
    const beganMs = performance.now();
    rebuild.beganMs = beganMs;
    try {
      for (const version of rebuild.found.unusable) await this.rebuildVersion(listId, rebuild, version);
      rebuild.abort.signal.throwIfAborted();
      const list = open();
      const seconds = Math.round(performance.now() - beganMs) / 1000;
      log.info(
        { list: listId, records: rebuild.recordsDone, seconds },
        "A list's index was rebuilt, and the list is open",
      );
      this.rebuilds.delete(listId);
      this.count();
      return list;
    } catch (error) {
      if (rebuild.abort.signal.aborted) throw error;
      rebuild.failed = true;
      this.count();
      log.error({ list: listId, err: error }, "A list's index could not be rebuilt, and the list stays closed");
      throw error;
    }
  }

  private async rebuildVersion(listId: string, rebuild: Rebuild, { version }: UnusableVersion): Promise<void> {
    const { listPath } = rebuild;
    const segments: BuiltSegment[] = [];
    try {
      await this.buildPieces(listId, rebuild, version, segments);
    } catch (error) {
      // The disk may be full. After a commit that failed they stay: it may be on disk although its worker died.
      for (const { id } of segments) rmSync(segmentFile(listPath, id), { force: true });
      throw error;
    }
    await this.attempt(rebuild, { kind: 'commit-reindex', listPath, version, segments });
  }

  private async buildPieces(
    listId: string,
    rebuild: Rebuild,
    version: number,
    segments: BuiltSegment[],
  ): Promise<void> {
    const { listPath } = rebuild;
    const limits = { recordsMax: PIECE_RECORDS_MAX, bytesMax: PIECE_BYTES_MAX };
    let cursor = 0;
    let loggedMs = performance.now();
    for (let done = false; !done;) {
      const newSegment = rebuild.nextSegment;
      rebuild.nextSegment += 1;
      const piece = await this.attempt(rebuild, { kind: 'reindex', listPath, version, cursor, newSegment, ...limits });
      ({ cursor, done } = piece);
      if (piece.segment !== undefined) segments.push(piece.segment);
      rebuild.recordsDone += piece.segment?.documentCount ?? 0;
      if (performance.now() - loggedMs < PROGRESS_LOG_INTERVAL_MS) continue;
      loggedMs = performance.now();
      const { recordsDone, recordsTotal } = rebuild;
      this.options.log.info({ list: listId, version, recordsDone, recordsTotal }, 'Rebuilding the index of a list');
    }
  }

  /** Runs a task as soon as there is room for it. Throws the signal's reason once the rebuild is stopped. */
  private async attempt<T extends IngestTask>({ abort: { signal } }: Rebuild, task: T): Promise<IngestResult<T>> {
    for (;;) {
      signal.throwIfAborted();
      try {
        return await this.options.executor.run(task, { signal });
      } catch (error) {
        if (!(error instanceof ServiceError && error.code === 'overloaded')) throw error;
        await pause(OVERLOADED_PAUSE_MS, undefined, { signal });
      }
    }
  }

  private count(): void {
    const pending = [...this.rebuilds.values()].filter(({ failed }) => !failed);
    this.options.metrics.listsRebuilding.set(pending.length);
  }
}

/** When about the list will be open, by the speed so far. */
function retryAfterSeconds({ beganMs, recordsDone, recordsTotal }: Rebuild): number {
  const { min, unknown, max } = RETRY_AFTER_SECONDS;
  if (beganMs === undefined || recordsDone === 0) return unknown;
  const secondsLeft = ((performance.now() - beganMs) / 1000 / recordsDone) * (recordsTotal - recordsDone);
  return Math.min(max, Math.max(min, Math.ceil(secondsLeft)));
}

function outlineOf({ state, recordCounts }: UnusableIndexError): ListOutline {
  return {
    currentVersion: state.currentVersion,
    versions: () =>
      state.versions.map(({ version, state: is, created_utc, definition }) => ({
        version,
        state: is,
        created_utc,
        definition,
        record_count: recordCounts.get(version) ?? 0,
      })),
  };
}
