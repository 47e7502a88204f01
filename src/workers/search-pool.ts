/**
 * The pool of search workers: Piscina threads behind a batcher, which reaches them through channels of its own.
 * Expensive searches have threads of their own, which end when there are none. Their niceness is the same as the
 * others': on a machine that other programs keep busy, an expensive search would take twice as long as alone, while
 * cheap ones would hardly be faster (docs/decisions/0058).
 */
import { Piscina } from 'piscina';
import { kernel } from '../../native-bindings/index.js';
import type { Logger } from 'pino';
import { analyticsFolder } from '../analytics/folder.js';
import {
  assertEnvironmentRoom,
  type Cancellation,
  type Config,
  type HeapLimits,
  type Metrics,
  type RequestMemory,
  type SearchActivity,
} from '../platform/index.js';
import type { SearchAnswer } from '../search/index.js';
import { BatchThreads } from './batch-threads.js';
import { LargeAnswers } from './large-answers.js';
import { SearchBatcher, type SearchBatcherObserver } from './search-batcher.js';
import type {
  SearchPoolTask,
  SearchWorkerData,
  SearchWorkerMessage,
  SearchWorkerStart,
  WorkerDeath,
} from './search-messages.js';
import { StopFlags } from './stop-flags.js';
import { WaitingForThreads } from './waiting-for-threads.js';
import { WorkerDeaths, workerFile } from './worker-pool.js';

/** One batch running and one waiting in each worker, so that a worker never waits for the main thread. */
const BATCHES_PER_WORKER_MAX = 2;
const CLOSE_TIMEOUT_MS = 10_000;
/** A thread for expensive searches ends after this time without another. */
const DEAR_IDLE_MS = 30_000;

export interface SearchPoolOptions {
  readonly config: Pick<Config, 'search' | 'data'>;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** A search that needs more is a fault: its worker dies instead of the service. */
  readonly heap: HeapLimits;
  /** Budget in which long answers reserve their room. */
  readonly requestMemory: RequestMemory;
  /** Threads for expensive searches, in addition to those of `config.search.threads`. */
  readonly dearThreadsMax: number;
  /** Where running searches are counted. */
  readonly activity: SearchActivity;
  /** Enables `killWorker`. */
  readonly testing?: boolean;
}

export interface RunningSearchPool {
  /**
   * Rejects with a ServiceError: `overloaded`, `deadline`, the search's own, or `internal-error` if its worker died.
   */
  search(task: SearchPoolTask, signal: Cancellation, account: string): Promise<SearchAnswer>;
  /** Resolves when the workers are ready to search. */
  warmUp(): Promise<void>;
  /** Testing only: makes one worker die; resolves when it did. */
  killWorker(how: WorkerDeath): Promise<void>;
  /** Finishes what was accepted, then ends the threads. */
  close(): Promise<void>;
}

export function createSearchPool({
  config,
  log,
  metrics,
  heap,
  requestMemory,
  dearThreadsMax,
  activity,
  testing = false,
}: SearchPoolOptions): RunningSearchPool {
  const workers = config.search.threads;
  const deaths = new WorkerDeaths('search', log, metrics);
  const recordDeath = (error: unknown) => {
    deaths.record(error);
  };
  const pools = poolsOf({ config, heap, dearThreadsMax, testing }, deaths);
  const threads = new BatchThreads<SearchWorkerMessage, SearchWorkerStart>({
    piscina: pools.piscina,
    threads: workers,
    start: (end) => ({ kind: 'serve', end }),
    onDeath: recordDeath,
  });
  const batcher = new SearchBatcher({
    run: (batch) => threads.run(batch),
    runDear: async (batch) => {
      // Starting a thread needs descriptors, too.
      assertEnvironmentRoom(0);
      const dear = pools.dear();
      return pools.waiting.run(dear, async (signal) => (await dear.run(batch, { signal })) as ArrayBuffer);
    },
    workers,
    dearMax: dearThreadsMax,
    deadlineMs: config.search.deadline_ms,
    flags: new StopFlags(kernel),
    nowMs: () => kernel.steadyMs(),
    answers: new LargeAnswers(requestMemory),
    inFlightMax: workers * BATCHES_PER_WORKER_MAX,
    batchMax: config.search.batch_max,
    queueMax: config.search.queue_max,
    observe: observations(metrics, log, deaths),
    activity,
  });
  metrics.beforeReading(() => {
    metrics.poolWaiting.set({ pool: 'search' }, batcher.waitingCount);
  });
  return {
    search: (task, signal, account) => batcher.search(task, signal, account),
    async warmUp() {
      await threads.everywhere({ kind: 'batch', tasks: [], stops: [], sliceMs: Infinity });
    },
    async killWorker(how) {
      if (!testing) throw new Error('this pool is not for testing');
      await threads.run({ kind: 'die', how }).then(
        () => Promise.reject(new Error('the worker lives on')),
        (error: unknown) => {
          deaths.record(error);
        },
      );
    },
    async close() {
      await batcher.close();
      await threads.close();
      await pools.close();
    },
  };
}

