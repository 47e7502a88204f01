/** A search that was taken and is not settled: waiting for a worker, or out at one. Main thread only. */
import type { Cancellation } from '../platform/index.js';
import type { SearchAnswer } from '../search/index.js';
import type { SearchPoolTask } from './search-messages.js';

export interface AskedSearch {
  readonly task: SearchPoolTask;
  readonly signal: Cancellation;
  /** Whose it is: accounts take turns. */
  readonly account: string;
}

/**
 * A class that hears by itself of its client's leaving: a closure a search, and an object that is put together from others, took longer
 * than all else that is done here for it.
 */
export class PendingSearch implements AskedSearch {
  readonly task: SearchPoolTask;
  readonly signal: Cancellation;
  readonly account: string;
  /** Settled by `succeed` and `fail`. */
  readonly answer: Promise<SearchAnswer>;
  /** On the clock of the workers. */
  deadlineMs = 0;
  /** Of the worker's kernel, while it is out. */
  flag: number | undefined = undefined;
  /** In the lane of dear searches. */
  isDear = false;
  /** It came there because a slice was not enough. */
  wasMoved = false;
  private resolve!: (answer: SearchAnswer | Promise<SearchAnswer>) => void;
  private reject!: (error: unknown) => void;

  constructor(
    { task, signal, account }: AskedSearch,
    private readonly onAbort: { abort(search: PendingSearch): void },
  ) {
    this.task = task;
    this.signal = signal;
    this.account = account;
    this.answer = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    signal.addEventListener('abort', this);
  }

  handleEvent(): void {
    this.onAbort.abort(this);
  }

  succeed(answer: SearchAnswer | Promise<SearchAnswer>): void {
    this.signal.removeEventListener('abort', this);
    this.resolve(answer);
  }

  fail(error: unknown): void {
    this.signal.removeEventListener('abort', this);
    this.reject(error);
  }
}
