/**
 * When keys were used last, to the hour: which one may be deleted is otherwise not to be told. A use is a number in memory; what is new of it goes to
 * disk a few minutes later, a key at most once an hour, many keys in one transaction. A process that is killed forgets those minutes, and a disk that
 * cannot be written is tried again. Main thread only.
 */
import type { Change, Collection, CollectionStore } from '../catalog/index.js';
import type { Clock } from '../platform/index.js';
import { systemTimers, type Timers } from '../platform/work/index.js';

const HOUR_MS = 3_600_000;
/** What a process that is killed forgets at most. */
export const USES_STORED_MS = 300_000;
/** Of keys in one transaction: others have their changes between. */
const STORED_AT_ONCE_MAX = 1000;
/** Beside the ids of keys: since when uses are counted at all. */
const COUNTED_SINCE = 'counted-since';

interface Used {
  readonly id: string;
}

export class KeyUses {
  readonly #store: CollectionStore;
  /** By the id of the key: the hour, counted from 1970; under `COUNTED_SINCE`: milliseconds. */
  readonly #rows: Collection<number>;
  /** Where it is not what is on disk. */
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

  /** Called with each request: a look, and nothing else but for the first in an hour. */
  used({ id }: Used): void {
    const hour = Math.floor(this.#clock.nowMs() / HOUR_MS);
    if (this.#hourOf(id) === hour) return;
    this.#newer.set(id, hour);
    this.#storeSoon();
  }

  /** The beginning of the hour in which the key was used last; null: not since `countedSinceUtc`. */
  lastUsedUtc({ id }: Used): string | null {
    const hour = this.#hourOf(id);
    return hour === undefined ? null : new Date(hour * HOUR_MS).toISOString();
  }

  /** Since when a use of the key would be known: since it was made, or since a release was started that counts. */
  countedSinceUtc({ created_utc }: { readonly created_utc: string }): string {
    return new Date(Math.max(Date.parse(created_utc), this.#countedSinceMs)).toISOString();
  }

  /** Inside the change that removes the key. */
  remove(change: Change, { id }: Used): void {
    this.#newer.delete(id);
    if (this.#rows.has(id)) change.remove(this.#rows, id);
  }

  /** Resolves when all that is known is on disk; rejects where it cannot be written, and knows it still. */
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

  /** Stores what is left; what cannot be is forgotten. */
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
