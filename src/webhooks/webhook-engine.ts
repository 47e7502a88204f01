/**
 * The delivery engine: moves events in, has a lane for each subscription, writes outcomes, and answers questions about
 * them. It owns `data/queue`. Lives in the webhook worker's thread (or in a test) only.
 */
import { uuidv7, type NumberedEvent, type OutboxEvent, type OutboxSource } from '../platform/index.js';
import {
  OutboxRelay,
  WorkRunner,
  type BecameOfWork,
  type NewWork,
  type Settlement,
  type Timers,
} from '../platform/work/index.js';
import { deliveryId } from './delivery-id.js';
import type { LogPage } from './delivery-log.js';
import { DeliveryQueue } from './delivery-queue.js';
import { deliverySchedule, type DeliveryItem, type DeliveryTypes } from './delivery-work.js';
import type { Sender } from './http-sender.js';
import { MadeBefore } from './made-before.js';
import { OutboxSources } from './outbox-sources.js';
import { pingEvent } from './ping.js';
import { SubscriptionWorker } from './subscription-worker.js';
import { SubscriptionsByAccount } from './subscriptions-by-account.js';
import { isSent, type SetAsideDelivery, type Subscription, type WebhookSettings } from './types.js';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** Time that attempts in progress get at a stop. */
const STOP_GRACE_MS = 2000;

export interface EngineListener {
  /** Rows of the source up to `lastRow` are in the queue. */
  moved(sourceId: string, lastRow: number): void;
  /** Outcomes were written: their numbers, the attempts per subscription, and the deliveries that the queue has now. */
  settled(counts: SettledCounts, queued: number): void;
  /** `isNews` is false if this failure was reported recently. */
  failed(message: string, error: unknown, isNews?: boolean): void;
}

/** A lasting failure is reported at its first, second, fourth, eighth … occurrence. */
const isNews = (count: number) => Number.isInteger(Math.log2(count));

export interface SettledCounts {
  readonly outcomes: Readonly<Record<BecameOfWork, number>>;
  /** Number of attempts by subscription id. */
  readonly attempts: ReadonlyMap<string, number>;
}

export interface EngineOptions {
  readonly queuePath: string;
  readonly settings: WebhookSettings;
  readonly timers: Timers;
  /** False: nothing is sent; everything waits in the queue. */
  readonly deliver: boolean;
  readonly listener: EngineListener;
  /** Closed with the engine. */
  readonly sender: Sender;
  readonly random?: () => number;
}

export interface SetAsidePage {
  readonly total: number;
  readonly deliveries: readonly SetAsideDelivery[];
  /** Value of `after` for the next page; undefined on the last. */
  readonly next: number | undefined;
}

export class WebhookEngine {
  private readonly queue: DeliveryQueue;
  private readonly sender: Sender;
  private readonly relay: OutboxRelay<OutboxSource, OutboxEvent, NewWork<DeliveryItem>>;
  private readonly runner: WorkRunner<DeliveryTypes>;
  private readonly workers = new Map<string, SubscriptionWorker>();
  private readonly subscriptions = new SubscriptionsByAccount();
  private readonly madeBefore = new MadeBefore();
  /** Ids of subscriptions that are being removed. */
  private readonly forgetting = new Set<string>();
  private cancelTrim: () => void;

  constructor(private readonly options: EngineOptions) {
    const { settings, timers, listener } = options;
    this.queue = new DeliveryQueue(options.queuePath);
    this.sender = options.sender;
    this.runner = new WorkRunner({
      queue: this.queue.work,
      timers,
      schedule: deliverySchedule(settings, options.random),
      perReceiverMax: settings.connections_per_receiver,
      totalMax: settings.connections_max,
      writing: 'gathered',
      write: (settlements) => this.writeDown(settlements),
      onWriteFailure: (error) => {
        listener.failed('Outcomes of deliveries could not be written; trying again', error);
      },
    });
    this.relay = this.createRelay();
    this.cancelTrim = timers.after(HOUR_MS, () => this.trimLogs());
  }

