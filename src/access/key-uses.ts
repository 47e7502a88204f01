/**
 * Records when keys were last used, to the hour; otherwise nobody could tell which keys can be deleted. A use is a
 * number in memory. New uses are written to disk a few minutes later, each key at most once an hour, many keys in one
 * transaction. A process that is killed loses those minutes; a failed write is retried. Main thread only.
 */
import type { Change, Collection, CollectionStore } from '../catalog/index.js';
import type { Clock } from '../platform/index.js';
import { systemTimers, type Timers } from '../platform/work/index.js';

const HOUR_MS = 3_600_000;
/** Delay of writing uses, and so the most that a killed process loses. */
export const USES_STORED_MS = 300_000;
/** Number of keys in one transaction; other changes run in between. */
const STORED_AT_ONCE_MAX = 1000;
/** Key of the time since which uses have been recorded, stored among the ids of keys. */
const COUNTED_SINCE = 'counted-since';

interface Used {
  readonly id: string;
}

export class KeyUses {
  readonly #store: CollectionStore;
  /** By the id of the key: the hour, counted from 1970. Under `COUNTED_SINCE`: milliseconds. */
  readonly #rows: Collection<number>;
  /** Uses that are not on disk yet. */
  readonly #newer = new Map<string, number>();
  readonly #countedSinceMs: number;
  readonly #clock: Clock;
  readonly #timers: Timers;
  #cancel: (() => void) | undefined;
  #isClosed = false;

  constructor(store: CollectionStore, clock: Clock, timers: Timers = systemTimers) {
    this.#store = store;
    this.#rows = store.collection('key-uses');
    this.#countedSinceMs = this.#rows.get(COUNTED_SINCE) ?? clock.nowMs();
    this.#clock = clock;
    this.#timers = timers;
  }

  /** Called with each request. Usually only a lookup; records the first use in an hour. */
  used({ id }: Used): void {
    const hour = Math.floor(this.#clock.nowMs() / HOUR_MS);
    if (this.#hourOf(id) === hour) return;
    this.#newer.set(id, hour);
    this.#storeSoon();
  }

  /** Returns the beginning of the hour in which the key was last used; null: not since `countedSinceUtc`. */
  lastUsedUtc({ id }: Used): string | null {
    const hour = this.#hourOf(id);
    return hour === undefined ? null : new Date(hour * HOUR_MS).toISOString();
  }

  /**
   * Returns the time since which uses of the key have been recorded: its creation, or the first start of a release that
   * records them.
   */
  countedSinceUtc({ created_utc }: { readonly created_utc: string }): string {
    return new Date(Math.max(Date.parse(created_utc), this.#countedSinceMs)).toISOString();
  }

  /** Call it inside the change that removes the key. */
  remove(change: Change, { id }: Used): void {
    this.#newer.delete(id);
    if (this.#rows.has(id)) change.remove(this.#rows, id);
  }

  /** Resolves when all uses are on disk. Rejects if they cannot be written; they are kept then. */
  async store(): Promise<void> {
    while (this.#newer.size > 0) {
      const stored = await this.#store.change((change) => {
        if (!this.#rows.has(COUNTED_SINCE)) change.put(this.#rows, COUNTED_SINCE, this.#countedSinceMs);
        const some = [...this.#newer].slice(0, STORED_AT_ONCE_MAX);
        for (const [id, hour] of some) change.put(this.#rows, id, hour);
        return some;
      });
      for (const [id, hour] of stored) if (this.#newer.get(id) === hour) this.#newer.delete(id);
    }
  }

  /** Stores the remaining uses; they are lost if that fails. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel?.();
    await this.store().catch(() => undefined);
  }

  #storeSoon(): void {
    if (this.#isClosed) return;
    this.#cancel ??= this.#timers.after(USES_STORED_MS, () => {
      this.#cancel = undefined;
      this.store().catch(() => {
        this.#storeSoon();
      });
    });
  }

  #hourOf(id: string): number | undefined {
    return this.#newer.get(id) ?? this.#rows.get(id);
  }
}
