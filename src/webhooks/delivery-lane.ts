/**
 * The deliveries of one subscription: which are tried now, which wait, and when the next is due.
 *
 * Invariants: a delivery that the lane holds is in the schedule on disk until its outcome is; deliveries of one subject are
 * tried one after the other, in the order of their events, as long as the first of them is being tried or waits a short
 * while to be tried again; what waits longer is on disk alone and lets the others pass. Memory holds at most `HELD_MAX`
 * deliveries. A receiver that fails again and again is tried with one delivery at a time and pauses in between, so that a
 * dead one costs little and its deliveries do not use up their attempts; its first success ends that.
 *
 * One thread only.
 */
import { setMaxListeners } from 'node:events';
import type { ConnectionSlots } from './connection-slots.js';
import type { DeliveryQueue, Scheduled, Settlement } from './delivery-queue.js';
import type { Sender } from './http-sender.js';
import type { RetrySchedule } from './retry-schedule.js';
import { deliveryHeaders, secretsInForce } from './signature.js';
import type { AttemptResult, Delivery, Subscription, Timers } from './types.js';

const HELD_MAX = 1000;
const READ_AT_ONCE = 250;
/** Failures in a row from which on a receiver is taken to be down. */
const FAILURES_UNTIL_DOWN = 5;
const PAUSE_MS_FIRST = 100;
const PAUSE_MS_MAX = 5000;
/** The longest wait that a timer takes; waking without need does no harm. */
const TIMER_MS_MAX = 2 ** 31 - 1;

const SECRET_UNREADABLE: AttemptResult = {
  ok: false,
  status: null,
  error: 'not sent: the key that its secret was sealed with is not there; give it a new secret',
  durationMs: 0,
  answer: '',
};

export interface LaneOptions {
  readonly queue: DeliveryQueue;
  readonly sender: Sender;
  readonly timers: Timers;
  readonly slots: ConnectionSlots;
  readonly schedule: RetrySchedule;
  /** Puts the outcome on disk some time soon, then calls `onSettled`. */
  readonly settle: (settlement: Settlement, onSettled: () => void) => void;
}

type TimedResult = AttemptResult & { readonly atMs: number };

/** A delivery in memory, without its body. */
interface Held {
  scheduled: Scheduled;
}

export class DeliveryLane {
  private origin: string;
  /** By number: everything that is in memory, until its outcome is on disk. */
  private readonly held = new Map<number, Held>();
  /** To be tried as soon as there is a slot, in order. */
  private ready: Held[] = [];
  /** The first of each subject is ready, under way or about to be tried again; the others wait for it. */
  private readonly subjects = new Map<string, Held[]>();
  private cursor: Scheduled | undefined;
  private underWay = 0;
  private failuresInRow = 0;
  private pausedUntilMs = 0;
  private timer: { readonly dueMs: number; readonly cancel: () => void } | undefined;
  private readonly retries = new Set<() => void>();
  private readonly abort = new AbortController();
  private stopped = false;
  private onIdle: (() => void) | undefined;

  constructor(
    private subscription: Subscription,
    private readonly options: LaneOptions,
  ) {
    this.origin = new URL(subscription.url).origin;
    // Each attempt that is under way listens to it, and their number is bounded by the slots.
    setMaxListeners(0, this.abort.signal);
  }

  update(subscription: Subscription): void {
    // Somebody has changed something: what held for the old URL need not hold any more.
    if (subscription.url !== this.subscription.url) this.pausedUntilMs = this.failuresInRow = 0;
    this.subscription = subscription;
    this.origin = new URL(subscription.url).origin;
    this.wake();
  }

  /** Tries what is due and can be tried. To be called whenever that may have changed. */
  readonly wake = (): void => {
    const { timers } = this.options;
    while (!this.stopped) {
      if (this.isDown && (this.underWay > 0 || timers.nowMs() < this.pausedUntilMs)) break;
      const next = this.nextReady();
      if (next === undefined || !this.options.slots.take(this.origin, this.wake)) break;
      this.ready.shift();
      void this.attempt(next, this.origin);
    }
    this.awaitNext();
  };

  /** No more attempts; resolves when none is under way. Those that are after `graceMs` are broken off and count for nothing. */
  async stop(graceMs: number): Promise<void> {
    this.stopped = true;
    this.timer?.cancel();
    for (const cancel of this.retries) cancel();
    if (this.underWay === 0) return;
    const timer = setTimeout(() => {
      this.abort.abort(new Error('stopped'));
    }, graceMs);
    await new Promise<void>((resolve) => {
      this.onIdle = resolve;
    });
    clearTimeout(timer);
  }

  private get isDown(): boolean {
    return this.failuresInRow >= FAILURES_UNTIL_DOWN;
  }

  private nextReady(): Held | undefined {
    while (this.ready.length === 0 && this.held.size < HELD_MAX) if (!this.readMore()) break;
    return this.ready[0];
  }

  /** False where nothing more is due. */
  private readMore(): boolean {
    const { queue, timers } = this.options;
    // Without anything in memory the schedule is read from its beginning, where clocks that went back may have put something.
    if (this.held.size === 0) this.cursor = undefined;
    const due = queue.due(this.subscription.id, this.cursor, timers.nowMs(), READ_AT_ONCE);
    this.cursor = due.at(-1) ?? this.cursor;
    for (const scheduled of due) if (!this.held.has(scheduled.number)) this.hold({ scheduled });
    return due.length > 0;
  }

