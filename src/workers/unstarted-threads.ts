/**
 * Threads that the system refuses (EAGAIN: `ulimit -u`, `TasksMax` of systemd, `pids.max` of a container). `new Worker` throws then, also within
 * Piscina, which makes threads while it hears of others: there the error is nobody's, and ended the process; and where a task was given, it
 * was told as failed and stayed in the queue, to be done behind that. Such a thread is one instead that ends before it has begun, as one is that
 * has no descriptor left: its pool hears of it, and refuses what waits for it (`waiting-for-threads.ts`). Main thread only.
 */
import { EventEmitter } from 'node:events';
import workerThreads, { type Worker } from 'node:worker_threads';

const REFUSED = 'ERR_WORKER_INIT_FAILED';

/** What Piscina does to a thread, done to none. */
class UnstartedThread extends EventEmitter {
  readonly threadId = -1;

  constructor(error: unknown) {
    super();
    // Whoever made it listens by then.
    setImmediate(() => {
      this.emit('error', error);
      this.emit('exit', 1);
    });
  }

  postMessage(): void {
    // Nobody is there to hear it.
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  terminate(): Promise<number> {
    return Promise.resolve(1);
  }
}

let isDone = false;

/** For whatever makes threads of the module `node:worker_threads` from now on, libraries above all. */
export function endUnstartedThreads(): void {
  if (isDone) return;
  isDone = true;
  const value = new Proxy(workerThreads.Worker, {
    construct: (made, given: ConstructorParameters<typeof Worker>, asked) => {
      try {
        return Reflect.construct(made, given, asked) as Worker;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== REFUSED) throw error;
        return new UnstartedThread(error);
      }
    },
  });
  Object.defineProperty(workerThreads, 'Worker', { value, configurable: true, enumerable: true, writable: true });
}
