/**
 * Records events on the main thread at minimal cost, and sends them to the analytics worker once per flush.
 *
 * Events are written to one buffer, which stays; a flush copies its content and sends it. While the worker cannot take
 * batches (slow or full storage, a dead worker), sealed batches wait here and are sent again, with at most
 * `bufferBytesMax` bytes in all; further events are dropped and counted. Only reports and a stop ever wait for
 * analytics.
 *
 * A crash loses what was recorded within `flushMs` and the time of one append. Main thread only.
 */
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Clock, Metrics } from '../platform/index.js';
import { BATCH_TARGETS_MAX, BATCH_TARGET_BYTES, type EventBatch } from './event-batch.js';
import {
  clickEventRoom,
  searchEventRoom,
  writeClickEvent,
  writeSearchEvent,
  type ClickEvent,
  type SearchEvent,
} from './event-codec.js';
import type { AnalyticsTarget } from './targets.js';
import type { AnalyticsExecutor, AppendOutcome } from './tasks.js';

/** A buffer is sealed when it is full, before the next flush. */
const BUFFER_BYTES = 256 * 1024;
const RETRY_MS_MIN = 1000;
const RETRY_MS_MAX = 10_000;
/** Time after which a batch that cannot be appended is dropped. */
const GIVE_UP_MS = 10 * 60_000;

export interface AnalyticsRecorderOptions {
  readonly executor: AnalyticsExecutor;
  readonly flushMs: number;
  readonly bufferBytesMax: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'analyticsEvents' | 'analyticsEventsDropped' | 'analyticsBufferBytes'>;
  /** Called after each append. */
  readonly onAppended: (outcome: AppendOutcome) => void;
}

interface SealedBatch extends EventBatch {
  firstFailedMs: number | undefined;
}

interface Waiter {
  readonly number: number;
  readonly done: () => void;
}

export class AnalyticsRecorder {
  private readonly buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  private used = 0;
  private searches = 0;
  private clicks = 0;
  private readonly targets = new Map<string, number>();
  /** Target of the last event and its number in the batch, since the next event often has the same. */
  private lastTarget: AnalyticsTarget | undefined;
  private lastNumber = 0;
  private readonly session = randomUUID();
  private sealedNumber = 0;
  private sealedBytes = 0;
  private readonly sealed: SealedBatch[] = [];
  private isSending = false;
  private flushTimer: NodeJS.Timeout | undefined;
  private retryTimer: NodeJS.Timeout | undefined;
  private retryMs = RETRY_MS_MIN;
  private waiters: Waiter[] = [];
  private isLastTry = false;
  private isGivenUp = false;

  constructor(private readonly options: AnalyticsRecorderOptions) {}

  searched(target: AnalyticsTarget, event: SearchEvent): void {
    const at = this.begin(target, searchEventRoom(event));
    if (at === undefined) return;
    this.used = writeSearchEvent(this.buffer, at, event);
    this.searches += 1;
  }

  clicked(target: AnalyticsTarget, event: ClickEvent): void {
    const at = this.begin(target, clickEventRoom(event));
    if (at === undefined) return;
    this.used = writeClickEvent(this.buffer, at, event);
    this.clicks += 1;
  }

  /** Resolves when all that was recorded before is on disk or dropped. */
  flush(): Promise<void> {
    this.seal();
    this.send();
    const number = this.sealedNumber;
    if (this.sealed.length === 0) return Promise.resolve();
    return new Promise((done) => this.waiters.push({ number, done }));
  }

  /**
   * As `flush`, for a stop, which does not wait for a failing disk: resolves as soon as a batch could not be appended.
   */
  flushOnce(): Promise<void> {
    this.isLastTry = true;
    clearTimeout(this.retryTimer);
    this.retryTimer = undefined;
    return this.flush();
  }

  /** Stops retrying, and logs the lost events. */
  stop(): void {
    clearTimeout(this.flushTimer);
    clearTimeout(this.retryTimer);
    const lost = this.sealed.reduce((sum, { events }) => sum + events, this.searches + this.clicks);
    if (lost > 0) this.options.log.warn({ events: lost }, 'Could not write analytics events before the stop');
  }

