/**
 * The record stores that one worker thread has open: opened at first use, closed when others were used more recently.
 * Belongs to one thread.
 */
import { existsSync } from 'node:fs';
import { environmentsKept } from '../platform/index.js';
import { INITIAL_MAP_BYTES, storePath, type ListStoreOptions } from '../store/index.js';
import { RecordStore } from './record-store.js';

/** Lists whose stores a thread keeps open, where the limits of the process allow it: it keeps those of closed lists, too. */
const STORES_OPEN_MAX = 64;
/** How often stores of deleted lists are looked for: while one is open, its space is not given back. */
const SWEEP_INTERVAL_MS = 10_000;

export class RecordStoreCache {
  /** In the order of use, the least recent first. */
  private readonly stores = new Map<string, RecordStore>();
  /** By a clock that is not set back. */
  private sweptMs = performance.now();

  constructor(private readonly openMax = environmentsKept(INITIAL_MAP_BYTES, STORES_OPEN_MAX)) {}

  /**
   * The store of the list at this path, its reads at the last commit. It stays open until the next call, at least.
   * Throws `list-missing` where there is none, unless it is to be made.
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

  /** Lets go of what reads of the list hold, where its store is still open. */
  refresh(listPath: string): void {
    this.stores.get(listPath)?.refresh();
  }

  /** Lets go of a store that nobody will ask for again: its list is to be removed. */
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