/**
 * Creates the threads for cheap searches; those for expensive ones are created when the first is needed, which most
 * services never do.
 */
function poolsOf(
  {
    config,
    heap,
    dearThreadsMax,
    testing = false,
  }: Pick<SearchPoolOptions, 'config' | 'heap' | 'dearThreadsMax' | 'testing'>,
  deaths: WorkerDeaths,
) {
  const workerData: SearchWorkerData = { testing, analyticsFolder: analyticsFolder(config) };
  const common = {
    filename: workerFile('search'),
    resourceLimits: heap,
    recordTiming: false,
    closeTimeout: CLOSE_TIMEOUT_MS,
    concurrentTasksPerWorker: 1,
    workerData,
  };
  const { threads } = config.search;
  // The queue only fills while dead threads are being replaced.
  const piscina = new Piscina({ ...common, minThreads: threads, maxThreads: threads, maxQueue: threads });
  piscina.on('error', (error) => {
    deaths.record(error);
  });
  const waiting = new WaitingForThreads();
  let dearPiscina: Piscina | undefined;
  const dear = (): Piscina => {
    if (dearPiscina !== undefined) return dearPiscina;
    const limits = { minThreads: 0, maxThreads: dearThreadsMax, maxQueue: dearThreadsMax + 1 };
    const made = new Piscina({ ...common, ...limits, idleTimeout: DEAR_IDLE_MS });
    made.on('error', (error) => {
      waiting.threadDied(made, error, deaths.failure(error));
    });
    return (dearPiscina = made);
  };
  return {
    piscina,
    dear,
    waiting,
    async close() {
      await Promise.all([piscina.close(), dearPiscina?.close()]);
    },
  };
}

/** Records what happens in the pool, as metrics and log lines. */
function observations(metrics: Metrics, log: Logger, deaths: WorkerDeaths): SearchBatcherObserver {
  const refused = metrics.poolRefused.labels('search');
  // Counted here first: incrementing a counter with labels is too expensive per search.
  let searches = 0;
  metrics.beforeReading(() => {
    metrics.searches.inc(searches);
    searches = 0;
  });
  return {
    refused: () => {
      refused.inc();
    },
    batch: (size) => {
      metrics.searchBatchSize.observe(size);
    },
    answered: ({ kind }, workerMs) => {
      if (kind !== 'search') return;
      searches += 1;
      metrics.searchWorkerSeconds.observe(workerMs / 1000);
    },
    unfinished: (why) => {
      if (why === 'slice') metrics.searchesMoved.inc();
      else metrics.searchesUnfinished.inc({ reason: why === 'deadline' ? 'deadline' : 'client-gone' });
    },
    bug: (stack, task) => {
      log.error({ ...described(task), stack }, 'A search failed unexpectedly');
    },
    lost: (error) => deaths.failure(error),
  };
}

function described(task: SearchPoolTask) {
  return task.kind === 'search' ? { subject: task.subject, queryId: task.queryId } : { kind: task.kind };
}
