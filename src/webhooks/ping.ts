/** The event that a webhook's test sends. */
import { asOutboxEvent, type OutboxEvent } from '../platform/index.js';
import { PING, type Subscription } from './types.js';

export function pingEvent({ id, account, url, events }: Subscription, nowMs: number): OutboxEvent {
  return asOutboxEvent(account, { type: PING, id, list: '', data: { url, events } }, nowMs);
}
