/**
 * Everything that delivers: moves events in, keeps a lane for each subscription, writes outcomes down, and answers questions
 * about what happened. It owns `data/queue`. Lives in the webhook worker's thread (or in a test), and only there.
 */
import { uuidv7, type EventType, type OutboxSource } from '../platform/index.js';
import { ConnectionSlots } from './connection-slots.js';
import { DeliveryLane } from './delivery-lane.js';
import type { LogPage } from './delivery-log.js';
import { DeliveryQueue, type Settlement } from './delivery-queue.js';
import type { Sender } from './http-sender.js';
import { pingEvent } from './ping.js';
import { OutboxMover } from './outbox-mover.js';
import { RetrySchedule } from './retry-schedule.js';
import { SettlementBuffer } from './settlement-buffer.js';
import type { NewDelivery, SetAsideDelivery, Subscription, Timers, WebhookSettings } from './types.js';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** At a stop, attempts that are under way get this long. */
const STOP_GRACE_MS = 2000;

export interface EngineListener {
  /** Rows of the source up to this one are in the queue. */
  moved(sourceId: string, lastRow: number): void;
  /** Outcomes that were written down, and how many deliveries the queue holds now. */
  settled(counts: Readonly<Record<Settlement['next']['kind'], number>>, queued: number): void;
  failed(message: string, error: unknown): void;
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
  /** For `after` of the next page; undefined on the last. */
  readonly next: number | undefined;
}

export class WebhookEngine {
  private readonly queue: DeliveryQueue;
  private readonly sender: Sender;
  private readonly mover: OutboxMover;
  private readonly buffer: SettlementBuffer;
  private readonly slots: ConnectionSlots;
  private readonly schedule: RetrySchedule;
  private readonly lanes = new Map<string, DeliveryLane>();
  private subscriptions: ReadonlyMap<string, Subscription> = new Map();
  /** Subscriptions whose remains are being removed. */
  private readonly forgetting = new Set<string>();
  private cancelTrim: () => void;

  constructor(private readonly options: EngineOptions) {
    const { settings, timers, listener } = options;
    this.queue = new DeliveryQueue(options.queuePath);
    this.sender = options.sender;
    this.slots = new ConnectionSlots(settings.connections_per_receiver, settings.connections_max);
    this.schedule = new RetrySchedule(settings, options.random);
    this.buffer = new SettlementBuffer({
      timers,
      write: (settlements) => this.writeDown(settlements),
      onFailure: (error) => {
        listener.failed('Outcomes of deliveries could not be written; trying again', error);
      },
    });
    this.mover = new OutboxMover({
      queue: this.queue,
      timers,
      subscribers: (account, type) => this.subscribers(account, type),
      onMoved: (source, lastRow, deliveries) => {
        listener.moved(source.id, lastRow);
        this.wakeLanesOf(deliveries);
      },
      onFailure: (source, error) => {
        listener.failed(`Events of ${source.id} could not be moved into the queue; trying again`, error);
      },
    });
    this.cancelTrim = timers.after(HOUR_MS, () => this.trimLogs());
  }

  /**
   * All subscriptions that there are from now on. What belongs to those that were there before, or are named as removed, is
   * forgotten when this resolves.
   */
  async setSubscriptions(subscriptions: readonly Subscription[], removed: readonly string[] = []): Promise<void> {
    this.subscriptions = new Map(subscriptions.map((subscription) => [subscription.id, subscription]));
    const present = new Set([...this.queue.subscriptions(), ...this.lanes.keys()]);
    // What is in the queue for others stays: the catalogue may be an older copy.
    const gone = [...present].filter(
      (id) => !this.subscriptions.has(id) && !this.forgetting.has(id) && (removed.includes(id) || this.lanes.has(id)),
    );
    for (const subscription of subscriptions) {
      const lane = this.lanes.get(subscription.id);
      if (lane !== undefined) lane.update(subscription);
      else if (this.options.deliver) this.addLane(subscription);
    }
    await Promise.all(gone.map((id) => this.forget(id)));
  }

