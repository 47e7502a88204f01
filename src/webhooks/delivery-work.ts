/**
 * Deliveries as a kind of work (`src/platform/work`): a lane is a subscription, a subject is what the event is about.
 */
import type { OutboxEvent } from '../platform/index.js';
import { RetrySchedule, type WorkKind } from '../platform/work/index.js';
import type { AttemptResult, LoggedAttempt, SetAsideDelivery, WebhookSettings } from './types.js';

export interface DeliveryItem {
  /** `X-Service-Delivery`: the same for every attempt, also after a crash. */
  readonly id: string;
  readonly event: OutboxEvent;
}

export interface DeliveryTypes {
  readonly item: DeliveryItem;
  readonly result: AttemptResult;
  /** Null if nothing was sent, since the webhook no longer subscribes to the event. */
  readonly note: LoggedAttempt | null;
  readonly failure: SetAsideDelivery;
}

type StoredDelivery = [id: string, type: string, account: string, subject: string, atMs: number, body: string];

export const DELIVERIES: WorkKind<DeliveryTypes> = {
  databases: { items: 'deliveries', schedule: 'schedule', setAside: 'set-aside', meta: 'meta' },
  keeping: { kind: 'every' },
  encode: ({ id, event: { type, account, subject, atMs, body } }): StoredDelivery => [
    ...([id, type, account, subject, atMs, body] as const),
  ],
  decode(stored) {
    const [id, type, account, subject, atMs, body] = stored as StoredDelivery;
    return { id, event: { account, type, subject, atMs, body } };
  },
  subjectOf: ({ event }) => event.subject,
};

type ScheduleSettings = Pick<WebhookSettings, 'retry_seconds' | 'queue_retry_minutes' | 'jitter_percent'>;

/** `random` returns numbers from 0 to 1. */
export function deliverySchedule(settings: ScheduleSettings, random?: () => number): RetrySchedule {
  return new RetrySchedule({
    soonMs: settings.retry_seconds.map((seconds) => seconds * 1000),
    laterMs: settings.queue_retry_minutes.map((minutes) => minutes * 60_000),
    jitterPercent: settings.jitter_percent,
    random,
  });
}
