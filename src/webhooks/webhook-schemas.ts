/** Schemas of webhooks and of the outcomes of their deliveries. */
import { Type } from 'typebox';
import type { EventCatalogue } from '../platform/index.js';
import type { LoggedAttempt, SetAsideDelivery, Subscription } from './types.js';
import { accountName, nullable, named, object, oneOf, timeSchema, webUrl } from '../operations/index.js';

export const webhookUrl = webUrl(
  'Where events are sent: an https URL without user name and password, at a host of the public internet (http and other hosts as far as the settings allow them)',
  'https://example.com/hooks/gannet',
);

export const webhookId = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'Id of the webhook',
  examples: ['019390ab-7f1e-7c3a-9b52-0f4a1c2d3e4f'],
});

export const webhookParams = object({ account: accountName, id: webhookId });

const status = nullable(Type.Integer(), { description: 'Status of the answer; null where there was none' });
const error = nullable(Type.String(), { description: 'Why there was no answer; null where there was one' });
export const deliveryId = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'Id of the delivery, as in `X-Service-Delivery`',
});

export type WebhookSchemas = ReturnType<typeof webhookSchemas>;

/** Returns the schemas that contain event types. */
export function webhookSchemas({ types }: EventCatalogue) {
  const eventType = oneOf(types, { description: 'An event type of `GET /webhook/events`' });
  const webhookEvents = Type.Array(eventType, {
    minItems: 1,
    maxItems: types.length,
    uniqueItems: true,
    description: 'The events that are sent',
    examples: [['searchresult.created', 'searchresult.updated', 'searchresult.deleted']],
  });
  const webhookMembers = {
    id: webhookId,
    account: accountName,
    url: webhookUrl,
    events: webhookEvents,
    previous_secret_until: nullable(
      timeSchema('After a rotation: until when deliveries are also signed by the old secret'),
      { description: 'Null if only one secret is in force' },
    ),
    created_utc: timeSchema('When the webhook was made'),
    modified_utc: timeSchema('When it changed last'),
  };
  const webhookSecret = Type.String({
    description:
      'Base64 text; the bytes that it stands for are the key of the signatures. Shown when it is made or replaced; later the console and the command line alone show it again',
  });
  return {
    eventType,
    webhookEvents,
    webhookResource: named('Webhook', webhookMembers),
    webhookWithSecret: named('WebhookWithSecret', { ...webhookMembers, secret: webhookSecret }),
    attemptResource: named('WebhookAttempt', {
      delivery: deliveryId,
      event: eventType,
      attempt: Type.Integer({ minimum: 1, description: '1 for the first attempt of the delivery' }),
      at_utc: timeSchema('When the attempt began'),
      duration_ms: Type.Integer({
        minimum: 0,
        description: 'Milliseconds until the status of the answer, or until the attempt was given up',
      }),
      status,
      error,
      answer: Type.String({ description: 'The first kilobyte of the answer' }),
      outcome: oneOf(['delivered', 'retried', 'set-aside'], { description: 'What became of the delivery' }),
    }),
    setAsideResource: named('SetAsideDelivery', {
      delivery: deliveryId,
      event: eventType,
      attempts: Type.Integer({ minimum: 1, description: 'Attempts that failed' }),
      event_utc: timeSchema('When the event happened'),
      set_aside_utc: timeSchema('When the last attempt failed'),
      status,
      error,
    }),
  };
}

/** Returns what may always be shown of a webhook. */
export function describeWebhook(subscription: Subscription, nowMs: number) {
  const { id, account, url, events, previous_secret_until: until, created_utc, modified_utc } = subscription;
  const isRotating = until !== null && Date.parse(until) > nowMs;
  return { id, account, url, events, previous_secret_until: isRotating ? until : null, created_utc, modified_utc };
}

export function describeAttempt(attempt: LoggedAttempt) {
  return {
    delivery: attempt.deliveryId,
    event: attempt.type,
    attempt: attempt.attempt,
    at_utc: new Date(attempt.atMs).toISOString(),
    duration_ms: attempt.durationMs,
    status: attempt.status,
    error: attempt.error,
    answer: attempt.answer,
    outcome: attempt.outcome,
  };
}

export function describeSetAside(delivery: SetAsideDelivery) {
  return {
    delivery: delivery.deliveryId,
    event: delivery.type,
    attempts: delivery.attempts,
    event_utc: new Date(delivery.eventAtMs).toISOString(),
    set_aside_utc: new Date(delivery.setAsideAtMs).toISOString(),
    status: delivery.status,
    error: delivery.error,
  };
}
