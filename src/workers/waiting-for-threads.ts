/**
 * Tasks of a pool whose thread cannot be started, as where the process has no descriptor left, or the package was replaced under the service and
 * its files go together no more: Piscina starts none in its place and keeps the task until the next one comes, which may wait for this very
 * one. They are refused instead. Main thread only.
 */
import type { Piscina } from 'piscina';
import { resourcesExhausted, type ServiceError } from '../platform/index.js';

/** Of a thread that could not be started, and of what it opens first. */
const NO_ROOM_CODES: ReadonlySet<unknown> = new Set(['ERR_WORKER_INIT_FAILED', 'EMFILE', 'ENFILE', 'ENOMEM']);

const NO_THREAD =
  'no thread can be started, it is out of descriptors (ulimit -n), threads (ulimit -u, or the tasks of its container or unit) or memory';

/** `resources-exhausted` of a thread that could not be started; undefined of one that failed otherwise. */
export function asUnstartedThread(error: unknown): ServiceError | undefined {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return NO_ROOM_CODES.has(code) ? resourcesExhausted(NO_THREAD, error) : undefined;
}

export class WaitingForThreads {
  readonly #waiting = new Map<AbortController, Piscina>();

  /** Rejects as the action does, or with `resources-exhausted` or what `threadDied` was told where no thread could be started for it. */
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

  /** Told by the pool of a thread that had nothing in hand. `failure`: what the error is told as where there was room for the thread. */
  threadDied(pool: Piscina, error: unknown, failure: ServiceError): void {
    const reason = asUnstartedThread(error) ?? failure;
    setImmediate(() => {
      // Another one takes what waits.
      if (pool.threads.length > 0) return;
      for (const [controller, its] of this.#waiting) if (its === pool) controller.abort(reason);
    });
  }
}
