/** Subscriptions and deliveries. */
import { Secret, type OutboundRules } from '../platform/index.js';

interface SubscriptionOf<KeptSecret> {
  readonly id: string;
  readonly account: string;
  readonly url: string;
  readonly events: readonly string[];
  /** Base64 text of the bytes that deliveries are signed with. */
  readonly secret: KeptSecret;
  /** The secret before the last rotation, which signs beside the new one until then. */
  readonly previous_secret: KeptSecret | null;
  readonly previous_secret_until: string | null;
  readonly created_utc: string;
  readonly modified_utc: string;
}

/** A webhook. Its secret is null where what is kept of it cannot be opened: nothing is sent until it has a new one. */
export type Subscription = SubscriptionOf<Secret | null>;

/** As `data/system` keeps it: the secrets are sealed, or, from before they were, as they are. */
export type StoredSubscription = SubscriptionOf<string>;

/** As one thread tells it to another. */
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

/** What came of one attempt. */
export interface AttemptResult {
  readonly ok: boolean;
  /** Of the answer; null where there was none. */
  readonly status: number | null;
  /** Why there was no answer, in a few words; null where there was one. */
  readonly error: string | null;
  readonly durationMs: number;
  /** The beginning of the answer's body as text. */
  readonly answer: string;
}

/** A line of the delivery log. */
export interface LoggedAttempt extends AttemptResult {
  readonly deliveryId: string;
  readonly type: string;
  /** 1 for the first. */
  readonly attempt: number;
  readonly atMs: number;
  /** What became of the delivery. */
  readonly outcome: 'delivered' | 'retried' | 'set-aside';
}

/** A delivery that has failed at every attempt and waits for somebody to look at it. */
export interface SetAsideDelivery {
  readonly deliveryId: string;
  readonly type: string;
  readonly attempts: number;
  readonly eventAtMs: number;
  readonly setAsideAtMs: number;
  readonly status: number | null;
  readonly error: string | null;
}

/** The settings that deliveries go by; see `[webhooks]` and `[outbound]` in config/default.toml. */
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