  /** Returns where the event is to be written, after the number of its target; undefined if there is no room. */
  private begin(target: AnalyticsTarget, room: number): number | undefined {
    const needed = BATCH_TARGET_BYTES + room;
    if (this.used + needed > BUFFER_BYTES || this.targets.size >= BATCH_TARGETS_MAX) {
      this.seal();
      this.send();
    }
    if (this.sealedBytes + this.used + needed > this.options.bufferBytesMax || needed > BUFFER_BYTES) {
      this.options.metrics.analyticsEventsDropped.inc({ reason: 'buffer-full' });
      return undefined;
    }
    if (this.flushTimer === undefined) this.flushLater();
    const number = this.numberOf(target);
    const { buffer, used } = this;
    buffer[used] = number & 0xff;
    buffer[used + 1] = number >>> 8;
    return used + BATCH_TARGET_BYTES;
  }

  private flushLater(): void {
    this.flushTimer = setTimeout(() => void this.flush(), this.options.flushMs).unref();
  }

  private numberOf(target: AnalyticsTarget): number {
    if (target === this.lastTarget) return this.lastNumber;
    let number = this.targets.get(target.identity);
    if (number === undefined) this.targets.set(target.identity, (number = this.targets.size));
    this.lastTarget = target;
    this.lastNumber = number;
    return number;
  }

  /** Turns the events written so far into a batch that waits to be sent. */
  private seal(): void {
    clearTimeout(this.flushTimer);
    this.flushTimer = undefined;
    if (this.used === 0) return;
    const { metrics } = this.options;
    metrics.analyticsEvents.inc({ kind: 'search' }, this.searches);
    metrics.analyticsEvents.inc({ kind: 'click' }, this.clicks);
    this.sealedNumber += 1;
    this.sealed.push({
      session: this.session,
      number: this.sealedNumber,
      bytes: Uint8Array.prototype.slice.call(this.buffer, 0, this.used),
      events: this.searches + this.clicks,
      targets: [...this.targets.keys()],
      firstFailedMs: undefined,
    });
    this.sealedBytes += this.used;
    this.used = 0;
    this.searches = 0;
    this.clicks = 0;
    this.targets.clear();
    this.lastTarget = undefined;
    metrics.analyticsBufferBytes.set(this.sealedBytes);
  }

  /** Sends the oldest batch, unless one is being sent or waits for its retry. */
  private send(): void {
    if (this.isSending || this.isGivenUp || this.retryTimer !== undefined) return;
    const batch = this.sealed[0];
    if (batch === undefined) return;
    this.isSending = true;
    void this.append(batch).finally(() => {
      this.isSending = false;
      this.send();
    });
  }

  private async append(batch: SealedBatch): Promise<void> {
    const { executor, clock, log, metrics } = this.options;
    const { firstFailedMs, ...sent } = batch;
    try {
      const outcome = await executor.run({ kind: 'append', batch: sent, nowMs: clock.nowMs() });
      this.retryMs = RETRY_MS_MIN;
      this.settle(batch);
      this.options.onAppended(outcome);
    } catch (error) {
      const nowMs = performance.now();
      batch.firstFailedMs = firstFailedMs ?? nowMs;
      if (nowMs - batch.firstFailedMs >= GIVE_UP_MS) {
        metrics.analyticsEventsDropped.inc({ reason: 'storage' }, batch.events);
        log.error({ err: error, events: batch.events }, 'Lost analytics events: they could not be written');
        this.settle(batch);
        return;
      }
      if (firstFailedMs === undefined) {
        log.warn({ err: error, events: batch.events }, 'Cannot write analytics events yet');
      }
      if (this.isLastTry) this.answerAll();
      else this.retryLater();
    }
  }

  /** Resolves all waiters. The sealed batches stay, and `stop` counts them as lost. */
  private answerAll(): void {
    this.isGivenUp = true;
    for (const { done } of this.waiters.splice(0)) done();
  }

  private retryLater(): void {
    this.retryTimer = setTimeout(() => {
      this.retryTimer = undefined;
      this.send();
    }, this.retryMs).unref();
    this.retryMs = Math.min(RETRY_MS_MAX, this.retryMs * 2);
  }

  private settle(batch: SealedBatch): void {
    this.sealed.shift();
    this.sealedBytes -= batch.bytes.length;
    this.options.metrics.analyticsBufferBytes.set(this.sealedBytes);
    const isDone = ({ number }: Waiter) => number <= batch.number;
    for (const { done } of this.waiters.filter(isDone)) done();
    this.waiters = this.waiters.filter((waiter) => !isDone(waiter));
  }
}
