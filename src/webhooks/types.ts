/** Types of subscriptions and deliveries. */
import { Secret, type OutboundRules } from '../platform/index.js';

/** Type of the event that the test of a webhook sends, whether or not it subscribes to it. */
export const PING = 'webhook.ping';

interface SubscriptionOf<KeptSecret> {
  readonly id: string;
  readonly account: string;
  readonly url: string;
  readonly events: readonly string[];
  /** Base64 text of the bytes that sign deliveries. */
  readonly secret: KeptSecret;
  /** The secret before the last rotation, which also signs until `previous_secret_until`. */
  readonly previous_secret: KeptSecret | null;
  readonly previous_secret_until: string | null;
  readonly created_utc: string;
  readonly modified_utc: string;
}

/** A webhook. Its secret is null if it cannot be opened: nothing is sent until it gets a new one. */
export type Subscription = SubscriptionOf<Secret | null>;

/** True for events that the webhook is sent: those that it subscribes to, and the pings of its test. */
export function isSent({ events }: Pick<Subscription, 'events'>, type: string): boolean {
  return type === PING || events.includes(type);
}

/** A webhook as stored in `data/system`: secrets are sealed or, if they are older than the secret box, plain. */
export type StoredSubscription = SubscriptionOf<string>;

/** A webhook in a message to another thread. */
export type ToldSubscription = SubscriptionOf<string | null>;

export function toldSubscription(subscription: Subscription): ToldSubscription {
  const { secret, previous_secret: previous } = subscription;
  return { ...subscription, secret: secret?.reveal() ?? null, previous_secret: previous?.reveal() ?? null };
}

export function heardSubscription(told: ToldSubscription): Subscription {
  const { secret, previous_secret: previous } = told;
  return { ...told, secret: asSecret(secret), previous_secret: asSecret(previous) };
}

function asSecret(text: string | null): Secret | null {
  return text === null ? null : new Secret(text);
}

/** The result of one attempt. */
export interface AttemptResult {
  readonly ok: boolean;
  /** Status of the answer; null if there was none. */
  readonly status: number | null;
  /** Why there was no answer, in a few words; null if there was one. */
  readonly error: string | null;
  readonly durationMs: number;
  /** The beginning of the answer's body as text. */
  readonly answer: string;
}

/** A line of the delivery log. */
export interface LoggedAttempt extends AttemptResult {
  readonly deliveryId: string;
  readonly type: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly atMs: number;
  /** Outcome of the delivery. */
  readonly outcome: 'delivered' | 'retried' | 'set-aside';
}

/** A delivery that failed at every attempt and waits for somebody to look at it. */
export interface SetAsideDelivery {
  readonly deliveryId: string;
  readonly type: string;
  readonly attempts: number;
  readonly eventAtMs: number;
  readonly setAsideAtMs: number;
  readonly status: number | null;
  readonly error: string | null;
}

/** Settings of deliveries; see `[webhooks]` and `[outbound]` in config/default.toml. */
export interface WebhookSettings {
  readonly retry_seconds: readonly number[];
  readonly queue_retry_minutes: readonly number[];
  readonly jitter_percent: number;
  readonly answer_seconds: number;
  readonly connections_per_receiver: number;
  readonly connections_max: number;
  readonly log_days: number;
  readonly log_entries_max: number;
  readonly outbound: OutboundRules;
}
