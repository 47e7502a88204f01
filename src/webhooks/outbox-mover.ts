/**
 * Moves events from outboxes into the queue: one source at a time, in pieces, each row once. Which subscriptions an event goes
 * to is decided here, by those that exist now; one that was made after the event is not told of it. One thread only.
 */
import {
  openEnvironment,
  Outbox,
  OUTBOX_DATABASE,
  type EventType,
  type LmdbEnvironment,
  type NumberedEvent,
  type OutboxSource,
} from '../platform/index.js';
import { hasStore, RecordStoreCache } from '../records/index.js';
import { deliveryId } from './delivery-id.js';
import type { DeliveryQueue } from './delivery-queue.js';
import type { NewDelivery, Subscription, Timers } from './types.js';

/** Of one transaction; bounds what is in memory and how long deliveries wait for it. */
const ROWS_AT_ONCE = 500;
const BYTES_AT_ONCE = 4 * 2 ** 20;
const RETRY_MS = 1000;

export interface OutboxMoverOptions {
  readonly queue: DeliveryQueue;
  readonly timers: Timers;
  /** The subscriptions of an account that want this type. */
  readonly subscribers: (account: string, type: EventType) => readonly Subscription[];
  /** Rows of the source up to this one are in the queue, these deliveries among them. */
  readonly onMoved: (source: OutboxSource, lastRow: number, deliveries: readonly NewDelivery[]) => void;
  readonly onFailure: (source: OutboxSource, error: unknown) => void;
}

export class OutboxMover {
  private readonly stores = new RecordStoreCache();
  private system: { readonly environment: LmdbEnvironment; readonly outbox: Outbox } | undefined;
  private readonly pending = new Map<string, OutboxSource>();
  private running: Promise<void> | undefined;
  private stopped = false;

  constructor(private readonly options: OutboxMoverOptions) {}

  /** The source has rows. */
  wake(source: OutboxSource): void {
    this.pending.set(source.id, source);
    this.running ??= this.run();
  }

  /** Resolves when every row of the source is in the queue; its mark and its environment are let go then. */
  async drain(source: OutboxSource): Promise<void> {
    this.pending.delete(source.id);
    while (this.running !== undefined) await this.running;
    this.assertOpen(source);
    this.running = this.move(source).finally(() => {
      this.running = undefined;
      if (this.pending.size > 0) this.running = this.run();
    });
    await this.running;
    this.assertOpen(source);
    this.stores.release(source.path);
    await this.options.queue.dropMark(source.id);
  }

  /** Nothing more is moved; resolves when nothing is open. */
  async close(): Promise<void> {
    this.stopped = true;
    await this.running?.catch(() => undefined);
    await this.stores.close();
    await this.system?.environment.close();
  }

  private assertOpen(source: OutboxSource): void {
    if (this.stopped) throw new Error(`the events of ${source.id} are moved after the next start`);
  }

  private async run(): Promise<void> {
    for (const [id, source] of this.pending) {
      if (this.stopped) break;
      this.pending.delete(id);
      try {
        await this.move(source);
      } catch (error) {
        this.options.onFailure(source, error);
        this.options.timers.after(RETRY_MS, () => {
          if (!this.stopped) this.wake(source);
        });
      }
    }
    this.running = undefined;
  }

  private async move(source: OutboxSource): Promise<void> {
    const { queue, timers, onMoved } = this.options;
    let after = queue.mark(source.id);
    while (!this.stopped) {
      const rows = this.rowsBehind(source, after);
      const last = rows.at(-1);
      if (last === undefined) break;
      const deliveries = rows.flatMap((row) => this.deliveriesOf(source, row));
      await queue.moveIn(source.id, last.row, deliveries, timers.nowMs());
      after = last.row;
      onMoved(source, after, deliveries);
    }
  }

  private rowsBehind(source: OutboxSource, row: number): NumberedEvent[] {
    const rows: NumberedEvent[] = [];
    for (const numbered of this.outboxOf(source)?.read(row, BYTES_AT_ONCE) ?? []) {
      rows.push(numbered);
      if (rows.length >= ROWS_AT_ONCE) break;
    }
    return rows;
  }

  /** At its last commit. Undefined where the source is gone. */
  private outboxOf({ kind, path }: OutboxSource): Outbox | undefined {
    if (kind === 'list') return hasStore(path) ? this.stores.get(path).outbox : undefined;
    this.system ??= openSystem(path);
    this.system.environment.root.resetReadTxn();
    return this.system.outbox;
  }

  private deliveriesOf(source: OutboxSource, { row, event }: NumberedEvent): NewDelivery[] {
    return this.options
      .subscribers(event.account, event.type)
      .filter(({ created_utc }) => Date.parse(created_utc) <= event.atMs)
      .map(({ id }) => ({ id: deliveryId(source.id, row, id), subscriptionId: id, event }));
  }
}

/** Once: opening a database takes the write lock, for which the thread would wait while a change is being written. */
function openSystem(path: string): { readonly environment: LmdbEnvironment; readonly outbox: Outbox } {
  const environment = openEnvironment(path, { kind: 'system' });
  return { environment, outbox: new Outbox(environment.database(OUTBOX_DATABASE)) };
}
