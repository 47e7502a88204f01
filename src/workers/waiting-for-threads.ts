/**
 * Refuses tasks of a pool whose thread cannot be started, for instance because no file descriptor is left, or because
 * the package was replaced under the service and its files no longer match. Piscina starts no other thread then, and
 * keeps the task until the next one comes, which may wait for this very task. Main thread only.
 */
import type { Piscina } from 'piscina';
import { resourcesExhausted, type ServiceError } from '../platform/index.js';

/** Codes of a thread that could not be started, and of what it opens first. */
const NO_ROOM_CODES: ReadonlySet<unknown> = new Set(['ERR_WORKER_INIT_FAILED', 'EMFILE', 'ENFILE', 'ENOMEM']);

const NO_THREAD =
  'no thread can be started, it is out of descriptors (ulimit -n), threads (ulimit -u, or the tasks of its container or unit) or memory';

/** Returns `resources-exhausted` for a thread that could not be started; undefined for one that failed otherwise. */
export function asUnstartedThread(error: unknown): ServiceError | undefined {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return NO_ROOM_CODES.has(code) ? resourcesExhausted(NO_THREAD, error) : undefined;
}

export class WaitingForThreads {
  readonly #waiting = new Map<AbortController, Piscina>();

  /**
   * Runs the action. Rejects as the action does. If no thread can be started for it, rejects with
   * `resources-exhausted`, or with the `failure` given to `threadDied`.
   */
  async run<Result>(pool: Piscina, action: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const controller = new AbortController();
    this.#waiting.set(controller, pool);
    try {
      return await action(controller.signal);
    } catch (error) {
      throw controller.signal.aborted ? controller.signal.reason : error;
    } finally {
      this.#waiting.delete(controller);
    }
  }

  /**
   * Called by the pool for a thread that died without a task. `failure`: the error for its tasks if the thread did not
   * die for lack of resources.
   */
  threadDied(pool: Piscina, error: unknown, failure: ServiceError): void {
    const reason = asUnstartedThread(error) ?? failure;
    setImmediate(() => {
      // Another thread takes the tasks.
      if (pool.threads.length > 0) return;
      for (const [controller, its] of this.#waiting) if (its === pool) controller.abort(reason);
    });
  }
}
