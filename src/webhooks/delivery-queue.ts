/**
 * What is to be delivered and what became of it: the LMDB environment `data/queue`.
 *
 *   deliveries   [subscription, number] → [id, type, account, subject, event time, body]; from the move to the end
 *   schedule     [subscription, due, number] → [failed attempts so far, subject]; exactly those deliveries that will be tried
 *   set-aside    [subscription, number] → SetAsideDelivery; exactly those that will not, until somebody replays them
 *   marks        source → last row of its outbox that was moved here
 *   meta         'next-number' → number of the next delivery
 *
 * The rows of a source and its mark are written in one transaction, so that a row is moved once, also across a crash.
 * A method that writes resolves when that is on disk. One writer: the webhook worker's thread.
 */
import type { Database } from 'lmdb';
import { openEnvironment, type EventType, type LmdbEnvironment } from '../platform/index.js';
import { DeliveryLog, type LogEntry } from './delivery-log.js';
import type { Delivery, NewDelivery, SetAsideDelivery } from './types.js';

type DeliveryKey = [subscriptionId: string, number: number];
type ScheduleKey = [subscriptionId: string, dueMs: number, number: number];
type StoredDelivery = [id: string, type: EventType, account: string, subject: string, atMs: number, body: string];

/** A delivery at its place in the schedule. */
export interface Scheduled {
  readonly subscriptionId: string;
  readonly number: number;
  readonly dueMs: number;
  /** Failed attempts so far. */
  readonly attempts: number;
  readonly subject: string;
}

/** What became of an attempt; `scheduled` is the place that the delivery had. */
export interface Settlement {
  readonly scheduled: Scheduled;
  readonly log: LogEntry;
  readonly next:
    | { readonly kind: 'delivered' }
    | { readonly kind: 'retried'; readonly dueMs: number; readonly attempts: number }
    | { readonly kind: 'set-aside'; readonly row: SetAsideDelivery };
}

/** Above every number and time, for the ends of ranges. */
const END = Number.MAX_SAFE_INTEGER;
/** Deliveries that one transaction removes or replays. */
const CHUNK = 2000;
const NEXT_NUMBER = 'next-number';

export class DeliveryQueue {
  readonly log: DeliveryLog;
  private readonly environment: LmdbEnvironment;
  private readonly deliveries: Database<StoredDelivery, DeliveryKey>;
  private readonly schedule: Database<[attempts: number, subject: string], ScheduleKey>;
  private readonly setAside: Database<SetAsideDelivery, DeliveryKey>;
  private readonly marks: Database<number, string>;
  private readonly meta: Database<number, string>;
  private nextNumber: number;

  constructor(path: string) {
    this.environment = openEnvironment(path, { kind: 'queue' });
    this.deliveries = this.environment.database('deliveries');
    this.schedule = this.environment.database('schedule');
    this.setAside = this.environment.database('set-aside');
    this.marks = this.environment.database('marks');
    this.meta = this.environment.database('meta');
    this.log = new DeliveryLog(this.environment);
    this.nextNumber = this.meta.get(NEXT_NUMBER) ?? 1;
  }

  /** The last row of the source's outbox that was moved; 0 for none. */
  mark(sourceId: string): number {
    return this.marks.get(sourceId) ?? 0;
  }

  /** Takes what was made of the rows up to `lastRow` of the source, due now. */
  moveIn(sourceId: string, lastRow: number, deliveries: readonly NewDelivery[], nowMs: number): Promise<void> {
    return this.environment.transaction(() => {
      this.put(deliveries, nowMs);
      void this.marks.putSync(sourceId, lastRow);
    });
  }

  /** Takes a delivery that comes out of no outbox, due now. */
  add(delivery: NewDelivery, nowMs: number): Promise<void> {
    return this.environment.transaction(() => {
      this.put([delivery], nowMs);
    });
  }

  private put(deliveries: readonly NewDelivery[], nowMs: number): void {
    for (const { id, subscriptionId, event } of deliveries) {
      const { type, account, subject, atMs, body } = event;
      const number = this.nextNumber++;
      void this.deliveries.putSync([subscriptionId, number], [id, type, account, subject, atMs, body]);
      void this.schedule.putSync([subscriptionId, nowMs, number], [0, subject]);
    }
    void this.meta.putSync(NEXT_NUMBER, this.nextNumber);
  }

  /** What is due by `nowMs` behind that place of the subscription's schedule, at most `count`. */
  due(subscriptionId: string, behind: Scheduled | undefined, nowMs: number, count: number): Scheduled[] {
    // What was settled a moment ago must not be read again.
    this.environment.root.resetReadTxn();
    const start: ScheduleKey = [subscriptionId, behind?.dueMs ?? 0, behind === undefined ? 0 : behind.number + 1];
    const range = this.schedule.getRange({ start, end: [subscriptionId, nowMs + 1, 0], limit: count });
    return Array.from(range, ({ key: [, dueMs, number], value: [attempts, subject] }) => {
      return { subscriptionId, dueMs, number, attempts, subject };
    });
  }

