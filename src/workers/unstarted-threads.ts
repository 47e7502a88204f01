/**
 * Handles threads that the system refuses (EAGAIN: `ulimit -u`, `TasksMax` of systemd, `pids.max` of a container). `new
 * Worker` throws then, also within Piscina when it replaces threads, where nobody catches the error and it ended the
 * process; and a task being submitted was reported as failed, but stayed in the queue and was run later. Such a thread
 * is replaced by an object that ends before it has begun, like a thread without a file descriptor: its pool notices
 * that, and refuses what waits for it (`waiting-for-threads.ts`). Main thread only.
 */
import { EventEmitter } from 'node:events';
import workerThreads, { type Worker } from 'node:worker_threads';

const REFUSED = 'ERR_WORKER_INIT_FAILED';

/** Has the methods that Piscina calls on a thread, which do nothing. */
class UnstartedThread extends EventEmitter {
  readonly threadId = -1;

  constructor(error: unknown) {
    super();
    // The creator has added its listeners by then.
    setImmediate(() => {
      this.emit('error', error);
      this.emit('exit', 1);
    });
  }

  postMessage(): void {
    // There is no thread to receive it.
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

/** Applies to all threads created through the module `node:worker_threads` from now on, above all by libraries. */
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
