/**
 * A queue with a bound on what is at work: who waits in it has turns, one task each, and what one has waiting is first come, first served. A task whose signal aborts while it waits is taken
 * out and rejects with the signal's reason; one at work is left to finish. One thread only.
 */
import { FairQueue } from './fair-queue.js';

export interface TaskLaneOptions {
  readonly atWorkMax: number;
}

export interface LaneTaskOptions {
  readonly signal?: AbortSignal | undefined;
  /** Whose it is. Those that are nobody's share a turn. */
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

  /** Whose how many wait. */
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

  /** Resolves when nothing waits and nothing is at work. */
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
        // The place is taken at once, so that nobody who comes between now and the next microtask takes it too.
        this.atWork += 1;
        resolve();
      };
      const waiting = { account, start };
      this.queue.push(waiting);
      signal?.addEventListener('abort', abort, { once: true });
    });
  }
}