  private hold(held: Held): void {
    const { number, subject } = held.scheduled;
    this.held.set(number, held);
    const line = this.subjects.get(subject);
    if (line !== undefined) {
      line.push(held);
      return;
    }
    this.subjects.set(subject, [held]);
    this.ready.push(held);
  }

  private async attempt(held: Held, origin: string): Promise<void> {
    const { queue, timers, slots } = this.options;
    const delivery = queue.delivery(this.subscription.id, held.scheduled.number);
    this.underWay += 1;
    const atMs = timers.nowMs();
    // Without one, it was forgotten meanwhile with its subscription.
    if (delivery === undefined) {
      this.letOthersPass(held.scheduled.subject);
    } else {
      const result = await this.send(delivery, atMs);
      if (!this.abort.signal.aborted) this.conclude(held, delivery, { ...result, atMs });
    }
    this.underWay -= 1;
    slots.release(origin);
    if (this.underWay === 0) this.onIdle?.();
    this.wake();
  }

  /** Without a secret nothing is sent: an unsigned message is none. */
  private async send(delivery: Delivery, atMs: number): Promise<AttemptResult> {
    const secrets = secretsInForce(this.subscription, atMs);
    if (secrets.length === 0) return SECRET_UNREADABLE;
    const headers = deliveryHeaders(delivery, secrets, atMs);
    const request = { url: this.subscription.url, headers, body: delivery.event.body };
    return this.options.sender.send(request, this.abort.signal);
  }

  private conclude(held: Held, delivery: Delivery, result: TimedResult): void {
    const { timers, schedule } = this.options;
    const attempts = held.scheduled.attempts + 1;
    this.noteHealth(result.ok);
    if (result.ok) {
      this.finish(held, delivery, result, { kind: 'delivered' });
      return;
    }
    const next = schedule.after(attempts);
    if (next === undefined) {
      this.finish(held, delivery, result, { kind: 'set-aside', row: this.setAsideRow(delivery, result, attempts) });
      return;
    }
    const dueMs = timers.nowMs() + next.waitMs;
    const outcome = { kind: 'retried', dueMs, attempts } as const;
    if (!next.isSoon) {
      this.finish(held, delivery, result, outcome);
      this.setTimer(dueMs);
      return;
    }
    this.options.settle(settlement(held, delivery, result, outcome), () => undefined);
    held.scheduled = { ...held.scheduled, dueMs, attempts };
    // It is in the schedule on disk; a timer would only keep the thread alive.
    if (this.stopped) return;
    const cancel = timers.after(next.waitMs, () => {
      this.retries.delete(cancel);
      this.ready.unshift(held);
      this.wake();
    });
    this.retries.add(cancel);
  }

  /** Lets go of a delivery that is not tried again soon. */
  private finish(held: Held, delivery: Delivery, result: TimedResult, next: Settlement['next']): void {
    const { number, subject } = held.scheduled;
    this.letOthersPass(subject);
    this.options.settle(settlement(held, delivery, result, next), () => {
      this.held.delete(number);
      this.wake();
    });
  }

  private noteHealth(ok: boolean): void {
    this.failuresInRow = ok ? 0 : this.failuresInRow + 1;
    const beyond = this.failuresInRow - FAILURES_UNTIL_DOWN;
    const pauseMs = beyond < 0 ? 0 : Math.min(PAUSE_MS_MAX, PAUSE_MS_FIRST * 2 ** beyond);
    this.pausedUntilMs = ok ? 0 : this.options.timers.nowMs() + pauseMs;
  }

  private setAsideRow({ id: deliveryId, event }: Delivery, { status, error }: AttemptResult, attempts: number) {
    const setAsideAtMs = this.options.timers.nowMs();
    return { deliveryId, type: event.type, attempts, eventAtMs: event.atMs, setAsideAtMs, status, error };
  }

  /** The first of the subject's line is done for now; the next one may go. */
  private letOthersPass(subject: string): void {
    const line = this.subjects.get(subject);
    line?.shift();
    const [next] = line ?? [];
    if (next === undefined) this.subjects.delete(subject);
    else this.ready.push(next);
  }

  /** Sees to it that the lane wakes when the next delivery on disk is due, or when a pause ends. */
  private awaitNext(): void {
    if (this.stopped) return;
    const nowMs = this.options.timers.nowMs();
    if (this.isDown && nowMs < this.pausedUntilMs) {
      this.setTimer(this.pausedUntilMs);
    } else if (this.timer === undefined) {
      const dueMs = this.options.queue.nextDueMs(this.subscription.id, nowMs);
      if (dueMs !== undefined) this.setTimer(dueMs);
    }
  }

  /** One timer serves all: it is set to the earliest of what it is asked for, and asks again when it fires. */
  private setTimer(dueMs: number): void {
    if (this.stopped || (this.timer !== undefined && this.timer.dueMs <= dueMs)) return;
    this.timer?.cancel();
    const { timers } = this.options;
    const waitMs = Math.min(Math.max(dueMs - timers.nowMs(), 1), TIMER_MS_MAX);
    const cancel = timers.after(waitMs, () => {
      this.timer = undefined;
      this.wake();
    });
    this.timer = { dueMs, cancel };
  }
}

function settlement(held: Held, delivery: Delivery, result: TimedResult, next: Settlement['next']): Settlement {
  const { scheduled } = held;
  const attempt = scheduled.attempts + 1;
  const log = { ...result, deliveryId: delivery.id, type: delivery.event.type, attempt, outcome: next.kind };
  return { scheduled, log, next };
}
