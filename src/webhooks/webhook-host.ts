/**
 * The main thread's side of the webhook worker: starts it once there are subscriptions, wakes it after commits, asks it
 * questions, and replaces it when it dies. Deliveries are on disk before the worker is woken, so a dead worker loses
 * nothing.
 *
 * Main thread only. Without a subscription there is no thread, and a commit costs a look-up.
 */
import { join } from 'node:path';
import type { Logger } from 'pino';
import { createWorkerThread, loggedWorker, type Host, type ProtocolEvent } from '../platform/hosts/index.js';
import {
  compiledFile,
  ServiceError,
  serviceKey,
  type Clock,
  type Config,
  EVERY_ROW,
  type EventSink,
  type LmdbEnvironment,
  type Metrics,
  type OutboxSource,
  PassingJobs,
  type ProgressBoard,
  type SecretBox,
  type StorageFaults,
} from '../platform/index.js';
import type { Trouble } from '../operations/index.js';
import type { LogPage } from './delivery-log.js';
import { SubscriptionStore, type SubscriptionChange } from './subscription-store.js';
import { toldSubscription, type Subscription } from './types.js';
import type { SetAsidePage } from './webhook-engine.js';
import { QUEUE_UNREADABLE, WEBHOOK_NOT_FOUND } from './webhook-problems.js';
import type { WebhookProtocol, WebhookWorkerData } from './webhook-protocol.js';

const WORKER_HEAP_MIB_MAX = 1024;
/**
 * Niceness, of at most 19: a thirtieth of a busy processor. Nobody waits for a delivery, and what is queued is on disk.
 */
const NICENESS = 15;
/**
 * Time limit for questions to a thread whose disk may not respond: the answer is not on that disk, or the caller wants
 * the state of the service just then.
 */
const HEARD_MS_MAX = 5000;
/** Path relative to the data directory. */
const QUEUE = 'queue';

export interface WebhookHostOptions {
  readonly config: Pick<Config, 'webhooks' | 'outbound'>;
  readonly dataDir: string;
  /** `data/system`: accounts, keys and lists. */
  readonly environment: LmdbEnvironment;
  readonly secrets: SecretBox;
  readonly clock: Clock;
  readonly faults: StorageFaults;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly progress: ProgressBoard;
  /** False: events are kept but not delivered, in a process that serves one command. */
  readonly deliver: boolean;
}

/** Key of webhooks for operations. */
export const WEBHOOKS = serviceKey<WebhookHost>('webhooks');

export class WebhookHost implements EventSink {
  readonly subscriptions: SubscriptionStore;
  private readonly host: Host<WebhookProtocol>;
  /** All sources ever reported as written, for a worker that starts. */
  private readonly sources = new Map<string, OutboxSource>();
  private readonly moved = new Map<string, number>();
  private unsaid: OutboxSource[] = [];
  private readonly sending: PassingJobs;
  private closed = false;

  constructor(private readonly options: WebhookHostOptions) {
    const { config, environment, secrets, clock, log } = options;
    this.host = this.createHost();
    this.sending = new PassingJobs(options.progress);
    this.subscriptions = new SubscriptionStore({
      environment,
      secrets,
      clock,
      subscriptionsMax: config.webhooks.subscriptions_max,
      secretOverlapHours: config.webhooks.secret_overlap_hours,
      onChange: (change) => this.onSubscription(change),
      onUnreadable: (id, error) => {
        log.error({ webhook: id, reason: error.message }, 'A webhook sends nothing: its secret cannot be opened');
      },
    });
    if (options.deliver) this.startIfNeeded();
  }

  // ---- writers of events

  wanted(account: string): readonly string[] {
    return this.subscriptions.wanted(account);
  }

  eventTime(account: string, nowMs: number): number {
    return this.subscriptions.eventTime(account, nowMs);
  }

  written(source: OutboxSource): void {
    this.sources.set(source.id, source);
    if (!this.host.isRunning) return;
    // Many commits of one turn are sent as one message.
    if (this.unsaid.length === 0) setImmediate(() => this.sayWritten());
    if (!this.unsaid.includes(source)) this.unsaid.push(source);
  }

