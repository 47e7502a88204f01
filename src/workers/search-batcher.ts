/**
 * Gathers the searches of one turn of the event loop and hands them out in batches: waking a thread costs several times
 * what a cheap search does, so it is woken once for many.
 *
 * Invariants: at most `queueMax` searches wait; at most `inFlightMax` batches are out; every search settles exactly once,
 * also when its batch is lost. A search whose client went away is dropped as long as it waits. Main thread only.
 */
import { deserialiseError, ServiceError, type Cancellation } from '../platform/index.js';
import type { SearchAnswer } from '../search/index.js';
import { readBatchAnswer, type SearchReply } from './batch-answer.js';
import { PostponedAnswer } from './large-answers.js';
import type { SearchPoolTask } from './search-messages.js';

export interface SearchBatcherOptions {
  /** Runs a batch somewhere, and answers as batch-answer.ts has it; rejects only when the whole batch is lost. */
  readonly run: (tasks: readonly SearchPoolTask[]) => Promise<ArrayBuffer>;
  readonly workers: number;
  /** Batches that are out at a time: enough that no worker waits for the main thread between two. */
  readonly inFlightMax: number;
  readonly batchMax: number;
  readonly queueMax: number;
  readonly observe: SearchBatcherObserver;
}

export interface SearchBatcherObserver {
  refused(): void;
  batch(size: number): void;
  answered(task: SearchPoolTask, workerMs: number): void;
  bug(stack: string, task: SearchPoolTask): void;
  /** The batch was lost with its worker. */
  lost(error: unknown, size: number): ServiceError;
}

interface Waiting {
  readonly task: SearchPoolTask;
  readonly signal: Cancellation;
  readonly resolve: (answer: SearchAnswer) => void;
  readonly reject: (error: unknown) => void;
}

const RETRY_AFTER_SECONDS = 1;
/** Smaller batches are not split: waking the worker a second time would cost more than it hides. */
const SPLIT_BATCH_MIN = 4;

export class SearchBatcher {
  private waiting: Waiting[] = [];
  private inFlight = 0;
  private flushScheduled = false;
  private closed = false;
  private idle: (() => void) | undefined;

  constructor(private readonly options: SearchBatcherOptions) {}

  /** Searches that no worker has yet. */
  get waitingCount(): number {
    return this.waiting.length;
  }

  search(task: SearchPoolTask, signal: Cancellation): Promise<SearchAnswer> {
    if (this.closed)
      return Promise.reject(new ServiceError('shutting-down', 'The service is stopping; try again soon.'));
    if (this.waiting.length >= this.options.queueMax) this.dropAborted();
    if (this.waiting.length >= this.options.queueMax) {
      this.options.observe.refused();
      const detail = `${this.options.queueMax} searches are waiting already; try again in a second.`;
      return Promise.reject(new ServiceError('overloaded', detail, { retryAfterSeconds: RETRY_AFTER_SECONDS }));
    }
    return new Promise((resolve, reject) => {
      this.waiting.push({ task, signal, resolve, reject });
      if (this.flushScheduled) return;
      this.flushScheduled = true;
      // After the sockets of this turn were read, so that what arrived together goes together.
      setImmediate(() => {
        this.flushScheduled = false;
        this.flush();
      });
    });
  }

  /** Takes no more searches; resolves when those it has are settled. */
  async close(): Promise<void> {
    this.closed = true;
    if (this.waiting.length === 0 && this.inFlight === 0) return;
    await new Promise<void>((resolve) => {
      this.idle = resolve;
    });
  }

  private flush(): void {
    this.dropAborted();
    while (this.waiting.length > 0 && this.inFlight < this.options.inFlightMax) {
      const size = this.batchSize();
      const batch = this.waiting.slice(0, size);
      this.waiting = this.waiting.slice(size);
      void this.send(batch);
    }
    if (this.closed && this.waiting.length === 0 && this.inFlight === 0) this.idle?.();
  }

  /**
   * An equal share for each worker that has nothing to do, in two batches where it is large, so that the worker goes on with
   * the second while this thread sends the answers of the first.
   */
  private batchSize(): number {
    const { workers, inFlightMax, batchMax } = this.options;
    const share = Math.ceil(this.waiting.length / Math.max(1, workers - this.inFlight));
    const smaller = Math.ceil(this.waiting.length / (inFlightMax - this.inFlight));
    return Math.min(batchMax, share, Math.max(smaller, SPLIT_BATCH_MIN));
  }

  private async send(batch: readonly Waiting[]): Promise<void> {
    this.inFlight += 1;
    this.options.observe.batch(batch.length);
    try {
      const answer = await this.options.run(batch.map(({ task }) => task));
      const replies = readBatchAnswer(answer, batch.length);
      for (const [index, waiting] of batch.entries()) this.settle(waiting, replies[index] as SearchReply);
    } catch (error) {
      const failure = this.options.observe.lost(error, batch.length);
      for (const { reject } of batch) reject(failure);
    } finally {
      this.inFlight -= 1;
      this.flush();
    }
  }

  private settle({ task, resolve, reject }: Waiting, reply: SearchReply): void {
    if (reply.ok) {
      this.options.observe.answered(task, reply.value.workerMs);
      resolve(reply.value);
      return;
    }
    if (reply.postponed !== undefined) {
      reject(new PostponedAnswer(reply.postponed));
      return;
    }
    if (reply.bug !== undefined) this.options.observe.bug(reply.bug, task);
    reject(deserialiseError(reply.error));
  }

  private dropAborted(): void {
    if (!this.waiting.some(({ signal }) => signal.aborted)) return;
    this.waiting = this.waiting.filter(({ signal, reject }) => {
      if (signal.aborted) reject(signal.reason);
      return !signal.aborted;
    });
  }
}
