/** What the main thread and the webhook worker say to each other: plain data, in the order in which it was said. */
import type { OutboxSource } from '../platform/index.js';
import type { LogPage, SetAsidePage, ToldSubscription, WebhookSettings } from '../webhooks/index.js';
import type { WorkerReply } from './worker-reply.js';

export interface WebhookWorkerData {
  readonly queuePath: string;
  readonly settings: WebhookSettings;
  /** False: nothing is sent; everything waits in the queue. */
  readonly deliver: boolean;
}

/** What the worker is asked, and what it answers. */
export interface WebhookQuestions {
  drain: { readonly ask: { readonly source: OutboxSource }; readonly answer: null };
  /** Null: no such subscription. */
  ping: { readonly ask: { readonly subscriptionId: string }; readonly answer: string | null };
  attempts: {
    readonly ask: { readonly subscriptionId: string; readonly before: number | undefined; readonly size: number };
    readonly answer: LogPage;
  };
  'set-aside': {
    readonly ask: { readonly subscriptionId: string; readonly after: number; readonly size: number };
    readonly answer: SetAsidePage;
  };
  replay: {
    readonly ask: { readonly subscriptionId: string; readonly deliveryIds: readonly string[] | undefined };
    readonly answer: number;
  };
  close: { readonly ask: Record<never, never>; readonly answer: null };
}

export type WebhookQuestionKind = keyof WebhookQuestions;
export type WebhookQuestion = {
  [Kind in WebhookQuestionKind]: { readonly kind: Kind } & WebhookQuestions[Kind]['ask'];
}[WebhookQuestionKind];

export type ToWebhookWorker =
  | { readonly kind: 'subscriptions'; readonly subscriptions: readonly ToldSubscription[] }
  | { readonly kind: 'written'; readonly sources: readonly OutboxSource[] }
  | { readonly kind: 'question'; readonly number: number; readonly question: WebhookQuestion };

export type FromWebhookWorker =
  | { readonly kind: 'moved'; readonly sourceId: string; readonly lastRow: number }
  | {
      readonly kind: 'settled';
      readonly delivered: number;
      readonly retried: number;
      readonly setAside: number;
      readonly queued: number;
    }
  | { readonly kind: 'failed'; readonly message: string; readonly reason: string }
  | { readonly kind: 'answer'; readonly number: number; readonly reply: WorkerReply<unknown> };
