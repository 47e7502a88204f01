/** Ids of deliveries, derived from what they deliver, so that moving an event twice creates no second delivery. */
import { createHash } from 'node:crypto';

const VERSION_CUSTOM = 0x80;
const VARIANT_RFC9562 = 0x80;

/** A row of an outbox: its number, and the time of its event. */
export interface EventRow {
  readonly row: number;
  readonly atMs: number;
}

/**
 * Returns a UUIDv8 (RFC 9562) of the row of an outbox and the subscription that it goes to. The time is part of it,
 * since numbers come again after a backup was restored: receivers would take the new event for the one that they had.
 */
export function deliveryId(sourceId: string, { row, atMs }: EventRow, subscriptionId: string): string {
  const bytes = createHash('sha256').update(`${sourceId}/${row}/${atMs}/${subscriptionId}`).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] as number) & 0x0f) | VERSION_CUSTOM;
  bytes[8] = ((bytes[8] as number) & 0x3f) | VARIANT_RFC9562;
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
