/**
 * The main thread's side of the webhook worker: starts it when somebody listens, wakes it after commits, asks it, and replaces
 * it when it dies. What is to be delivered is on disk before anybody is woken, so a dead worker loses nothing.
 *
 * Main thread only. Without a subscription there is no thread, and a commit costs a look-up.
 */
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Logger } from 'pino';
import {
  ServiceError,
  type Clock,
  type Config,
  type EventSink,
  type EventType,
  type LmdbEnvironment,
  type Metrics,
  type OutboxSource,
  type SecretBox,
} from '../platform/index.js';
import {
  SubscriptionStore,
  toldSubscription,
  type LogPage,
  type SetAsidePage,
  type Subscription,
} from '../webhooks/index.js';
import { CollectionStore } from '../catalog/index.js';
import type {
  FromWebhookWorker,
  ToWebhookWorker,
  WebhookQuestion,
  WebhookQuestionKind,
  WebhookQuestions,
  WebhookWorkerData,
} from './webhook-messages.js';
import { WorkerDeaths, workerFile } from './worker-pool.js';
import { INTERNAL_ERROR_DETAIL, valueOf, type WorkerReply } from './worker-reply.js';

const WORKER_HEAP_MIB_MAX = 1024;
const RESTART_MS_FIRST = 500;
const RESTART_MS_MAX = 60_000;
/** A worker that lived this long was healthy: the next one starts at once after it. */
const HEALTHY_MS = 60_000;

