/** Shared by the pools of workers: the paths of worker files, and the errors of workers that died. */
import type { Logger } from 'pino';
import { asProgramError, compiledFile, ServiceError, type Metrics, type PoolName } from '../platform/index.js';
import { endUnstartedThreads } from './unstarted-threads.js';
import { asUnstartedThread } from './waiting-for-threads.js';
import { INTERNAL_ERROR_DETAIL } from '../platform/hosts/reply.js';

/** Returns the file for a pool about to be created, and prepares for threads that the system refuses. */
export function workerFile(name: PoolName): string {
  endUnstartedThreads();
  return compiledFile(`src/workers/${name}.worker`);
}

/**
 * Converts the error that Piscina gives to each task of a dead worker to `internal-error` (or `program-replaced`, or
 * `resources-exhausted` if the system refused the thread). Counts and logs each death once, however many tasks it
 * concerned.
 */
export class WorkerDeaths {
  private readonly seen = new WeakSet<object>();

  constructor(
    private readonly pool: PoolName,
    private readonly log: Logger,
    private readonly metrics: Metrics,
  ) {}

  failure(error: unknown): ServiceError {
    this.record(error);
    const unstarted = asUnstartedThread(error);
    if (unstarted !== undefined) return unstarted;
    const known = asProgramError(error);
    return known instanceof ServiceError
      ? known
      : new ServiceError('internal-error', INTERNAL_ERROR_DETAIL, { cause: error });
  }

  record(error: unknown): void {
    if (typeof error === 'object' && error !== null) {
      if (this.seen.has(error)) return;
      this.seen.add(error);
    }
    this.metrics.workerDeaths.inc({ pool: this.pool });
    this.log.error({ pool: this.pool, err: error }, 'A worker died; starting a new one');
  }
}
