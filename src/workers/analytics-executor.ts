/**
 * The one analytics thread. A thread of its own, because it alone owns `data/analytics/events`, and because neither a search nor a write
 * of records may wait behind a roll-up. Its tasks reach it in the order in which they are given.
 */
import { Piscina } from 'piscina';
import type { Logger } from 'pino';
import {
  analyticsFolder,
  type AnalyticsExecutor,
  type AnalyticsResult,
  type AnalyticsTask,
} from '../analytics/index.js';
import { ServiceError, type Config, type Metrics } from '../platform/index.js';
import type { AnalyticsWorkerData } from './analytics.worker.js';
import { WorkerDeaths, workerFile } from './worker-pool.js';
import { valueOf, type WorkerReply } from '../platform/hosts/reply.js';

/** One append, one roll-up, and the reports and deletions that are asked for meanwhile. */
const TASKS_IN_THREAD_MAX = 64;
const TASKS_WAITING_MAX = 256;
const WORKER_HEAP_MIB_MAX = 512;
/** Searches come first on a busy processor. */
const NICE_INCREMENT = 5;
const CLOSE_TIMEOUT_MS = 4000;

export interface AnalyticsExecutorOptions {
  readonly config: Pick<Config, 'data'>;
  readonly log: Logger;
  readonly metrics: Metrics;
}

export interface RunningAnalyticsExecutor extends AnalyticsExecutor {
  /** Finishes what was accepted, then ends the thread. */
  close(): Promise<void>;
}

export function createAnalyticsExecutor(options: AnalyticsExecutorOptions): RunningAnalyticsExecutor {
  const { config, log, metrics } = options;
  const workerData: AnalyticsWorkerData = { analyticsFolder: analyticsFolder(config) };
  const piscina = new Piscina({
    filename: workerFile('analytics'),
    minThreads: 1,
    maxThreads: 1,
    concurrentTasksPerWorker: TASKS_IN_THREAD_MAX,
    maxQueue: TASKS_WAITING_MAX,
    niceIncrement: NICE_INCREMENT,
    // Commits are waited for on the event loop, which has to turn meanwhile.
    atomics: 'disabled',
    resourceLimits: { maxOldGenerationSizeMb: WORKER_HEAP_MIB_MAX },
    recordTiming: false,
    closeTimeout: CLOSE_TIMEOUT_MS,
    workerData,
  });
  const deaths = new WorkerDeaths('analytics', log, metrics);
  piscina.on('error', (error) => {
    deaths.record(error);
  });
  return {
    async run<Task extends AnalyticsTask>(task: Task): Promise<AnalyticsResult<Task>> {
      if (piscina.queueSize >= TASKS_WAITING_MAX) {
        throw new ServiceError('analytics-unavailable', 'Too much is asked of analytics at a time; try again later.');
      }
      let reply: WorkerReply<AnalyticsResult<Task>>;
      try {
        reply = (await piscina.run(task)) as WorkerReply<AnalyticsResult<Task>>;
      } catch (error) {
        throw deaths.failure(error);
      }
      return valueOf(reply, (stack) => {
        log.error({ task: task.kind, stack }, 'A task of analytics failed unexpectedly');
      });
    },
    close: () => piscina.close(),
  };
}
