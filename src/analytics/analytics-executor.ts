/**
 * Runs tasks in the one analytics thread. It has a thread of its own because it alone owns `data/analytics/events`, and
 * because neither a search nor a write of records may wait for a roll-up. The thread starts with its first task; tasks
 * reach it in the order in which they are given.
 */
import type { Logger } from 'pino';
import { createWorkerThread, loggedWorker } from '../platform/hosts/index.js';
import { compiledFile, ServiceError, type Config, type Metrics, type StorageFaults } from '../platform/index.js';
import { ANALYTICS_UNAVAILABLE } from './analytics-problems.js';
import type { AnalyticsProtocol, AnalyticsWorkerData } from './analytics-protocol.js';
import { analyticsFolder } from './folder.js';
import type { AnalyticsExecutor, AnalyticsResult } from './tasks.js';

/** Limit of pending tasks: one append, one roll-up, and the reports and deletions requested meanwhile. */
const TASKS_MAX = 320;
const HEAP_MIB_MAX = 512;
/** Path relative to the data directory. */
const EVENTS = 'analytics/events';
/**
 * Niceness, of at most 19: on a busy processor it gets a quarter of the time, as somebody waits for reports; searches
 * come first.
 */
const NICENESS = 5;

export interface AnalyticsExecutorOptions {
  readonly config: Pick<Config, 'data'>;
  readonly faults: StorageFaults;
  readonly log: Logger;
  readonly metrics: Metrics;
}

export interface RunningAnalyticsExecutor extends AnalyticsExecutor {
  /** Finishes what was accepted, then ends the thread. */
  close(): Promise<void>;
}

export function createAnalyticsExecutor({
  config,
  faults,
  log,
  metrics,
}: AnalyticsExecutorOptions): RunningAnalyticsExecutor {
  const data: AnalyticsWorkerData = { analyticsFolder: analyticsFolder(config) };
  const host = createWorkerThread<AnalyticsProtocol>({
    name: 'analytics',
    entry: compiledFile('src/analytics/analytics.worker'),
    data,
    heapMibMax: HEAP_MIB_MAX,
    niceness: NICENESS,
    onEvent: (_name, { unreadable }) => {
      if (unreadable === null) faults.gone(EVENTS);
      else faults.met(EVENTS, unreadable);
    },
    ...loggedWorker('analytics', { log, metrics }),
  });
  return {
    async run(task) {
      if (host.pending >= TASKS_MAX) {
        throw new ServiceError(
          ANALYTICS_UNAVAILABLE,
          'Too many requests wait for the analytics storage; try again later.',
        );
      }
      return (await host.call('run', task)) as AnalyticsResult<typeof task>;
    },
    close: () => host.close(),
  };
}
