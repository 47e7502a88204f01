/** Schemas of webhooks and of the outcomes of their deliveries. */
import { Type, type TSchema } from 'typebox';
import type { EventCatalogue } from '../platform/index.js';
import type { LoggedAttempt, SetAsideDelivery, Subscription } from './types.js';
import { accountName, nullable, named, object, oneOf, timeSchema, webUrl } from '../operations/index.js';

export const webhookUrl = webUrl(
  'URL that events are sent to. It must begin with https:// and have a host on the public internet, unless the settings of the service allow http:// or other hosts. It must not contain a user name or password',
  'https://example.com/hooks/gannet',
);

export const webhookId = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'Id of the webhook',
  examples: ['019390ab-7f1e-7c3a-9b52-0f4a1c2d3e4f'],
});

export const webhookParams = object({ account: accountName, id: webhookId });

const status = nullable(Type.Integer(), { description: 'HTTP status of the answer. Null if there was no answer' });
const error = nullable(Type.String(), { description: 'Why there was no answer. Null if there was one' });
export const deliveryId = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'Id of the delivery, which `X-Service-Delivery` carries',
});

/** `event`: the schema of a type of event. */
function attempt<Event extends TSchema>(event: Event) {
  return named(
    'WebhookAttempt',
    {
      delivery: deliveryId,
      event,
      attempt: Type.Integer({
        minimum: 1,
        description: 'Number of the attempt; 1 for the first one of the delivery',
      }),
      at_utc: timeSchema('Time at which the attempt began'),
      duration_ms: Type.Integer({
        minimum: 0,
        description: 'Milliseconds until the status of the answer arrived, or until the attempt was given up',
      }),
      status,
      error,
      answer: Type.String({ description: 'First kilobyte of the body of the answer' }),
      outcome: oneOf(['delivered', 'retried', 'set-aside'], {
        description:
          'Outcome of the attempt. `delivered`: the receiver answered 2xx; `retried`: it failed, and the delivery will be tried again; `set-aside`: it failed, and was the last attempt',
      }),
    },
    { description: 'An attempt to deliver an event to a webhook' },
  );
}

function setAside<Event extends TSchema>(event: Event) {
  return named(
    'SetAsideDelivery',
    {
      delivery: deliveryId,
      event,
      attempts: Type.Integer({ minimum: 1, description: 'Number of failed attempts' }),
      event_utc: timeSchema('Time of the event'),
      set_aside_utc: timeSchema('Time at which the last attempt failed'),
      status,
      error,
    },
    { description: 'A webhook delivery whose attempts all failed' },
  );
}

export type WebhookSchemas = ReturnType<typeof webhookSchemas>;

/** Returns the schemas that contain event types. */
export function webhookSchemas({ types }: EventCatalogue) {
  const eventType = oneOf(types, { description: 'Event type, one of those that `GET /webhook/events` lists' });
  const webhookEvents = Type.Array(eventType, {
    minItems: 1,
    maxItems: types.length,
    uniqueItems: true,
    description: 'Types of the events that are sent',
    examples: [['searchresult.created', 'searchresult.updated', 'searchresult.deleted']],
  });
  const webhookMembers = {
    id: webhookId,
    account: accountName,
    url: webhookUrl,
    events: webhookEvents,
    previous_secret_until: nullable(timeSchema('Time until which deliveries are also signed with the old secret'), {
      description:
        'After the secret was replaced: time until which deliveries are also signed with the old one. Null if there is only one secret',
    }),
    created_utc: timeSchema('Time at which the webhook was created'),
    modified_utc: timeSchema('Time of the last change'),
  };
  const webhookSecret = Type.String({
    description:
      'Secret of the webhook in base64. Decode it: the bytes are the key of the HMAC signatures. An API key sees it only when it is created; the console and the command line can show it again',
  });
  return {
    eventType,
    webhookEvents,
    webhookResource: named('Webhook', webhookMembers, { description: 'A webhook: a subscription of a URL to events' }),
    webhookWithSecret: named(
      'WebhookWithSecret',
      { ...webhookMembers, secret: webhookSecret },
      { description: 'A webhook, with its secret' },
    ),
    attemptResource: attempt(eventType),
    setAsideResource: setAside(eventType),
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
