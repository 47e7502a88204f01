/** The event that a webhook's test sends. */
import { asOutboxEvent, type OutboxEvent } from '../platform/index.js';
import type { Subscription } from './types.js';

export function pingEvent({ id, account, url, events }: Subscription, nowMs: number): OutboxEvent {
  return asOutboxEvent(account, { type: 'webhook.ping', id, list: '', data: { url, events } }, nowMs);
}
