/** Semaphore with FIFO order. For one thread. */
export class UploadSlots {
  private readonly waiting: (() => void)[] = [];
  private taken = 0;

  constructor(private readonly slots: number) {}

  async run<Result>(action: () => Promise<Result>): Promise<Result> {
    if (this.taken < this.slots) this.taken += 1;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      return await action();
    } finally {
      const next = this.waiting.shift();
      // The slot passes to the next waiter.
      if (next === undefined) this.taken -= 1;
      else next();
    }
  }
}
