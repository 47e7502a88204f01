/**
 * Gathers the searches of one turn of the event loop and dispatches them in batches: waking a thread costs several
 * times as much as a cheap search, so it is woken once for many.
 *
 * A search that takes longer than a slice comes back unfinished and runs again in the lane of expensive searches, whose
 * threads are separate: however many there are, cheap searches wait for their slices and not for all of their time
 * (docs/decisions/0058). Accounts take turns in both lanes. A batch ends with its slice: what it has not begun comes
 * back and goes before later searches, and accounts of which it has begun nothing are the next (docs/decisions/0341,
 * 0347).
 *
 * Invariants: at most `queueMax` searches wait; at most `inFlightMax` batches and `dearMax` expensive searches are in
 * flight; every search settles exactly once, even if its batch is lost, and not before its worker is done with it. A
 * search whose client leaves is dropped at once while it waits, and stopped while it runs. Main thread only.
 */
import { deserialiseError, ServiceError, type Cancellation, type SearchActivity } from '../platform/index.js';
import type { SearchAnswer } from '../search/index.js';
import { readBatchAnswer, type SearchReply, type Unfinished } from './batch-answer.js';
import { DearSearches } from './dear-searches.js';
import { FairQueue } from './fair-queue.js';
import type { LargeAnswers } from './large-answers.js';
import { PendingSearch } from './pending-search.js';
import type { SearchBatch, SearchPoolTask } from './search-messages.js';
import type { StopFlags } from './stop-flags.js';

export interface SearchBatcherOptions {
  /**
   * Runs a batch in a worker, and resolves with its answers (batch-answer.ts); rejects only if the whole batch is lost.
   */
  readonly run: (batch: SearchBatch) => Promise<ArrayBuffer>;
  /** Same as `run` for one expensive search, in a thread where it delays no other search. */
  readonly runDear: (batch: SearchBatch) => Promise<ArrayBuffer>;
  readonly workers: number;
  /** Limit of batches in flight: enough that no worker waits for the main thread between two. */
  readonly inFlightMax: number;
  readonly batchMax: number;
  /** Limit of expensive searches in flight. */
  readonly dearMax: number;
  readonly queueMax: number;
  /** From the call to the answer. */
  readonly deadlineMs: number;
  readonly flags: Pick<StopFlags, 'take' | 'raise' | 'giveBack'>;
  /** The clock that the workers use, too. */
  readonly nowMs: () => number;
  readonly answers: Pick<LargeAnswers, 'admit' | 'again'>;
  readonly observe: SearchBatcherObserver;
  readonly activity: Pick<SearchActivity, 'begin' | 'end'>;
}

export interface SearchBatcherObserver {
  refused(): void;
  batch(size: number): void;
  answered(task: SearchPoolTask, workerMs: number): void;
  unfinished(why: Unfinished): void;
  bug(stack: string, task: SearchPoolTask): void;
  /** The batch was lost with its worker; returns the error of its searches. */
  lost(error: unknown, size: number): ServiceError;
}

const RETRY_AFTER_SECONDS = 1;
/** Smaller batches are not split: waking the worker a second time would cost more than is gained. */
const SPLIT_BATCH_MIN = 4;
/** Processor time in milliseconds for which a search may delay others. */
export const SLICE_MS = 50;

export class SearchBatcher {
  private readonly waiting = new FairQueue<PendingSearch>(({ account }) => account);
  private readonly dearWaiting = new FairQueue<PendingSearch>(({ account }) => account);
  private inFlight = 0;
  private dearInFlight = 0;
  private flushScheduled = false;
  private closed = false;
  private idle: (() => void) | undefined;
  private deadlineTimer: NodeJS.Timeout | undefined;
  private readonly dear = new DearSearches();

  constructor(private readonly options: SearchBatcherOptions) {}

  /** Number of searches that no worker has yet. */
  get waitingCount(): number {
    return this.waiting.length + this.dearWaiting.length;
  }

  search(task: SearchPoolTask, signal: Cancellation, account: string): Promise<SearchAnswer> {
    if (this.closed)
      return Promise.reject(new ServiceError('shutting-down', 'The service is stopping; try again soon.'));
    if (this.waitingCount >= this.options.queueMax) {
      this.options.observe.refused();
      const tooMany = this.oneTooMany(account);
      if (tooMany === undefined) return Promise.reject(this.overloaded());
      this.dropWaiting(tooMany);
      this.fail(tooMany, this.overloaded());
    }
    const search = new PendingSearch({ task, signal, account }, this);
    if (signal.aborted) {
      search.fail(signal.reason);
      return search.answer;
    }
    search.isDear = this.dear.has(search);
    search.deadlineMs = this.options.nowMs() + this.options.deadlineMs;
    this.enqueue(search);
    return search.answer;
  }