  movedTo(sourceId: string): number {
    // Without subscriptions, no row is wanted.
    return this.subscriptions.size === 0 ? EVERY_ROW : (this.moved.get(sourceId) ?? 0);
  }

  removableTo(sourceId: string): number {
    return this.movedTo(sourceId);
  }

  async drained(source: OutboxSource): Promise<void> {
    if (this.subscriptions.size > 0) await this.ask('drain', source);
    this.sources.delete(source.id);
    this.moved.delete(source.id);
  }

  // ---- operations

  /** Queues a ping; resolves with the id of its delivery. Rejects with `webhook-not-found`. */
  async ping(subscription: Subscription): Promise<string> {
    const id = await this.ask('ping', subscription.id);
    if (id !== null) return id;
    throw new ServiceError(WEBHOOK_NOT_FOUND, 'The webhook was just deleted.');
  }

  attempts(subscriptionId: string, before: number | undefined, size: number): Promise<LogPage> {
    return this.ask('attempts', { subscriptionId, before, size });
  }

  setAside(subscriptionId: string, after: number, size: number): Promise<SetAsidePage> {
    return this.ask('set-aside', { subscriptionId, after, size });
  }

  /**
   * Returns the webhooks with deliveries that were set aside, and those that cannot send. Only the latter if the thread
   * does not run or does not answer.
   */
  async troubles(): Promise<readonly Trouble[]> {
    const first = new Map(await this.firstSetAside());
    return this.subscriptions.all().flatMap(({ id, account, url, secret }): Trouble[] => {
      const trouble = { kind: 'webhook', account, name: url };
      if (secret === null)
        return [{ ...trouble, detail: 'Its secret cannot be opened: it sends nothing.', since_utc: null }];
      const delivery = first.get(id);
      if (delivery === undefined) return [];
      const why = delivery.error ?? `status ${delivery.status}`;
      const detail = `Deliveries failed at every attempt and are set aside, the first by ${why}.`;
      return [{ ...trouble, detail, since_utc: new Date(delivery.setAsideAtMs).toISOString() }];
    });
  }

  /** Asks for all webhooks at once, since there may be ten thousand. */
  private async firstSetAside(): Promise<WebhookProtocol['questions']['first-set-aside']['answer']> {
    if (!this.host.isRunning) return [];
    const ids = this.subscriptions.all().map(({ id }) => id);
    return this.host.call('first-set-aside', ids, { msMax: HEARD_MS_MAX }).catch(() => []);
  }

  /** `deliveryIds` undefined: all that were set aside. Resolves with the number of deliveries that are due again. */
  replay(subscriptionId: string, deliveryIds: readonly string[] | undefined): Promise<number> {
    return this.ask('replay', { subscriptionId, deliveryIds });
  }

  /** Lets attempts in progress end, and ends the thread. */
  close(): Promise<void> {
    this.closed = true;
    this.sending.close();
    return this.host.close();
  }

  // ---- the worker

  /**
   * Asks the worker. While the queue cannot be read, questions do not start a thread, which would end at once: restarts
   * with growing delays open the queue again.
   */
  private ask: Host<WebhookProtocol>['call'] = async (name, ask) => {
    if (!this.host.isRunning && this.options.faults.has(QUEUE) && this.isKeptAlive())
      throw new ServiceError('not-ready', QUEUE_UNREADABLE);
    return this.host.call(name, ask);
  };

  /**
   * True while the worker is to be restarted; without subscriptions, also while the queue cannot be read: only a worker
   * that opens it notices when it can be, and removes what deleted webhooks have left in it.
   */
  private isKeptAlive(): boolean {
    return this.options.deliver && (this.subscriptions.size > 0 || this.options.faults.has(QUEUE));
  }

