/**
 * The log of delivery attempts for people: the database `log` of `data/queue`.
 *
 *   log   [subscription, number of the entry] → [delivery, type, attempt, time, ms, status, error, answer, outcome]
 *
 * Entries of a subscription are numbered consecutively, so that the oldest and the newest tell how many there are. The
 * first entry of an empty log has the time of its attempt as its number: a page that begins before a number is not to
 * show entries that came after all earlier ones were removed.
 */
import type { Database } from 'lmdb';
import type { LmdbEnvironment } from '../platform/index.js';
import type { LoggedAttempt } from './types.js';

export type LogEntry = LoggedAttempt;
type LogKey = [subscriptionId: string, entry: number];
type StoredEntry = [
  deliveryId: string,
  type: string,
  attempt: number,
  atMs: number,
  durationMs: number,
  status: number | null,
  error: string | null,
  answer: string,
  outcome: LoggedAttempt['outcome'],
];

const END = Number.MAX_SAFE_INTEGER;
/** Maximum number of entries that one transaction removes. */
const CHUNK = 2000;

export interface LogPage {
  /** The newest first. */
  readonly attempts: readonly LoggedAttempt[];
  /** Value of `before` for the next page; undefined on the last. */
  readonly next: number | undefined;
}

export class DeliveryLog {
  private readonly database: Database<StoredEntry, LogKey>;

  constructor(private readonly environment: LmdbEnvironment) {
    this.database = environment.database('log');
  }

  /** Adds attempts, inside a transaction. */
  append(attempts: readonly (readonly [subscriptionId: string, logged: LoggedAttempt])[]): void {
    // Read anew in each transaction, since what an earlier one wrote may not have reached the disk.
    const newest = new Map<string, number>();
    for (const [subscriptionId, logged] of attempts) {
      const { deliveryId, type, attempt, atMs, durationMs, status, error, answer, outcome } = logged;
      const before = newest.get(subscriptionId) ?? this.newest(subscriptionId);
      const entry = before === 0 ? Math.max(1, atMs) : before + 1;
      newest.set(subscriptionId, entry);
      const stored: StoredEntry = [deliveryId, type, attempt, atMs, durationMs, status, error, answer, outcome];
      void this.database.putSync([subscriptionId, entry], stored);
    }
  }

  /** Returns the newest attempts before an entry's number. */
  page(subscriptionId: string, before: number | undefined, size: number): LogPage {
    const start: LogKey = [subscriptionId, before === undefined ? END : before - 1];
    const range = this.database.getRange({ start, end: [subscriptionId, 0], reverse: true, limit: size });
    const entries = Array.from(range);
    const last = entries.at(-1)?.key[1];
    return {
      attempts: entries.map(({ value }) => loggedAttempt(value)),
      next: entries.length === size && last !== undefined && last > this.oldest(subscriptionId) ? last : undefined,
    };
  }

  /** Removes entries older than `oldestMs` or beyond the number of entries to keep. Resolves when that is on disk. */
  async trim(subscriptionId: string, oldestMs: number, entriesMax: number): Promise<void> {
    const firstKept = this.newest(subscriptionId) - entriesMax + 1;
    let isMore = true;
    while (isMore) {
      isMore = await this.environment.transaction(() => {
        const range = { start: [subscriptionId, 0] as LogKey, end: [subscriptionId, END] as LogKey, limit: CHUNK };
        const entries = Array.from(this.database.getRange(range));
        const old = entries.filter(({ key, value }) => key[1] < firstKept || value[3] < oldestMs);
        for (const { key } of old) this.database.removeSync(key);
        return old.length === CHUNK;
      });
    }
  }

  forget(subscriptionId: string): Promise<void> {
    return this.trim(subscriptionId, END, 0);
  }

  has(subscriptionId: string): boolean {
    return this.newest(subscriptionId) > 0;
  }

  subscriptions(): string[] {
    const found: string[] = [];
    for (;;) {
      const [key] = Array.from(this.database.getKeys({ start: [found.at(-1) ?? '', END], limit: 1 }));
      if (key === undefined) return found;
      found.push(key[0]);
    }
  }

  private newest(subscriptionId: string): number {
    const range = {
      start: [subscriptionId, END] as LogKey,
      end: [subscriptionId, 0] as LogKey,
      reverse: true,
      limit: 1,
    };
    for (const [, entry] of this.database.getKeys(range)) return entry;
    return 0;
  }

  private oldest(subscriptionId: string): number {
    const range = { start: [subscriptionId, 0] as LogKey, end: [subscriptionId, END] as LogKey, limit: 1 };
    for (const [, entry] of this.database.getKeys(range)) return entry;
    return 0;
  }
}

function loggedAttempt(stored: StoredEntry): LoggedAttempt {
  const [deliveryId, type, attempt, atMs, durationMs, status, error, answer, outcome] = stored;
  const ok = outcome === 'delivered';
  return { ok, deliveryId, type, attempt, atMs, durationMs, status, error, answer, outcome };
}