  /** When the first delivery behind that time becomes due; undefined for never. */
  nextDueMs(subscriptionId: string, afterMs: number): number | undefined {
    const start: ScheduleKey = [subscriptionId, afterMs + 1, 0];
    const end: ScheduleKey = [subscriptionId, END, END];
    for (const [, dueMs] of this.schedule.getKeys({ start, end, limit: 1 })) return dueMs;
    return undefined;
  }

  delivery(subscriptionId: string, number: number): Delivery | undefined {
    const stored = this.deliveries.get([subscriptionId, number]);
    if (stored === undefined) return undefined;
    const [id, type, account, subject, atMs, body] = stored;
    return { id, subscriptionId, number, event: { account, type, subject, atMs, body } };
  }

  /** Records attempts and what follows from them. A delivery that was forgotten meanwhile stays so. */
  settle(settlements: readonly Settlement[]): Promise<void> {
    return this.environment.transaction(() => {
      for (const { scheduled, log, next } of settlements) {
        const { subscriptionId, dueMs, number, subject } = scheduled;
        if (!this.schedule.removeSync([subscriptionId, dueMs, number])) continue;
        this.log.append(subscriptionId, log);
        if (next.kind === 'delivered') this.deliveries.removeSync([subscriptionId, number]);
        else if (next.kind === 'set-aside') void this.setAside.putSync([subscriptionId, number], next.row);
        else void this.schedule.putSync([subscriptionId, next.dueMs, number], [next.attempts, subject]);
      }
    });
  }

  /** Set-aside deliveries in their order, from the one behind `afterNumber` on. */
  setAsidePage(subscriptionId: string, afterNumber: number, size: number): { number: number; row: SetAsideDelivery }[] {
    const start: DeliveryKey = [subscriptionId, afterNumber + 1];
    const range = this.setAside.getRange({ start, end: [subscriptionId, END], limit: size });
    return Array.from(range, ({ key, value }) => ({ number: key[1], row: value }));
  }

  setAsideCount(subscriptionId: string): number {
    return this.setAside.getKeysCount({ start: [subscriptionId, 0], end: [subscriptionId, END] });
  }

  /** Makes set-aside deliveries due again, all or those with these ids, their attempts from the start. Resolves with how many. */
  async replay(subscriptionId: string, ids: ReadonlySet<string> | undefined, nowMs: number): Promise<number> {
    let replayed = 0;
    let after = 0;
    for (;;) {
      const page = this.setAsidePage(subscriptionId, after, CHUNK);
      const last = page.at(-1);
      if (last === undefined) return replayed;
      after = last.number;
      const chosen = page.filter(({ row }) => ids?.has(row.deliveryId) ?? true);
      await this.environment.transaction(() => {
        for (const { number } of chosen) {
          if (!this.setAside.removeSync([subscriptionId, number])) continue;
          const subject = this.deliveries.get([subscriptionId, number])?.[3] ?? '';
          void this.schedule.putSync([subscriptionId, nowMs, number], [0, subject]);
          replayed += 1;
        }
      });
    }
  }

  /** Everything of a subscription that is gone, its log included. */
  async forget(subscriptionId: string): Promise<void> {
    for (const database of [this.schedule, this.setAside, this.deliveries] as Database<unknown, DeliveryKey>[]) {
      await this.removeAll(database, subscriptionId);
    }
    await this.log.forget(subscriptionId);
  }

  private async removeAll(database: Database<unknown, DeliveryKey>, subscriptionId: string): Promise<void> {
    let removed: number;
    do {
      removed = await this.environment.transaction(() => {
        const start: DeliveryKey = [subscriptionId, 0];
        const end: DeliveryKey = [subscriptionId, END];
        const keys = Array.from(database.getKeys({ start, end, limit: CHUNK }));
        for (const key of keys) database.removeSync(key);
        return keys.length;
      });
    } while (removed > 0);
  }

  /** Of everything that is here, known or not any more. */
  subscriptions(): string[] {
    const found: string[] = [];
    for (;;) {
      const start: DeliveryKey = [found.at(-1) ?? '', END];
      const [key] = Array.from(this.deliveries.getKeys({ start, limit: 1 }));
      if (key === undefined) return [...new Set([...found, ...this.log.subscriptions()])];
      found.push(key[0]);
    }
  }

  /** Deliveries that wait, are under way or set aside, of all subscriptions. */
  get size(): number {
    return (this.deliveries.getStats() as { readonly entryCount: number }).entryCount;
  }

  /** Forgets the mark of an outbox that is gone. */
  dropMark(sourceId: string): Promise<void> {
    return this.environment.transaction(() => void this.marks.removeSync(sourceId));
  }

  close(): Promise<void> {
    return this.environment.close();
  }
}