  /**
   * Returns the search of a full queue that gives way to this account: the last one of the account with most, if that
   * has at least two more. Otherwise undefined.
   */
  private oneTooMany(account: string): PendingSearch | undefined {
    const counts = new Map<string, number>();
    for (const queue of [this.waiting, this.dearWaiting])
      for (const [owner, count] of queue.counts()) counts.set(owner, (counts.get(owner) ?? 0) + count);
    let most = account;
    for (const [owner, count] of counts) if (count > (counts.get(most) ?? 0)) most = owner;
    // With a smaller difference, the two accounts would only change places.
    if ((counts.get(most) ?? 0) <= (counts.get(account) ?? 0) + 1) return undefined;
    return this.waiting.lastOf(most) ?? this.dearWaiting.lastOf(most);
  }

  private overloaded(): ServiceError {
    const detail = `${this.options.queueMax} searches are already waiting; try again in a second.`;
    return new ServiceError('overloaded', detail, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }

  /** Accepts no more searches; resolves when those accepted are settled. */
  async close(): Promise<void> {
    this.closed = true;
    if (this.isIdle) return;
    await new Promise<void>((resolve) => {
      this.idle = resolve;
    });
  }

  private get isIdle(): boolean {
    return this.waitingCount === 0 && this.inFlight === 0 && this.dearInFlight === 0;
  }

  private enqueue(search: PendingSearch): void {
    this.queueOf(search).push(search);
    this.watchDeadlines();
    if (this.flushScheduled) return;
    this.flushScheduled = true;
    // After the sockets of this turn were read, so that searches that arrived together go together.
    setImmediate(() => {
      this.flushScheduled = false;
      this.flush();
    });
  }

  private queueOf({ isDear }: PendingSearch): FairQueue<PendingSearch> {
    return isDear ? this.dearWaiting : this.waiting;
  }

  private flush(): void {
    const { inFlightMax, dearMax } = this.options;
    while (this.waiting.length > 0 && this.inFlight < inFlightMax) {
      const batch = this.waiting.take(this.batchSize());
      this.inFlight += 1;
      this.options.observe.batch(batch.length);
      void this.send(batch, SLICE_MS);
    }
    while (this.dearWaiting.length > 0 && this.dearInFlight < dearMax) {
      this.dearInFlight += 1;
      void this.send(this.dearWaiting.take(1), Infinity);
    }
    if (this.closed && this.isIdle) this.idle?.();
  }

  /**
   * Returns an equal share for each idle worker, as two batches if it is large, so that the worker continues with the
   * second while this thread sends the answers of the first.
   */
  private batchSize(): number {
    const { workers, inFlightMax, batchMax } = this.options;
    const share = Math.ceil(this.waiting.length / Math.max(1, workers - this.inFlight));
    const smaller = Math.ceil(this.waiting.length / (inFlightMax - this.inFlight));
    return Math.min(batchMax, share, Math.max(smaller, SPLIT_BATCH_MIN));
  }

  private async send(searches: readonly PendingSearch[], sliceMs: number): Promise<void> {
    const { run, runDear, observe, activity } = this.options;
    const isDear = sliceMs === Infinity;
    activity.begin();
    try {
      const batch = this.batchOf(searches, sliceMs);
      const answer = await (isDear ? runDear(batch) : run(batch));
      const replies = readBatchAnswer(answer, searches.length);
      for (const [index, search] of searches.entries()) this.settle(search, replies[index] as SearchReply);
      this.giveTurnsBack(searches, replies);
    } catch (error) {
      const failure = error instanceof ServiceError ? error : observe.lost(error, searches.length);
      for (const search of searches) this.fail(search, failure);
    }
    activity.end();
    if (isDear) this.dearInFlight -= 1;
    else this.inFlight -= 1;
    this.flush();
  }

  private batchOf(searches: readonly PendingSearch[], sliceMs: number): SearchBatch {
    const tasks: SearchPoolTask[] = [];
    const stops: number[] = [];
    for (const search of searches) {
      search.flag = this.options.flags.take();
      tasks.push(search.task);
      stops.push(search.flag, search.deadlineMs);
    }
    return { kind: 'batch', tasks, stops, sliceMs };
  }

  private settle(search: PendingSearch, reply: SearchReply): void {
    const { task } = search;
    if (reply.ok) {
      const { workerMs } = reply.value;
      if (search.isDear && workerMs < SLICE_MS) this.dear.forget(search);
      this.options.observe.answered(task, workerMs);
      this.succeed(search, reply.value);
    } else if ('unfinished' in reply) {
      this.settleUnfinished(search, reply.unfinished);
    } else if (reply.postponed !== undefined) {
      this.giveFlagBack(search);
      search.succeed(this.options.answers.again(search, reply.postponed, this));
    } else {
      if (reply.bug !== undefined) this.options.observe.bug(reply.bug, task);
      this.fail(search, deserialiseError(reply.error));
    }
  }

  private settleUnfinished(search: PendingSearch, why: Unfinished): void {
    if (search.signal.aborted) {
      this.options.observe.unfinished('stopped');
      this.fail(search, search.signal.reason);
      return;
    }
    if (why !== 'unbegun') this.options.observe.unfinished(why);
    if (why === 'slice') {
      this.dear.note(search);
      this.giveFlagBack(search);
      search.isDear = true;
      // It may barely be expensive, and goes before those known to be; searches that were moved keep their order.
      search.wasMoved = true;
      this.dearWaiting.insert(search, ({ wasMoved }) => !wasMoved);
      this.watchDeadlines();
    } else if (why === 'unbegun') {
      this.giveFlagBack(search);
      // Goes before later searches, and behind earlier ones that came back.
      search.wasMoved = true;
      this.waiting.insert(search, ({ wasMoved }) => !wasMoved);
      this.watchDeadlines();
    } else {
      this.fail(search, this.pastDeadline());
    }
  }

  /**
   * Makes the accounts first of which the batch had no time to begin any search: otherwise an account that sends one
   * long search after the other would take all turns.
   */
  private giveTurnsBack(searches: readonly PendingSearch[], replies: readonly SearchReply[]): void {
    // Searches that were not begun are at the end of their batch.
    if (!isUnbegun(replies.at(-1))) return;
    const served = new Set<string>();
    const unserved = new Set<string>();
    for (const [index, { account }] of searches.entries()) {
      if (!isUnbegun(replies[index])) served.add(account);
      else if (!served.has(account)) unserved.add(account);
    }
    if (unserved.size > 0) this.waiting.putFirst(unserved);
  }

  private pastDeadline(): ServiceError {
    const { deadlineMs } = this.options;
    const detail = `The search was not complete after ${deadlineMs} ms (search.deadline_ms). Request fewer facets, or narrow it with a filter.`;
    return new ServiceError('deadline', detail);
  }

  /** The client left. */
  abort(search: PendingSearch): void {
    if (search.flag !== undefined) {
      this.options.flags.raise(search.flag);
      return;
    }
    this.dropWaiting(search);
    this.options.observe.unfinished('stopped');
    this.fail(search, search.signal.reason);
    if (this.closed && this.isIdle) this.idle?.();
  }

  private dropWaiting(search: PendingSearch): void {
    this.queueOf(search).remove(search);
  }

  private succeed(search: PendingSearch, answer: SearchAnswer): void {
    this.giveFlagBack(search);
    try {
      // A search that was repeated for its length already has room.
      const isLong = search.task.answerBytesMax !== undefined;
      search.succeed(isLong ? answer : this.options.answers.admit(answer));
    } catch (error) {
      search.fail(error);
    }
  }

  private fail(search: PendingSearch, error: unknown): void {
    this.giveFlagBack(search);
    search.fail(error);
  }

  private giveFlagBack(search: PendingSearch): void {
    if (search.flag === undefined) return;
    this.options.flags.giveBack(search.flag, search.signal.aborted);
    search.flag = undefined;
  }

  /** Sets the one timer for the earliest deadline of the waiting searches. Running ones check the clock themselves. */
  private watchDeadlines(): void {
    if (this.deadlineTimer !== undefined) return;
    if (this.waitingCount === 0) return;
    // Searches moved to the lane of expensive ones may wait behind younger ones.
    let first = Infinity;
    for (const { deadlineMs } of this.waiting) first = Math.min(first, deadlineMs);
    for (const { deadlineMs } of this.dearWaiting) first = Math.min(first, deadlineMs);
    this.deadlineTimer = setTimeout(() => {
      this.deadlineTimer = undefined;
      this.dropLate();
      this.watchDeadlines();
    }, first - this.options.nowMs());
    this.deadlineTimer.unref();
  }

  private dropLate(): void {
    const now = this.options.nowMs();
    for (const search of [...this.waiting, ...this.dearWaiting]) {
      if (search.deadlineMs > now) continue;
      this.dropWaiting(search);
      this.options.observe.unfinished('deadline');
      this.fail(search, this.pastDeadline());
    }
    if (this.closed && this.isIdle) this.idle?.();
  }
}

function isUnbegun(reply: SearchReply | undefined): boolean {
  return reply !== undefined && 'unfinished' in reply && reply.unfinished === 'unbegun';
}
