/**
 * Events between a change and their delivery. A row is written in the transaction of the change that it tells of, so that
 * there is neither a change without its event nor an event without its change; the webhook worker moves rows on into its
 * queue and remembers how far it came, and a later transaction of the writer removes what was moved.
 *
 * Rows of one outbox are numbered from 1 without reuse; whoever writes keeps the next number with its own state.
 * Thread-safety: an Outbox belongs to one thread; one thread writes, another may read.
 */
import type { Database } from 'lmdb';
import type { EventType } from './event-types.js';

/** What happened, as the writers of events say it. */
export interface EventContent {
  readonly type: EventType;
  /** By which the thing is known in calls of the API: id of a record or key, name of a list, group or field. */
  readonly id: string;
  /** Name of the list that it happened in; empty where it is no matter of one list. */
  readonly list: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A row. The body is what receivers get, byte by byte. */
export interface OutboxEvent {
  readonly account: string;
  readonly type: EventType;
  /** Deliveries of one subject keep their order. */
  readonly subject: string;
  readonly atMs: number;
  readonly body: string;
}

type StoredEvent = [account: string, type: EventType, subject: string, atMs: number, body: string];

export interface NumberedEvent {
  readonly row: number;
  readonly event: OutboxEvent;
}

/** Name of the database, in the environment of whoever writes. */
export const OUTBOX_DATABASE = 'outbox';
export const FIRST_OUTBOX_ROW = 1;
/** Rows that one transaction removes; bounds what a small write pays for a large deletion before it. */
const REMOVED_ROWS_MAX = 10_000;

export class Outbox {
  constructor(private readonly database: Database<StoredEvent, number>) {}

  /** Inside the transaction of the change. Returns the next number. */
  append(firstRow: number, events: readonly OutboxEvent[]): number {
    let row = firstRow;
    for (const { account, type, subject, atMs, body } of events) {
      void this.database.putSync(row, [account, type, subject, atMs, body]);
      row += 1;
    }
    return row;
  }

  /** Inside a transaction of the writer: removes rows up to this number that are in the queue already. */
  removeMoved(lastRow: number): void {
    const moved = Array.from(this.database.getKeys({ start: 0, end: lastRow + 1, limit: REMOVED_ROWS_MAX }));
    for (const row of moved) this.database.removeSync(row);
  }

  /** The rows behind this number in their order, as many as fit both bounds and at least one where there is one. */
  *read(afterRow: number, bytesMax: number): Generator<NumberedEvent> {
    let bytes = 0;
    for (const { key, value } of this.database.getRange({ start: afterRow + 1 })) {
      const [account, type, subject, atMs, body] = value;
      bytes += body.length;
      yield { row: key, event: { account, type, subject, atMs, body } };
      if (bytes >= bytesMax) return;
    }
  }
}

export function asOutboxEvent(account: string, content: EventContent, atMs: number): OutboxEvent {
  const { type, id, list, data } = content;
  return { account, type, subject: subjectOf(type, list, id), atMs, body: eventBody(id, list, JSON.stringify(data)) };
}

/** The body of a delivery; `dataJson` is a JSON object. */
export function eventBody(id: string, list: string, dataJson: string): string {
  return `{"id":${JSON.stringify(id)},"list":${JSON.stringify(list)},"data":${dataJson}}`;
}

/** Everything about one record, key or field has one subject, whatever happens to it. */
export function subjectOf(type: EventType, list: string, id: string): string {
  return `${type.slice(0, type.indexOf('.'))}/${list}/${id}`;
}