export interface WebhookHostOptions {
  readonly config: Pick<Config, 'webhooks' | 'outbound'>;
  readonly dataDir: string;
  /** Of accounts, keys and lists: `data/system`. */
  readonly environment: LmdbEnvironment;
  readonly secrets: SecretBox;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** False: events are kept and nothing is delivered, for a process that serves one command. */
  readonly deliver: boolean;
}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export class WebhookHost implements EventSink {
  readonly subscriptions: SubscriptionStore;
  private readonly deaths: WorkerDeaths;
  private readonly system: OutboxSource;
  /** Everything that was ever reported as written, for a worker that starts. */
  private readonly sources = new Map<string, OutboxSource>();
  private readonly moved = new Map<string, number>();
  private readonly pending = new Map<number, Pending>();
  private unsaid: OutboxSource[] = [];
  private worker: Worker | undefined;
  private startedMs = 0;
  private restartMs = RESTART_MS_FIRST;
  private restart: NodeJS.Timeout | undefined;
  private nextQuestion = 1;
  private closed = false;

  constructor(private readonly options: WebhookHostOptions) {
    const { config, dataDir, environment, secrets, clock, log, metrics } = options;
    this.deaths = new WorkerDeaths('webhook', log, metrics);
    this.system = { id: 'system', kind: 'system', path: join(dataDir, 'system') };
    this.subscriptions = new SubscriptionStore({
      environment,
      secrets,
      clock,
      subscriptionsMax: config.webhooks.subscriptions_max,
      secretOverlapHours: config.webhooks.secret_overlap_hours,
      onChange: (all) => {
        this.onSubscriptions(all);
      },
      onUnreadable: (id, error) => {
        log.error({ webhook: id, reason: error.message }, 'A webhook sends nothing: its secret cannot be opened');
      },
    });
    CollectionStore.of(environment).listen({ sink: this, source: this.system, clock });
    this.sources.set(this.system.id, this.system);
    if (options.deliver) this.startIfNeeded();
  }

  // ---- writers of events

  wanted(account: string): readonly EventType[] {
    return this.subscriptions.wanted(account);
  }

  written(source: OutboxSource): void {
    this.sources.set(source.id, source);
    if (this.worker === undefined) return;
    // Many commits of one turn are said once.
    if (this.unsaid.length === 0) setImmediate(() => this.sayWritten());
    if (!this.unsaid.includes(source)) this.unsaid.push(source);
  }

  movedTo(sourceId: string): number {
    return this.moved.get(sourceId) ?? 0;
  }

  async drained(source: OutboxSource): Promise<void> {
    // Where nobody subscribes, nobody is told.
    if (this.subscriptions.all().length > 0) await this.ask('drain', { source });
    this.sources.delete(source.id);
    this.moved.delete(source.id);
  }

  // ---- operations

  /** Queues a ping; resolves with the id of its delivery. Rejects with `webhook-not-found`. */
  async ping(subscription: Subscription): Promise<string> {
    const id = await this.ask('ping', { subscriptionId: subscription.id });
    if (id !== null) return id;
    throw new ServiceError('webhook-not-found', 'The webhook was deleted a moment ago.');
  }

  attempts(subscriptionId: string, before: number | undefined, size: number): Promise<LogPage> {
    return this.ask('attempts', { subscriptionId, before, size });
  }

  setAside(subscriptionId: string, after: number, size: number): Promise<SetAsidePage> {
    return this.ask('set-aside', { subscriptionId, after, size });
  }

  /** Undefined: all that are set aside. Resolves with how many are due again. */
  replay(subscriptionId: string, deliveryIds: readonly string[] | undefined): Promise<number> {
    return this.ask('replay', { subscriptionId, deliveryIds });
  }

  /** Lets attempts that are under way end, and ends the thread. */
  async close(): Promise<void> {
    if (this.closed) return;
    clearTimeout(this.restart);
    const { worker } = this;
    if (worker !== undefined) {
      const ended = new Promise((resolve) => worker.once('exit', resolve));
      const asked = this.ask('close', {});
      this.closed = true;
      await asked.catch(() => worker.terminate());
      await ended;
    }
    this.closed = true;
  }

  // ---- the worker

  private onSubscriptions(all: readonly Subscription[]): void {
    if (this.worker === undefined) {
      if (this.options.deliver) this.startIfNeeded();
    } else this.tell(all);
  }

  private startIfNeeded(): void {
    if (this.subscriptions.all().length > 0) this.start();
  }

  private start(): Worker {
    if (this.worker !== undefined) return this.worker;
    if (this.closed) throw new ServiceError('shutting-down', 'The service is stopping; try again soon.');
    clearTimeout(this.restart);
    const { config, dataDir, deliver } = this.options;
    const settings = { ...config.webhooks, outbound: config.outbound };
    const workerData: WebhookWorkerData = { queuePath: join(dataDir, 'queue'), settings, deliver };
    const worker = new Worker(workerFile('webhook'), {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: WORKER_HEAP_MIB_MAX },
      name: 'webhooks',
    });
    this.worker = worker;
    this.startedMs = this.options.clock.nowMs();
    worker.on('message', (message: FromWebhookWorker) => {
      this.hear(message);
    });
    let cause: unknown;
    worker.on('error', (error) => {
      cause = error;
      this.deaths.record(error);
    });
    worker.once('exit', () => {
      this.onExit(worker, reasonOfDeath(cause));
    });
    this.tell(this.subscriptions.all());
    this.unsaid = [...this.sources.values()];
    this.sayWritten();
    return worker;
  }

  private onExit(worker: Worker, reason: ServiceError): void {
    if (this.worker === worker) this.worker = undefined;
    for (const { reject } of this.pending.values()) reject(reason);
    this.pending.clear();
    if (this.closed || !this.options.deliver) return;
    const lived = this.options.clock.nowMs() - this.startedMs;
    this.restartMs = lived > HEALTHY_MS ? RESTART_MS_FIRST : Math.min(this.restartMs * 2, RESTART_MS_MAX);
    this.restart = setTimeout(() => {
      this.startIfNeeded();
    }, this.restartMs);
    this.restart.unref();
  }

  private hear(message: FromWebhookWorker): void {
    const { metrics, log } = this.options;
    switch (message.kind) {
      case 'moved':
        if (this.sources.has(message.sourceId)) this.moved.set(message.sourceId, message.lastRow);
        break;
      case 'settled':
        metrics.webhookDeliveries.inc({ outcome: 'delivered' }, message.delivered);
        metrics.webhookDeliveries.inc({ outcome: 'retried' }, message.retried);
        metrics.webhookDeliveries.inc({ outcome: 'set-aside' }, message.setAside);
        metrics.webhookQueued.set(message.queued);
        break;
      case 'failed':
        log.error({ reason: message.reason }, message.message);
        break;
      case 'answer':
        this.settle(message.number, message.reply);
        break;
    }
  }

  private settle(number: number, reply: WorkerReply<unknown>): void {
    const pending = this.pending.get(number);
    this.pending.delete(number);
    try {
      pending?.resolve(
        valueOf(reply, (stack) => {
          this.options.log.error({ stack }, 'The webhook worker failed at a question');
        }),
      );
    } catch (error) {
      pending?.reject(error);
    }
  }

  private ask<Kind extends WebhookQuestionKind>(
    kind: Kind,
    question: WebhookQuestions[Kind]['ask'],
  ): Promise<WebhookQuestions[Kind]['answer']> {
    const number = this.nextQuestion++;
    return new Promise((resolve, reject) => {
      this.start();
      this.pending.set(number, { resolve: resolve as (value: unknown) => void, reject });
      this.say({ kind: 'question', number, question: { kind, ...question } as WebhookQuestion });
    });
  }

  private sayWritten(): void {
    const sources = this.unsaid;
    this.unsaid = [];
    if (sources.length > 0) this.say({ kind: 'written', sources });
  }

  private tell(subscriptions: readonly Subscription[]): void {
    this.say({ kind: 'subscriptions', subscriptions: subscriptions.map(toldSubscription) });
  }

  private say(message: ToWebhookWorker): void {
    this.worker?.postMessage(message);
  }
}

/** On a full disk the worker cannot make its queue. Its error comes here as a plain one with the same members. */
function reasonOfDeath(cause: unknown): ServiceError {
  const { code, detail } = (cause ?? {}) as Partial<Pick<ServiceError, 'code' | 'detail'>>;
  const isOfStorage = (code === 'storage-full' || code === 'storage-failed') && detail !== undefined;
  return isOfStorage ? new ServiceError(code, detail) : new ServiceError('internal-error', INTERNAL_ERROR_DETAIL);
}
