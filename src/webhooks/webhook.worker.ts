/**
 * The webhook worker: the thread that owns `data/queue` and delivers. The work is in `webhook-engine.ts`; this file
 * only handles the messages of the main thread, and a damaged queue, which is set aside and replaced by a new one. A
 * queue that the disk cannot read stays in place, and the threads that follow this one open it again.
 */
import { serveHost, type Emit, type Served } from '../platform/hosts/serve-host.js';
import { kernel } from '../../native-bindings/index.js';
import { EnvironmentFaults, isDamage, isUnreadable, ServiceError, setAside, systemReason } from '../platform/index.js';
import { systemTimers, UnreadSourceError } from '../platform/work/index.js';
import { HttpSender } from './http-sender.js';
import { heardSubscription } from './types.js';
import { WebhookEngine } from './webhook-engine.js';
import { QUEUE_UNREADABLE } from './webhook-problems.js';
import type { WebhookProtocol, WebhookWorkerData } from './webhook-protocol.js';

class WebhookWorker {
  readonly #engine: WebhookEngine;
  /** Faults since the queue was opened. */
  #faults: EnvironmentFaults;
  #isEnding = false;

  constructor(
    private readonly data: WebhookWorkerData,
    private readonly emit: Emit<WebhookProtocol>,
  ) {
    this.#faults = this.#newFaults();
    try {
      this.#engine = this.#createEngine();
    } catch (error) {
      if (!isDamage(error) && !isUnreadable(error)) throw error;
      const reason = this.#whyLeft(error);
      if (reason !== undefined) {
        // The main thread starts another worker after a while.
        this.emit('queue', { unreadable: leftAsItIs(reason) });
        throw queueUnreadable(error);
      }
      this.#setQueueAside(error);
      this.#faults = this.#newFaults();
      this.#engine = this.#createEngine();
    }
    this.emit('queue', { unreadable: null });
  }

  /** Returns why the queue is left in place; undefined if the file itself is damaged. */
  #whyLeft(error: unknown): string | undefined {
    return isUnreadable(error) ? systemReason(error) : this.#faults.whyNotOfTheFile();
  }

  #newFaults(): EnvironmentFaults {
    return new EnvironmentFaults(this.data.queuePath, () => kernel.unreadableCount());
  }

  served(): Served<WebhookProtocol> {
    const engine = this.#engine;
    return {
      answers: {
        heard: () => null,
        drain: async (source) => {
          try {
            return await this.#watched(async () => {
              await engine.drain(source);
              return null;
            });
          } catch (error) {
            if (error instanceof UnreadSourceError) throw error.cause;
            // An error of the queue must not be taken for one of the source, which would then be deleted with its
            // events.
            throw isDamage(error) || isUnreadable(error) ? queueUnreadable(error) : error;
          }
        },
        ping: (subscriptionId) => this.#watched(async () => (await engine.ping(subscriptionId)) ?? null),
        attempts: ({ subscriptionId, before, size }) =>
          this.#watched(() => engine.attempts(subscriptionId, before, size)),
        'set-aside': ({ subscriptionId, after, size }) =>
          this.#watched(() => engine.setAside(subscriptionId, after, size)),
        'first-set-aside': (ids) => this.#watched(() => engine.firstSetAside(ids)),
        replay: ({ subscriptionId, deliveryIds }) => this.#watched(() => engine.replay(subscriptionId, deliveryIds)),
      },
      notices: {
        subscriptions: ({ subscriptions, removed }) => {
          for (const subscription of subscriptions) engine.put(heardSubscription(subscription));
          this.#forget(removed);
        },
        subscription: (subscription) => {
          engine.put(heardSubscription(subscription));
        },
        removed: (removed) => {
          this.#forget(removed);
        },
        written: (sources) => {
          for (const source of sources) engine.wake(source);
        },
      },
      close: () => engine.close(),
    };
  }

  #createEngine(): WebhookEngine {
    const { queuePath, settings, deliver } = this.data;
    return new WebhookEngine({
      queuePath,
      settings,
      timers: systemTimers,
      deliver,
      sender: new HttpSender({ settings }),
      listener: {
        moved: (sourceId, lastRow) => {
          this.emit('moved', { sourceId, lastRow });
        },
        settled: ({ outcomes: { done: delivered, retried, 'set-aside': setAside }, attempts }, queued) => {
          this.emit('settled', { delivered, retried, setAside, queued, attempts });
        },
        failed: (message, error, isNews = true) => {
          if (isNews) this.#printFailure(message, error);
          if (isDamage(error)) this.#beginAnew(error);
        },
      },
    });
  }

  #forget(removed: readonly string[]): void {
    if (removed.length === 0) return;
    this.#watched(() => this.#engine.remove(removed)).then(
      () => {
        this.emit('forgotten', removed);
      },
      (error: unknown) => {
        this.#printFailure('What belonged to deleted webhooks could not be removed', error);
      },
    );
  }

  async #watched<Result>(action: () => Promise<Result> | Result): Promise<Result> {
    try {
      return await action();
    } catch (error) {
      if (isDamage(error)) this.#beginAnew(error);
      throw error;
    }
  }

  /** Ends the thread. The next one, which the main thread starts, begins with a new queue, or opens this one again. */
  #beginAnew(error: unknown): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    const reason = this.#faults.whyNotOfTheFile();
    if (reason === undefined) this.#setQueueAside(error);
    else this.emit('queue', { unreadable: leftAsItIs(reason) });
    // Threads share an open environment, so it is closed for the next one to map the file anew. Messages are sent
    // meanwhile.
    void this.#engine.abandon().finally(() => setImmediate(() => process.exit(1)));
  }

  #setQueueAside(error: unknown): void {
    const path = setAside(this.data.queuePath);
    this.#printFailure(
      `The queue of deliveries is damaged; it was set aside as ${path}, and a new one is begun`,
      error,
    );
  }

  #printFailure(message: string, error: unknown): void {
    this.emit('failed', { message, reason: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}

function queueUnreadable(cause: unknown): ServiceError {
  return new ServiceError('not-ready', QUEUE_UNREADABLE, { cause });
}

function leftAsItIs(reason: string): string {
  return `The queue of deliveries is left as it is, and opened again: ${reason}`;
}

serveHost<WebhookProtocol>((data, emit) => new WebhookWorker(data as WebhookWorkerData, emit).served());