  /** Adds or changes a subscription. */
  put(subscription: Subscription): void {
    this.subscriptions.put(subscription);
    const worker = this.workers.get(subscription.id);
    if (worker !== undefined) this.update(worker, subscription);
    else if (this.options.deliver) this.addLane(subscription);
  }

  /**
   * Removes deleted subscriptions; everything of them is gone when this resolves. What the queue has for other unknown
   * subscriptions stays, since the catalogue may be an older copy.
   */
  async remove(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      this.subscriptions.delete(id);
      this.madeBefore.forget(id);
    }
    const gone = ids.filter((id) => (this.workers.has(id) || this.queue.has(id)) && !this.forgetting.has(id));
    await Promise.all(gone.map((id) => this.forget(id)));
  }

  wake(source: OutboxSource): void {
    this.relay.wake(source);
  }

  /** Resolves when every row of the source is in the queue and nothing of the source is open. */
  drain(source: OutboxSource): Promise<void> {
    return this.relay.drain(source);
  }

  /**
   * Queues a `webhook.ping` for this subscription only; resolves with the delivery's id, or undefined if the
   * subscription is unknown.
   */
  async ping(subscriptionId: string): Promise<string | undefined> {
    const subscription = this.subscriptions.get(subscriptionId);
    if (subscription === undefined) return undefined;
    const nowMs = this.options.timers.nowMs();
    const id = uuidv7(nowMs);
    await this.queue.add({ lane: subscriptionId, item: { id, event: pingEvent(subscription, nowMs) } }, nowMs);
    this.runner.wake(subscriptionId);
    return id;
  }

  attempts(subscriptionId: string, before: number | undefined, size: number): LogPage {
    return this.queue.log.page(subscriptionId, before, size);
  }

  setAside(subscriptionId: string, after: number, size: number): SetAsidePage {
    const page = this.queue.work.setAsidePage(subscriptionId, after, size);
    const last = page.length === size ? page.at(-1)?.number : undefined;
    const total = this.queue.work.setAsideCount(subscriptionId);
    return { total, deliveries: page.map(({ failure }) => failure), next: last };
  }

  /** Returns the first delivery that was set aside for each of these subscriptions that has one. */
  firstSetAside(subscriptionIds: readonly string[]): (readonly [subscriptionId: string, first: SetAsideDelivery])[] {
    return subscriptionIds.flatMap((id) =>
      this.queue.work.setAsidePage(id, 0, 1).map(({ failure }) => [id, failure] as const),
    );
  }

  /**
   * Resolves with the number of deliveries that are due again. Those of events that the webhook does not subscribe to
   * stay set aside.
   */
  async replay(subscriptionId: string, deliveryIds: readonly string[] | undefined): Promise<number> {
    const ids = deliveryIds === undefined ? undefined : new Set(deliveryIds);
    const subscription = this.subscriptions.get(subscriptionId);
    const isMeant = ({ deliveryId: id, type }: SetAsideDelivery) =>
      (ids?.has(id) ?? true) && (subscription === undefined || isSent(subscription, type));
    const replayed = await this.queue.replay(subscriptionId, isMeant, this.options.timers.nowMs());
    this.runner.wake(subscriptionId);
    return replayed;
  }

  /** Number of deliveries that wait, are in progress or set aside. */
  get queued(): number {
    return this.queue.work.size;
  }

  /** Resolves when the outcomes of all attempts so far are on disk. */
  flushed(): Promise<void> {
    return this.runner.flushed();
  }

  /** Ends attempts soon, writes their outcomes, and closes everything. */
  async close(): Promise<void> {
    this.cancelTrim();
    await Promise.all([this.relay.close(), this.runner.close(STOP_GRACE_MS)]);
    await this.sender.close();
    await this.queue.close();
  }

  /** Closes the queue regardless of work in progress. */
  async abandon(): Promise<void> {
    await this.queue.close().catch(() => undefined);
  }

  private createRelay(): OutboxRelay<OutboxSource, OutboxEvent, NewWork<DeliveryItem>> {
    const { timers, listener } = this.options;
    const { queue } = this;
    return new OutboxRelay({
      queue: {
        mark: (sourceId) => queue.mark(sourceId),
        moveIn: (sourceId, lastRow, deliveries) => queue.moveIn(sourceId, lastRow, deliveries, timers.nowMs()),
        dropMark: (sourceId) => queue.dropMark(sourceId),
      },
      sources: new OutboxSources(),
      timers,
      movedFrom: (source, row) => this.deliveriesOf(source, row),
      bytesOf: ({ body }) => body.length,
      onMoved: (source, lastRow, deliveries) => {
        listener.moved(source.id, lastRow);
        for (const lane of new Set(deliveries.map((each) => each.lane))) this.runner.wake(lane);
      },
      onFailure: (source, error, count) => {
        const told = `Events of ${source.id} could not be moved into the queue; trying again`;
        listener.failed(count === 1 ? told : `${told} (time ${count})`, error, isNews(count));
      },
    });
  }

  private addLane(subscription: Subscription): void {
    const worker = new SubscriptionWorker(subscription, { sender: this.sender, timers: this.options.timers });
    this.workers.set(subscription.id, worker);
    this.runner.add(subscription.id, worker);
  }

  private update(worker: SubscriptionWorker, subscription: Subscription): void {
    // The health of the old URL's receiver says nothing about the new one.
    if (worker.subscription.url !== subscription.url) this.runner.forgive(subscription.id);
    worker.subscription = subscription;
    this.runner.wake(subscription.id);
  }

  private async forget(subscriptionId: string): Promise<void> {
    this.workers.delete(subscriptionId);
    this.forgetting.add(subscriptionId);
    try {
      await this.runner.remove(subscriptionId);
      await this.queue.forget(subscriptionId);
    } finally {
      this.forgetting.delete(subscriptionId);
    }
  }

  /**
   * Returns the deliveries of an event: one for each subscription that exists when the event is moved, except those
   * created after the event.
   */
  private deliveriesOf(source: OutboxSource, { row, content: event }: NumberedEvent): NewWork<DeliveryItem>[] {
    const nowMs = this.options.timers.nowMs();
    return this.subscribers(event.account, event.type)
      .filter((each) => this.madeBefore.isTold(each, event.atMs, nowMs))
      .map(({ id }) => ({ lane: id, item: { id: deliveryId(source.id, { row, atMs: event.atMs }, id), event } }));
  }

  private subscribers(account: string, type: string): readonly Subscription[] {
    return Array.from(this.subscriptions.of(account)).filter((each) => each.events.includes(type));
  }

  private async writeDown(settlements: readonly Settlement<DeliveryTypes>[]): Promise<void> {
    await this.queue.settle(settlements);
    const outcomes = { done: 0, retried: 0, 'set-aside': 0 };
    const attempts = new Map<string, number>();
    for (const { next, scheduled, note } of settlements) {
      if (note === null) continue;
      outcomes[next.kind] += 1;
      attempts.set(scheduled.lane, (attempts.get(scheduled.lane) ?? 0) + 1);
    }
    this.options.listener.settled({ outcomes, attempts }, this.queue.work.size);
  }

  private trimLogs(): void {
    const { timers, settings, listener } = this.options;
    const oldestMs = timers.nowMs() - settings.log_days * DAY_MS;
    const trimmed = this.queue.log
      .subscriptions()
      .map((id) => this.queue.log.trim(id, oldestMs, settings.log_entries_max));
    Promise.all(trimmed).catch((error: unknown) => {
      listener.failed('The delivery log could not be trimmed', error);
    });
    this.cancelTrim = timers.after(HOUR_MS, () => this.trimLogs());
  }
}
