/**
 * A queue with a limit of running tasks. Accounts that wait take turns, one task each; the tasks of one account are
 * served in order. A task whose signal is aborted while it waits is removed and rejects with the signal's reason; a
 * running one finishes. One thread only.
 */
import { FairQueue } from './fair-queue.js';

export interface TaskLaneOptions {
  readonly atWorkMax: number;
}

export interface LaneTaskOptions {
  readonly signal?: AbortSignal | undefined;
  /** Account of the task. Tasks without one share a turn. */
  readonly account?: string | undefined;
}

interface Waiting {
  readonly account: string;
  readonly start: () => void;
}

export class TaskLane {
  private readonly queue = new FairQueue<Waiting>(({ account }) => account);
  private atWork = 0;
  private readonly drainers: (() => void)[] = [];

  constructor(private readonly options: TaskLaneOptions) {}

  get waiting(): number {
    return this.queue.length;
  }

  /** Returns the number of waiting tasks per account. */
  waitingByAccount(): Iterable<readonly [account: string, count: number]> {
    return this.queue.counts();
  }

  async run<Result>(action: () => Promise<Result>, { signal, account = '' }: LaneTaskOptions = {}): Promise<Result> {
    signal?.throwIfAborted();
    await this.turn(account, signal);
    try {
      return await action();
    } finally {
      this.atWork -= 1;
      this.queue.take(1)[0]?.start();
      if (this.atWork === 0) for (const drained of this.drainers.splice(0)) drained();
    }
  }

  /** Resolves when nothing waits and nothing runs. */
  async drained(): Promise<void> {
    if (this.atWork === 0) return;
    await new Promise<void>((resolve) => this.drainers.push(resolve));
  }

  private async turn(account: string, signal: AbortSignal | undefined): Promise<void> {
    if (this.atWork < this.options.atWorkMax) {
      this.atWork += 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const abort = () => {
        this.queue.remove(waiting);
        reject(signal?.reason as Error);
      };
      const start = () => {
        signal?.removeEventListener('abort', abort);
        // Takes the place at once, so that a task that comes before the next microtask does not take it as well.
        this.atWork += 1;
        resolve();
      };
      const waiting = { account, start };
      this.queue.push(waiting);
      signal?.addEventListener('abort', abort, { once: true });
    });
  }
}
