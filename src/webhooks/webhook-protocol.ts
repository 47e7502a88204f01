/** What the main thread and the webhook worker say to each other. */
import type { OutboxSource } from '../platform/index.js';
import type { LogPage } from './delivery-log.js';
import type { SetAsidePage } from './webhook-engine.js';
import type { SetAsideDelivery, ToldSubscription, WebhookSettings } from './types.js';

export interface WebhookWorkerData {
  readonly queuePath: string;
  readonly settings: WebhookSettings;
  /** False: nothing is sent; everything waits in the queue. */
  readonly deliver: boolean;
}

export interface WebhookProtocol {
  readonly questions: {
    /** Answered behind all that was told before it. */
    readonly heard: { readonly ask: null; readonly answer: null };
    /** By the ids of subscriptions, those that have one. */
    readonly 'first-set-aside': {
      readonly ask: readonly string[];
      readonly answer: readonly (readonly [subscriptionId: string, first: SetAsideDelivery])[];
    };
    readonly drain: { readonly ask: OutboxSource; readonly answer: null };
    /** By the subscription's id. Null: no such subscription. */
    readonly ping: { readonly ask: string; readonly answer: string | null };
    readonly attempts: {
      readonly ask: { readonly subscriptionId: string; readonly before: number | undefined; readonly size: number };
      readonly answer: LogPage;
    };
    readonly 'set-aside': {
      readonly ask: { readonly subscriptionId: string; readonly after: number; readonly size: number };
      readonly answer: SetAsidePage;
    };
    readonly replay: {
      readonly ask: { readonly subscriptionId: string; readonly deliveryIds: readonly string[] | undefined };
      readonly answer: number;
    };
  };
  readonly notices: {
    /** The first: all that there are. The queue is to forget those that were removed, and `forgotten` follows. */
    readonly subscriptions: {
      readonly subscriptions: readonly ToldSubscription[];
      readonly removed: readonly string[];
    };
    /** A new one, or one that has changed. */
    readonly subscription: ToldSubscription;
    /** Ids of some that were deleted; the queue is to forget them, and `forgotten` follows. */
    readonly removed: readonly string[];
    /** Sources with something new. */
    readonly written: readonly OutboxSource[];
  };
  readonly events: {
    readonly moved: { readonly sourceId: string; readonly lastRow: number };
    readonly settled: {
      readonly delivered: number;
      readonly retried: number;
      readonly setAside: number;
      readonly queued: number;
      /** By the subscription's id. */
      readonly attempts: ReadonlyMap<string, number>;
    };
    /** Ids of removed subscriptions of which nothing is left. */
    readonly forgotten: readonly string[];
    readonly failed: { readonly message: string; readonly reason: string };
    /** Why the queue cannot be read; null where it can. */
    readonly queue: { readonly unreadable: string | null };
  };
}
