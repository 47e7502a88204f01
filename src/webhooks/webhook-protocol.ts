/** Messages between the main thread and the webhook worker. */
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
    /** Answered after all earlier messages were handled. */
    readonly heard: { readonly ask: null; readonly answer: null };
    /** Takes ids of subscriptions; answers those that have a delivery set aside. */
    readonly 'first-set-aside': {
      readonly ask: readonly string[];
      readonly answer: readonly (readonly [subscriptionId: string, first: SetAsideDelivery])[];
    };
    readonly drain: { readonly ask: OutboxSource; readonly answer: null };
    /** Takes the subscription's id. Null: there is no such subscription. */
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
    /** The first notice: all subscriptions. The queue has to remove those in `removed`; `forgotten` follows. */
    readonly subscriptions: {
      readonly subscriptions: readonly ToldSubscription[];
      readonly removed: readonly string[];
    };
    /** A new or changed subscription. */
    readonly subscription: ToldSubscription;
    /** Ids of deleted subscriptions, which the queue has to remove; `forgotten` follows. */
    readonly removed: readonly string[];
    /** Sources with new rows. */
    readonly written: readonly OutboxSource[];
  };
  readonly events: {
    readonly moved: { readonly sourceId: string; readonly lastRow: number };
    readonly settled: {
      readonly delivered: number;
      readonly retried: number;
      readonly setAside: number;
      readonly queued: number;
      /** Number of attempts by subscription id. */
      readonly attempts: ReadonlyMap<string, number>;
    };
    /** Ids of removed subscriptions of which nothing is left. */
    readonly forgotten: readonly string[];
    readonly failed: { readonly message: string; readonly reason: string };
    /** Why the queue cannot be read; null once it can be. */
    readonly queue: { readonly unreadable: string | null };
  };
}
