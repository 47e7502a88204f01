/**
 * Headers of a delivery. The same body has two signatures: the service's own (`X-Service-Signature`: lower-case hex
 * over `timestamp.body`) and that of the Standard Webhooks specification (`webhook-signature`: base64 over
 * `id.timestamp.body`).
 *
 * While two secrets are in force, `X-Service-Signature` uses the new one, since receivers compare the whole header;
 * `X-Service-Signature-Previous` uses the old one. `webhook-signature` lists both, separated by a space.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { Secret } from '../platform/index.js';
import type { DeliveryItem } from './delivery-work.js';
import type { Subscription } from './types.js';

const SECRET_BYTES = 32;

/** Returns the base64 text of 32 random bytes. */
export function newSecret(): Secret {
  return new Secret(randomBytes(SECRET_BYTES).toString('base64'));
}

/** Returns the secrets that sign at this time, the newest first; none if the newest cannot be opened. */
export function secretsInForce(subscription: Subscription, nowMs: number): readonly Secret[] {
  const { secret, previous_secret: previous, previous_secret_until: until } = subscription;
  if (secret === null) return [];
  const isPreviousGood = previous !== null && until !== null && nowMs < Date.parse(until);
  return isPreviousGood ? [secret, previous] : [secret];
}

/** Returns all headers of one attempt, signed at `nowMs`. */
export function deliveryHeaders(
  delivery: DeliveryItem,
  secrets: readonly Secret[],
  nowMs: number,
): Record<string, string> {
  const { id, event } = delivery;
  const timestamp = String(Math.floor(nowMs / 1000));
  const keys = secrets.map((secret) => Buffer.from(secret.reveal(), 'base64'));
  const [own, previous] = keys.map((key) => `sha256=${sign(key, `${timestamp}.`, event.body, 'hex')}`);
  return {
    'content-type': 'application/json',
    'user-agent': 'Gannet-Webhooks',
    'x-service-event': event.type,
    'x-service-delivery': id,
    'x-service-timestamp': timestamp,
    'x-service-signature': own ?? '',
    ...(previous === undefined ? {} : { 'x-service-signature-previous': previous }),
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': keys.map((key) => `v1,${sign(key, `${id}.${timestamp}.`, event.body, 'base64')}`).join(' '),
  };
}

function sign(key: Buffer, prefix: string, body: string, encoding: 'hex' | 'base64'): string {
  return createHmac('sha256', key).update(prefix).update(body).digest(encoding);
}
