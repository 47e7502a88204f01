/**
 * Rebuilds the indexes of lists that cannot be opened as they are: everything in a segment can be derived from the
 * records in the list's store. One is rebuilt at a time, in the order of `RebuildQueue`; nothing else uses a list
 * meanwhile, because it is not open.
 *
 * Each version is written in pieces (new segment files that are in no manifest) and put in force by one commit. A crash
 * or a stop leaves such files, which are removed when the list is next opened, and complete versions, which stay. Main
 * thread only.
 */
import type { Logger } from 'pino';
import {
  asDamageError,
  ServiceError,
  systemCode,
  type Job,
  type JobProgress,
  type MemoryBudget,
  type Metrics,
  type ProgressBoard,
} from '../../platform/index.js';
import type { IngestExecutor } from '../contract/ingest-tasks.js';
import type { ListOutline, SearchSettings } from '../contract/types.js';
import { versionStatus } from '../contract/version-status.js';
import { UnusableIndexError, type UnusableVersion } from '../segments/unusable-segments.js';
import { RebuildQueue, type QueuedRebuild } from './rebuild-queue.js';
import { remakeSegments, runWithRoom } from './segment-remaking.js';

const PROGRESS_LOG_INTERVAL_MS = 10_000;
const RETRY_AFTER_SECONDS = { min: 1, unknown: 5, max: 60 };
/**
 * What the disk could not read may be readable soon, and a full disk may have room again. The wait doubles with each
 * failure in a row: a rebuild reads the records from the beginning, and a store that is damaged for good would keep a
 * thread busy for as long as somebody asks.
 */
const DISK_RETRY_SECONDS = { first: 5, max: 300 };

export interface UnusableListReindexerOptions {
  readonly executor: IngestExecutor;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'listsRebuilding'>;
  readonly budget: MemoryBudget;
  readonly progress: ProgressBoard;
}

type DiskFault = 'the disk reports an error' | 'the disk is full';

interface Rebuild {
  readonly log: Logger;
  readonly listPath: string;
  readonly found: UnusableIndexError;
  readonly abort: AbortController;
  readonly job: Job;
  failed: boolean;
  /**
   * In terms of `performance.now()`. Set if the rebuild failed because of the disk: opening the list from then on starts
   * a new rebuild.
   */
  retryAtMs: number | undefined;
  /** What the disk had, if `retryAtMs` is set. */
  diskFault: DiskFault;
  /** Number of rebuilds of the list in a row that the disk ended, without this one. */
  readonly diskFailures: number;
  /** True if the store was mapped anew since the rebuild began: what it had read before may have been zeros. */
  mayHaveReadZeros: boolean;
  readonly queued: QueuedRebuild;
  /** Resolves when the rebuild has ended, successfully or not. */
  outcome: Promise<unknown>;
}

interface RebuildRequest<List> {
  readonly listId: string;
  readonly listPath: string;
  readonly settings: Pick<SearchSettings, 'account' | 'list'>;
  readonly found: UnusableIndexError;
  readonly open: () => List;
}

export class UnusableListReindexer {
  private readonly rebuilds = new Map<string, Rebuild>();
  private readonly queue = new RebuildQueue();

  constructor(private readonly options: UnusableListReindexerOptions) {}

  /**
   * Rebuilds every unusable version when its turn has come, then opens the list with `open` and resolves with the
   * result. If it fails, it rejects and the list stays refused.
   */
  start<List>({ listId, listPath, settings, found, open }: RebuildRequest<List>): Promise<List> {
    // Accounts and lists are logged by the names that operators know, files by the id.
    const log = this.options.log.child({ account: settings.account, list: settings.list, id: listId });
    const total = found.unusable.reduce((sum, { documents }) => sum + documents, 0);
    const before = this.rebuilds.get(listId);
    const job = this.options.progress.begin({ kind: 'rebuild', subject: listId, total });
    const queued: QueuedRebuild = { isAsked: false, records: total, run: () => Promise.resolve() };
    const rebuild: Rebuild = {
      log,
      listPath,
      found,
      abort: new AbortController(),
      job,
      queued,
      failed: false,
      retryAtMs: undefined,
      diskFault: 'the disk reports an error',
      diskFailures: before?.retryAtMs === undefined ? 0 : before.diskFailures + 1,
      mayHaveReadZeros: false,
      outcome: Promise.resolve(),
    };
    const reason = found.unusable.map(({ segment }) => segment.message);
    log.info({ reason, records: total }, 'The index of a list will be rebuilt from its records');
    const opened = new Promise<List>((resolve, reject) => {
      queued.run = () => this.run(listId, rebuild, open).then(resolve, reject);
    });
    rebuild.outcome = opened.catch(() => undefined);
    this.rebuilds.set(listId, rebuild);
    this.queue.add(queued);
    this.count();
    return opened;
  }

