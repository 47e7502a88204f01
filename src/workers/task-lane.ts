/**
 * A first-come queue with a bound on what is at work. A task whose signal aborts while it waits is taken
 * out and rejects with the signal's reason; one at work is left to finish. One thread only.
 */
export interface TaskLaneOptions {
  readonly atWorkMax: number;
}

export class TaskLane {
  private readonly queue: (() => void)[] = [];
  private atWork = 0;
  private readonly drainers: (() => void)[] = [];

  constructor(private readonly options: TaskLaneOptions) {}

  get waiting(): number {
    return this.queue.length;
  }

  async run<Result>(action: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    signal?.throwIfAborted();
    await this.turn(signal);
    try {
      return await action();
    } finally {
      this.atWork -= 1;
      this.queue.shift()?.();
      if (this.atWork === 0) for (const drained of this.drainers.splice(0)) drained();
    }
  }

  /** Resolves when nothing waits and nothing is at work. */
  async drained(): Promise<void> {
    if (this.atWork === 0) return;
    await new Promise<void>((resolve) => this.drainers.push(resolve));
  }

  private async turn(signal: AbortSignal | undefined): Promise<void> {
    if (this.atWork < this.options.atWorkMax) {
      this.atWork += 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const abort = () => {
        this.queue.splice(this.queue.indexOf(start), 1);
        reject(signal?.reason as Error);
      };
      const start = () => {
        signal?.removeEventListener('abort', abort);
        // The place is taken at once, so that nobody who comes between now and the next microtask takes it too.
        this.atWork += 1;
        resolve();
      };
      this.queue.push(start);
      signal?.addEventListener('abort', abort, { once: true });
    });
  }
}
