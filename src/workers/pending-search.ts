/** A search that was accepted and is not settled: it waits for a worker, or runs in one. Main thread only. */
import type { Cancellation } from '../platform/index.js';
import type { SearchAnswer } from '../search/index.js';
import type { SearchPoolTask } from './search-messages.js';

export interface AskedSearch {
  readonly task: SearchPoolTask;
  readonly signal: Cancellation;
  /** The account of the search; accounts take turns. */
  readonly account: string;
}

/**
 * A class that listens to the client's leaving itself: a closure per search, and an object merged from others, took
 * longer than all else that is done here for a search.
 */
export class PendingSearch implements AskedSearch {
  readonly task: SearchPoolTask;
  readonly signal: Cancellation;
  readonly account: string;
  /** Settled by `succeed` and `fail`. */
  readonly answer: Promise<SearchAnswer>;
  /** By the clock of the workers. */
  deadlineMs = 0;
  /** Stop flag in the workers' kernel, while the search runs. */
  flag: number | undefined = undefined;
  /** True if it is in the lane of expensive searches. */
  isDear = false;
  /** True if it came back unfinished or not begun, and was queued again. */
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
