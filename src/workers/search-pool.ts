/** The pool of search workers: Piscina threads behind a batcher. */
import { Piscina } from 'piscina';
import type { Logger } from 'pino';
import { analyticsFolder } from '../analytics/folder.js';
import type { Cancellation, Config, HeapLimits, Metrics, RequestMemory } from '../platform/index.js';
import type { SearchAnswer } from '../search/index.js';
import { withRoomForAnswers } from './large-answers.js';
import { SearchBatcher } from './search-batcher.js';
import type { SearchPoolTask, SearchWorkerData, SearchWorkerMessage, WorkerDeath } from './search-messages.js';
import { keepWorkerViews, WorkerDeaths, workerFile } from './worker-pool.js';

/** One batch at work and one waiting in each worker, so that a worker never waits for the main thread. */
const BATCHES_PER_WORKER_MAX = 2;
const CLOSE_TIMEOUT_MS = 10_000;

export interface SearchPoolOptions {
  readonly config: Pick<Config, 'search' | 'data'>;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** A search that needs more than this is a fault; its worker dies instead of the service. */
  readonly heap: HeapLimits;
  /** Where long answers reserve their room. */
  readonly requestMemory: RequestMemory;
  /** Lets `killWorker` work. */
  readonly testing?: boolean;
}

export interface RunningSearchPool {
  /** Rejects with a ServiceError: `overloaded`, the search's own, or `internal-error` if its worker died. */
  search(task: SearchPoolTask, signal: Cancellation): Promise<SearchAnswer>;
  /** Resolves when a worker is ready to search. */
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
  testing = false,
}: SearchPoolOptions): RunningSearchPool {
  const workers = config.search.threads;
  const workerData: SearchWorkerData = { testing, analyticsFolder: analyticsFolder(config) };
  const piscina = new Piscina({
    filename: workerFile('search'),
    minThreads: workers,
    maxThreads: workers,
    concurrentTasksPerWorker: BATCHES_PER_WORKER_MAX,
    // The batcher never sends more than the workers take; this only fills while a dead one is being replaced.
    maxQueue: workers * BATCHES_PER_WORKER_MAX + 1,
    resourceLimits: heap,
    recordTiming: false,
    closeTimeout: CLOSE_TIMEOUT_MS,
    workerData,
  });
  keepWorkerViews(piscina);
  const deaths = new WorkerDeaths('search', log, metrics);
  piscina.on('error', (error) => {
    deaths.record(error);
  });
  const send = (message: SearchWorkerMessage) => piscina.run(message) as Promise<ArrayBuffer>;
  const refused = metrics.poolRefused.labels('search');
  let searches = 0;
  const batcher = new SearchBatcher({
    run: (tasks) => send({ kind: 'batch', tasks }),
    workers,
    inFlightMax: workers * BATCHES_PER_WORKER_MAX,
    batchMax: config.search.batch_max,
    queueMax: config.search.queue_max,
    observe: {
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
      bug: (stack, task) => {
        log.error({ ...described(task), stack }, 'A search failed unexpectedly');
      },
      lost: (error) => deaths.failure(error),
    },
  });
  metrics.beforeReading(() => {
    metrics.poolWaiting.set({ pool: 'search' }, batcher.waitingCount);
    metrics.searches.inc(searches);
    searches = 0;
  });
  return {
    search: withRoomForAnswers((task, signal) => batcher.search(task, signal), requestMemory),
    async warmUp() {
      await Promise.all(Array.from({ length: workers }, () => send({ kind: 'batch', tasks: [] })));
    },
    async killWorker(how) {
      if (!testing) throw new Error('this pool is not for testing');
      await send({ kind: 'die', how }).then(
        () => Promise.reject(new Error('the worker lives on')),
        (error: unknown) => {
          deaths.record(error);
        },
      );
    },
    async close() {
      await batcher.close();
      await piscina.close();
    },
  };
}

function described(task: SearchPoolTask) {
  return task.kind === 'search' ? { subject: task.subject, queryId: task.queryId } : { kind: task.kind };
}