  /**
   * Somebody waits for the list, which is being opened: unless it is at work already, its rebuild goes before those
   * that nobody waits for. Settles as `opening` does.
   */
  asked<List>(listId: string, opening: Promise<List>): Promise<List> {
    return opening.catch((error: unknown) => {
      const rebuild = this.rebuilds.get(listId);
      if (rebuild !== undefined) rebuild.queued.isAsked = true;
      throw error;
    });
  }

  /** Returns why the list cannot be used now; undefined if it is not being rebuilt here. */
  refusal(listId: string): ServiceError | undefined {
    const rebuild = this.known(listId);
    if (rebuild === undefined) return undefined;
    if (rebuild.retryAtMs !== undefined) return ofDisk(rebuild.diskFault, rebuild.retryAtMs);
    if (rebuild.failed) {
      return new ServiceError(
        'internal-error',
        'The index of the list could not be rebuilt; the log of the service says why.',
      );
    }
    const job = rebuild.job.read();
    const progress =
      job.state === 'waiting'
        ? `it waits for another list, with ${job.total ?? 0} records to do`
        : `${job.done} of ${job.total ?? 0} records are done`;
    const detail = `The list's index is being rebuilt from its records: ${progress}.`;
    return new ServiceError('not-ready', detail, { retryAfterSeconds: retryAfterSeconds(job) });
  }

  /** Returns the outline of a list that is being rebuilt here. */
  outline(listId: string): ListOutline | undefined {
    const found = this.known(listId)?.found;
    return found && outlineOf(found);
  }

  /** Also undefined if a retry is due: opening the list then starts the next rebuild, which replaces this one. */
  private known(listId: string): Rebuild | undefined {
    const rebuild = this.rebuilds.get(listId);
    const isDue = rebuild?.retryAtMs !== undefined && performance.now() >= rebuild.retryAtMs;
    return isDue ? undefined : rebuild;
  }

  /** Stops and forgets the rebuild of a list, so that opening the list begins a new one. Resolves when it has ended. */
  async stop(listId: string): Promise<void> {
    const rebuild = this.rebuilds.get(listId);
    rebuild?.abort.abort(new ServiceError('shutting-down', 'The rebuild was stopped.'));
    // A rebuild that waits for its turn checks the signal then, and has nothing in progress.
    if (rebuild?.job.hasStarted === true) await rebuild.outcome;
    rebuild?.job.stop();
    this.rebuilds.delete(listId);
    this.count();
  }

  /** Makes a list whose rebuild failed begin a new one when it is opened. */
  forgetFailed(listId: string): void {
    if (this.rebuilds.get(listId)?.failed === true) this.rebuilds.delete(listId);
  }

  /**
   * The store of the list can be read again, and was mapped anew: a rebuild that failed before, or fails by what it had
   * read before, is begun again when the list is opened.
   */
  storeMappedAnew(listId: string): void {
    this.forgetFailed(listId);
    const rebuild = this.rebuilds.get(listId);
    if (rebuild !== undefined) rebuild.mayHaveReadZeros = true;
  }

  /** Stops all rebuilds between two pieces. */
  async close(): Promise<void> {
    await Promise.all([...this.rebuilds.keys()].map((listId) => this.stop(listId)));
  }

  private async run<List>(listId: string, rebuild: Rebuild, open: () => List): Promise<List> {
    const { log } = rebuild;
    rebuild.abort.signal.throwIfAborted();
    const beganMs = performance.now();
    rebuild.job.start();
    try {
      for (const version of rebuild.found.unusable) await this.rebuildVersion(rebuild, version);
      rebuild.abort.signal.throwIfAborted();
      const list = open();
      const seconds = Math.round(performance.now() - beganMs) / 1000;
      rebuild.job.finish();
      log.info({ records: rebuild.job.read().done, seconds }, "A list's index was rebuilt, and the list is open");
      this.rebuilds.delete(listId);
      this.count();
      return list;
    } catch (error) {
      if (rebuild.abort.signal.aborted) throw error;
      rebuild.failed = true;
      const { first, max } = DISK_RETRY_SECONDS;
      const { mayHaveReadZeros } = rebuild;
      const waitSeconds = mayHaveReadZeros ? 0 : Math.min(max, first * 2 ** rebuild.diskFailures);
      if (isFull(error)) rebuild.diskFault = 'the disk is full';
      if (mayHaveReadZeros || isOfDisk(error)) rebuild.retryAtMs = performance.now() + waitSeconds * 1000;
      rebuild.job.fail("the service's log says why");
      this.count();
      log.error({ err: error }, `A list's index could not be rebuilt, ${nextTry(rebuild, waitSeconds)}`);
      throw error;
    }
  }

