/**
 * The outbox of events, which lie there between a change and their delivery (`../work/row-outbox.ts`). The webhook
 * worker moves them into its queue.
 */
import type { Database } from 'lmdb';
import { RowOutbox, type NumberedRow } from '../work/row-outbox.js';

/** An event as its writer describes it. */
export interface EventContent {
  readonly type: string;
  /** Id or name that calls of the API use for the object: id of a record or key, name of a list, group or field. */
  readonly id: string;
  /** Name of the list it happened in; empty if it concerns no single list. */
  readonly list: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A row of the outbox. Receivers get `body` byte by byte. */
export interface OutboxEvent {
  readonly account: string;
  readonly type: string;
  /** Deliveries with the same subject keep their order. */
  readonly subject: string;
  readonly atMs: number;
  readonly body: string;
}

type StoredEvent = [account: string, type: string, subject: string, atMs: number, body: string];

export { FIRST_OUTBOX_ROW, REMOVED_ROWS_MAX } from '../work/row-outbox.js';
export type NumberedEvent = NumberedRow<OutboxEvent>;

/** Name of the database, in the environment that the change is written to. */
export const OUTBOX_DATABASE = 'outbox';

const codec = {
  encode: ({ account, type, subject, atMs, body }: OutboxEvent): StoredEvent => [account, type, subject, atMs, body],
  decode: ([account, type, subject, atMs, body]: StoredEvent): OutboxEvent => ({ account, type, subject, atMs, body }),
  bytesOf: ({ body }: OutboxEvent): number => body.length,
};

export class Outbox extends RowOutbox<OutboxEvent, StoredEvent> {
  constructor(database: Database<StoredEvent, number>) {
    super(database, codec);
  }
}

/**
 * Limit in bytes of one member of the data. Longer members are only named, in `left_out`, since a row is stored in the
 * queue once per webhook.
 */
export const EVENT_MEMBER_BYTES_MAX = 16_384;

export function asOutboxEvent(account: string, content: EventContent, atMs: number): OutboxEvent {
  const { type, id, list, data } = content;
  return { account, type, subject: subjectOf(type, list, id), atMs, body: eventBody(id, list, boundedJson(data)) };
}

function boundedJson(data: EventContent['data']): string {
  const leftOut: string[] = [];
  const told: string[] = [];
  for (const [name, value] of Object.entries(data)) {
    // Undefined if the member has no value.
    const json = JSON.stringify(value) as string | undefined;
    if (json === undefined) continue;
    if (Buffer.byteLength(json) > EVENT_MEMBER_BYTES_MAX) leftOut.push(name);
    else told.push(`${JSON.stringify(name)}:${json}`);
  }
  if (leftOut.length > 0) told.push(`"left_out":${JSON.stringify(leftOut)}`);
  return `{${told.join(',')}}`;
}

/** Returns the body of a delivery; `dataJson` is a JSON object. */
export function eventBody(id: string, list: string, dataJson: string): string {
  return `{"id":${JSON.stringify(id)},"list":${JSON.stringify(list)},"data":${dataJson}}`;
}

/** Returns the subject of an event. All events of one record, key or field have the same subject. */
export function subjectOf(type: string, list: string, id: string): string {
  return `${type.slice(0, type.indexOf('.'))}/${list}/${id}`;
}