  wake(source: OutboxSource): void {
    this.mover.wake(source);
  }

  /** Resolves when every row of the source is in the queue and nothing of the source is open. */
  drain(source: OutboxSource): Promise<void> {
    return this.mover.drain(source);
  }

  /** Queues a `webhook.ping` for this subscription alone; resolves with the delivery's id. Undefined where it is unknown. */
  async ping(subscriptionId: string): Promise<string | undefined> {
    const subscription = this.subscriptions.get(subscriptionId);
    if (subscription === undefined) return undefined;
    const nowMs = this.options.timers.nowMs();
    const id = uuidv7(nowMs);
    await this.queue.add({ id, subscriptionId, event: pingEvent(subscription, nowMs) }, nowMs);
    this.lanes.get(subscriptionId)?.wake();
    return id;
  }

  attempts(subscriptionId: string, before: number | undefined, size: number): LogPage {
    return this.queue.log.page(subscriptionId, before, size);
  }

  setAside(subscriptionId: string, after: number, size: number): SetAsidePage {
    const page = this.queue.setAsidePage(subscriptionId, after, size);
    const last = page.length === size ? page.at(-1)?.number : undefined;
    const total = this.queue.setAsideCount(subscriptionId);
    return { total, deliveries: page.map(({ row }) => row), next: last };
  }

  /** Resolves with how many set-aside deliveries are due again. */
  async replay(subscriptionId: string, deliveryIds: readonly string[] | undefined): Promise<number> {
    const ids = deliveryIds === undefined ? undefined : new Set(deliveryIds);
    const replayed = await this.queue.replay(subscriptionId, ids, this.options.timers.nowMs());
    this.lanes.get(subscriptionId)?.wake();
    return replayed;
  }

  /** Deliveries that wait, are under way or set aside. */
  get queued(): number {
    return this.queue.size;
  }

  /** Resolves when the outcomes of all attempts so far are on disk. */
  flushed(): Promise<void> {
    return this.buffer.flush();
  }

  /** Ends attempts soon, writes down what they came to, and closes everything. */
  async close(): Promise<void> {
    this.cancelTrim();
    await Promise.all([this.mover.close(), ...[...this.lanes.values()].map((lane) => lane.stop(STOP_GRACE_MS))]);
    await this.buffer.close();
    await this.sender.close();
    await this.queue.close();
  }

  private addLane(subscription: Subscription): void {
    const lane = new DeliveryLane(subscription, {
      queue: this.queue,
      sender: this.sender,
      timers: this.options.timers,
      slots: this.slots,
      schedule: this.schedule,
      settle: (settlement, onSettled) => {
        this.buffer.push(settlement, onSettled);
      },
    });
    this.lanes.set(subscription.id, lane);
    lane.wake();
  }

  private async forget(subscriptionId: string): Promise<void> {
    const lane = this.lanes.get(subscriptionId);
    this.lanes.delete(subscriptionId);
    this.forgetting.add(subscriptionId);
    try {
      await lane?.stop(0);
      await this.buffer.flush();
      await this.queue.forget(subscriptionId);
    } finally {
      this.forgetting.delete(subscriptionId);
    }
  }

  private subscribers(account: string, type: EventType): readonly Subscription[] {
    return [...this.subscriptions.values()].filter((each) => each.account === account && each.events.includes(type));
  }

  private wakeLanesOf(deliveries: readonly NewDelivery[]): void {
    for (const id of new Set(deliveries.map(({ subscriptionId }) => subscriptionId))) this.lanes.get(id)?.wake();
  }

  private async writeDown(settlements: readonly Settlement[]): Promise<void> {
    await this.queue.settle(settlements);
    const counts = { delivered: 0, retried: 0, 'set-aside': 0 };
    for (const { next } of settlements) counts[next.kind] += 1;
    this.options.listener.settled(counts, this.queue.size);
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