  private async rebuildVersion(rebuild: Rebuild, { version, part }: UnusableVersion): Promise<void> {
    const { listPath, job, log } = rebuild;
    const { signal } = rebuild.abort;
    const run: IngestExecutor['run'] = (task, options) => this.options.executor.run(task, options);
    const runPiece: IngestExecutor['run'] = async (task, options) => {
      const left = rebuild.queued.records - job.read().done;
      await this.queue.letOthersFirst({ rebuild: rebuild.queued, left, signal });
      return run(task, options);
    };
    let loggedMs = performance.now();
    const segments = await remakeSegments({
      run: runPiece,
      listPath,
      version,
      part,
      signal,
      newSegment: rebuild.found.newSegment,
      budget: this.options.budget,
      log,
      onRecords: (count) => {
        job.advance(count);
        if (performance.now() - loggedMs < PROGRESS_LOG_INTERVAL_MS) return;
        loggedMs = performance.now();
        const { done, total } = job.read();
        log.info({ version, recordsDone: done, recordsTotal: total }, 'Rebuilding the index of a list');
      },
    });
    // If this fails the files stay: the commit may be on disk although its worker died, which the next start finds out.
    await runWithRoom(run, { kind: 'commit-reindex', listPath, version, part, segments, open: undefined }, signal);
  }

  private count(): void {
    const pending = [...this.rebuilds.values()].filter(({ failed }) => !failed);
    this.options.metrics.listsRebuilding.set(pending.length);
  }
}

/** Estimates when the list will be open, from the speed so far. */
function retryAfterSeconds({ seconds_left: secondsLeft }: JobProgress): number {
  const { min, unknown, max } = RETRY_AFTER_SECONDS;
  return secondsLeft === null ? unknown : Math.min(max, Math.max(min, Math.ceil(secondsLeft)));
}

function outlineOf({ state, recordCounts }: UnusableIndexError): ListOutline {
  return {
    currentVersion: state.currentVersion,
    meaning: () => undefined,
    resources: () => undefined,
    versions: () => state.versions.map((version) => versionStatus(version, recordCounts.get(version.version) ?? 0)),
  };
}

/** Codes of the system and of the kernel: the data read was not what was written, or nothing could be read. */
const DISK_CODES: ReadonlySet<unknown> = new Set([
  'EIO',
  'ENODEV',
  'ESTALE',
  'EREMOTEIO',
  'io',
  'damaged',
  'unreadable',
]);

const isFull = (error: unknown) => error instanceof ServiceError && error.code === 'storage-full';

function isOfDisk(error: unknown): boolean {
  if (isFull(error)) return true;
  // What was just rebuilt cannot be read either.
  if (error instanceof UnusableIndexError) return true;
  const known = asDamageError(error);
  if (known instanceof ServiceError) return known.code === 'storage-damaged' || known.code === 'not-ready';
  return DISK_CODES.has(systemCode(error));
}

function nextTry({ retryAtMs, diskFault }: Rebuild, waitSeconds: number): string {
  if (retryAtMs === undefined) return 'and the list stays closed';
  return `since ${diskFault}; whoever asks for the list from ${waitSeconds} s on has it tried again`;
}

/** Not `storage-damaged`, which would close the list until the next start. */
function ofDisk(fault: DiskFault, retryAtMs: number): ServiceError {
  const remedy = fault === 'the disk is full' ? 'Free some space; it' : 'It';
  const detail = `The index of the list could not be rebuilt, because ${fault} (see the log of the service). ${remedy} is tried again when the list is next used.`;
  return new ServiceError('not-ready', detail, {
    retryAfterSeconds: Math.max(1, Math.ceil((retryAtMs - performance.now()) / 1000)),
  });
}
