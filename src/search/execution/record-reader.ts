/**
 * Records of the lists of one search, read by number. A record that a writer removed since the generation was published
 * is undefined: its hit is left out. Belongs to one thread.
 */
import { readRecordParts, type RecordStoreCache, type RecordParts, type VersionStore } from '../../records/index.js';
import type { ListContext } from './list-context.js';

export interface RecordReader {
  /** Views that are good until the next read. */
  read(list: ListContext, recordNumber: number): RecordParts | undefined;
}

export class StoreRecordReader implements RecordReader {
  private readonly used = new Set<string>();
  private current: { readonly list: ListContext; readonly store: VersionStore } | undefined;

  constructor(private readonly stores: RecordStoreCache) {}

  read(list: ListContext, recordNumber: number): RecordParts | undefined {
    if (this.current?.list !== list) {
      const { listPath, version } = list.settings;
      this.used.add(listPath);
      this.current = { list, store: this.stores.get(listPath).version(version) };
    }
    const bytes = this.current.store.record(recordNumber);
    return bytes === undefined ? undefined : readRecordParts(bytes);
  }

  /** The next read of each list sees the last commit; no snapshot is held until then. */
  release(): void {
    this.current = undefined;
    // Getting a store lets go of the snapshot that its reads held.
    for (const listPath of this.used) this.stores.get(listPath);
    this.used.clear();
  }
}
