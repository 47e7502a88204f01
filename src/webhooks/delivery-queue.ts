/**
 * Pending deliveries and their outcomes: the LMDB environment `data/queue`. It contains the work itself
 * (`delivery-work.ts`), and
 *
 *   log          attempts, for people (`delivery-log.ts`)
 *   marks        source → last row of its outbox that was moved here
 *
 * The rows of a source and its mark are written in one transaction, so that a row is moved once, even across a crash.
 * Writes are on disk when a method resolves. One writer: the webhook worker's thread.
 */
import type { Database } from 'lmdb';
import { openEnvironment, type LmdbEnvironment } from '../platform/index.js';
import { WorkQueue, type NewWork, type Settlement } from '../platform/work/index.js';
import { DeliveryLog } from './delivery-log.js';
import { QUEUE_FORMAT } from './queue-format.js';
import { DELIVERIES, type DeliveryItem, type DeliveryTypes } from './delivery-work.js';
import type { SetAsideDelivery } from './types.js';

export class DeliveryQueue {
  readonly work: WorkQueue<DeliveryTypes>;
  readonly log: DeliveryLog;
  private readonly environment: LmdbEnvironment;
  private readonly marks: Database<number, string>;

  constructor(path: string) {
    this.environment = openEnvironment(path, { kind: QUEUE_FORMAT });
    try {
      this.work = new WorkQueue(this.environment, DELIVERIES);
      this.marks = this.environment.database('marks');
      this.log = new DeliveryLog(this.environment);
    } catch (error) {
      // So that the next opening maps the file anew.
      void this.environment.close();
      throw error;
    }
  }

  /** Returns the last row of the source's outbox that was moved; 0 for none. */
  mark(sourceId: string): number {
    return this.marks.get(sourceId) ?? 0;
  }

  /** Adds the deliveries made of the rows up to `lastRow` of the source, due at `dueMs`. */
  moveIn(
    sourceId: string,
    lastRow: number,
    deliveries: readonly NewWork<DeliveryItem>[],
    dueMs: number,
  ): Promise<void> {
    return this.environment.transaction(() => {
      this.work.put(deliveries, dueMs);
      void this.marks.putSync(sourceId, lastRow);
    });
  }

  /** Adds a delivery that comes from no outbox. */
  add(delivery: NewWork<DeliveryItem>, dueMs: number): Promise<void> {
    return this.environment.transaction(() => {
      this.work.put([delivery], dueMs);
    });
  }

  /** Records attempts and their outcomes. A delivery that was removed meanwhile stays removed. */
  settle(settlements: readonly Settlement<DeliveryTypes>[]): Promise<void> {
    return this.environment.transaction(() => {
      this.log.append(
        this.work
          .settle(settlements)
          .flatMap(({ scheduled, note }) => (note === null ? [] : [[scheduled.lane, note] as const])),
      );
    });
  }

  /** Makes deliveries that were set aside due again, with no attempts counted. Resolves with their number. */
  replay(subscriptionId: string, isMeant: (delivery: SetAsideDelivery) => boolean, nowMs: number): Promise<number> {
    return this.work.replay(subscriptionId, isMeant, nowMs);
  }

  /** Removes everything of a subscription that is gone, including its log. */
  async forget(subscriptionId: string): Promise<void> {
    await this.work.forget(subscriptionId);
    await this.log.forget(subscriptionId);
  }

  /** True if there is anything of a subscription, including its log. */
  has(subscriptionId: string): boolean {
    return this.work.has(subscriptionId) || this.log.has(subscriptionId);
  }

  /** Removes the mark of an outbox that is gone. */
  dropMark(sourceId: string): Promise<void> {
    return this.environment.transaction(() => void this.marks.removeSync(sourceId));
  }

  close(): Promise<void> {
    return this.environment.close();
  }
}
