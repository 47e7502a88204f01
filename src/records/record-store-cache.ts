/**
 * Record stores that one worker thread has open. Opened on first use; the least recently used are closed. Belongs to
 * one thread.
 */
import { existsSync } from 'node:fs';
import { environmentsKept } from '../platform/index.js';
import { INITIAL_MAP_BYTES, storePath, type ListStoreOptions } from '../store/index.js';
import { RecordStore } from './record-store.js';

/** Maximum number of open stores, if the limits of the process allow it; includes those of closed lists. */
const STORES_OPEN_MAX = 64;
/** Interval of looking for stores of deleted lists, whose disk space is not freed while they are open. */
const SWEEP_INTERVAL_MS = 10_000;

export class RecordStoreCache {
  /** In the order of use, least recent first. */
  private readonly stores = new Map<string, RecordStore>();
  /** Time of the last sweep, on a monotonic clock. */
  private sweptMs = performance.now();

  constructor(private readonly openMax = environmentsKept(INITIAL_MAP_BYTES, STORES_OPEN_MAX)) {}

  /**
   * Returns the store of the list at this path, with reads at the last commit. It stays open at least until the next
   * call. Throws `list-missing` if there is none, unless `create` is set.
   */
  get(listPath: string, options: ListStoreOptions = {}): RecordStore {
    this.sweep();
    let store = this.stores.get(listPath);
    if (store === undefined) {
      store = new RecordStore(listPath, options);
      this.evict();
    } else {
      this.stores.delete(listPath);
    }
    this.stores.set(listPath, store);
    store.refresh();
    return store;
  }

  /** Ends the list's current read transaction, if its store is open. */
  refresh(listPath: string): void {
    this.stores.get(listPath)?.refresh();
  }

  /** Closes the store of a list that is going to be removed. */
  release(listPath: string): void {
    const store = this.stores.get(listPath);
    this.stores.delete(listPath);
    void store?.close();
  }

  async close(): Promise<void> {
    const stores = [...this.stores.values()];
    this.stores.clear();
    await Promise.all(stores.map((store) => store.close()));
  }

  private evict(): void {
    for (const [listPath, store] of this.stores) {
      if (this.stores.size < this.openMax) return;
      this.stores.delete(listPath);
      void store.close();
    }
  }

  private sweep(): void {
    const now = performance.now();
    if (now - this.sweptMs < SWEEP_INTERVAL_MS) return;
    this.sweptMs = now;
    for (const [listPath, store] of this.stores) {
      if (existsSync(storePath(listPath))) continue;
      this.stores.delete(listPath);
      void store.close();
    }
  }
}