  private createHost(): Host<WebhookProtocol> {
    const { config, dataDir, deliver, faults, log, metrics } = this.options;
    const logged = loggedWorker('webhook', { log, metrics });
    const settings = { ...config.webhooks, outbound: config.outbound };
    const data: WebhookWorkerData = { queuePath: join(dataDir, QUEUE), settings, deliver };
    return createWorkerThread<WebhookProtocol>({
      name: 'webhooks',
      entry: compiledFile('src/webhooks/webhook.worker'),
      data,
      heapMibMax: WORKER_HEAP_MIB_MAX,
      niceness: NICENESS,
      isKeptAlive: () => this.isKeptAlive(),
      onStart: (host) => {
        host.notify('subscriptions', this.toldSubscriptions());
        this.unsaid = [...this.sources.values()];
        this.sayWritten();
      },
      onEvent: (...event) => {
        this.hear(event);
      },
      ...logged,
      onDeath: (error) => {
        // Already reported, and repeated only at intervals.
        if (faults.has(QUEUE)) metrics.workerDeaths.inc({ pool: 'webhook' });
        else logged.onDeath(error);
      },
    });
  }

  /**
   * A worker that starts gets all subscriptions. A running one only gets the change, so that ten thousand webhooks cost
   * no more than ten.
   */
  private async onSubscription(change: SubscriptionChange): Promise<void> {
    // The next start sends all of them.
    if (this.closed) return;
    if (!this.host.isRunning) {
      if (this.options.deliver) this.startIfNeeded();
    } else if ('put' in change) this.host.notify('subscription', toldSubscription(change.put));
    else this.host.notify('removed', change.removed);
    if ('put' in change) await this.heard();
  }

  /**
   * Resolves when the worker has received the notices so far. The worker moves all rows that it finds, even before it
   * is told of them, and so moved those of changes right after a new webhook before it knew the webhook. If the worker
   * dies meanwhile, its successor gets all subscriptions. The time is limited, since the webhook already exists.
   */
  private async heard(): Promise<void> {
    if (this.host.isRunning) await this.host.call('heard', null, { msMax: HEARD_MS_MAX }).catch(() => undefined);
  }

  private toldSubscriptions(): WebhookProtocol['notices']['subscriptions'] {
    const { subscriptions } = this;
    return { subscriptions: subscriptions.all().map(toldSubscription), removed: subscriptions.removed() };
  }

  private startIfNeeded(): void {
    if (this.subscriptions.size > 0) this.host.start();
  }

  private hear([name, content]: ProtocolEvent<WebhookProtocol>): void {
    const { metrics, log } = this.options;
    switch (name) {
      case 'moved':
        if (this.sources.has(content.sourceId)) this.moved.set(content.sourceId, content.lastRow);
        break;
      case 'settled':
        metrics.webhookDeliveries.inc({ outcome: 'delivered' }, content.delivered);
        metrics.webhookDeliveries.inc({ outcome: 'retried' }, content.retried);
        metrics.webhookDeliveries.inc({ outcome: 'set-aside' }, content.setAside);
        metrics.webhookQueued.set(content.queued);
        for (const [id, attempts] of content.attempts) this.tellSending(id, attempts);
        break;
      case 'forgotten':
        this.forgotten(content);
        break;
      case 'queue':
        if (content.unreadable === null) this.options.faults.gone(QUEUE);
        else this.options.faults.met(QUEUE, content.unreadable);
        break;
      case 'failed':
        log.error({ reason: content.reason }, content.message);
        break;
    }
  }

  private tellSending(id: string, attempts: number): void {
    const subscription = this.subscriptions.find(id);
    if (subscription === undefined || this.closed) return;
    const { account, url } = subscription;
    const owner = { account, name: url, permission: 'webhook:read' };
    this.sending.advance({ kind: 'deliveries', subject: id, owner }, attempts);
  }

  private forgotten(ids: readonly string[]): void {
    // If the service stops, its next start asks again.
    if (this.closed) return;
    this.subscriptions.forgotten(ids).catch((error: unknown) => {
      this.options.log.error({ err: error }, 'Could not clean up after deleted webhooks; will retry at the next start');
    });
  }

  private sayWritten(): void {
    const sources = this.unsaid;
    this.unsaid = [];
    if (sources.length > 0) this.host.notifyIfRunning('written', sources);
  }
}
