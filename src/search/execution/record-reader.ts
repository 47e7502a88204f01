/**
 * Records of the lists of one search, read by number. A record that a writer removed since the generation was published
 * is undefined: its hit is left out. Belongs to one thread.
 */
import { extractStore, linkedDocuments, type PackedPage } from '../../extracts/index.js';
import {
  readRecordParts,
  type RecordParts,
  type RecordStore,
  type RecordStoreCache,
  type VersionStore,
} from '../../records/index.js';
import type { ListContext } from './list-context.js';

export interface RecordReader {
  /** Views that are good until the next read. */
  read(list: ListContext, recordNumber: number): RecordParts | undefined;
  /** What was read of a file that records of the list link to; undefined where nothing was. */
  readPage(list: ListContext, url: string, page: number): PackedPage | undefined;
  /** What became of the files that a record with these fields links to. What `read` returned is not good any more. */
  readResources(list: ListContext, fields: Readonly<Record<string, unknown>>): readonly ReadResource[];
}

/** As an explanation tells it. */
export interface ReadResource {
  readonly field: string;
  readonly url: string;
  readonly state: 'pending' | 'read' | 'failed';
  readonly page_count: number;
  readonly error?: string;
  readonly detail?: string;
}

export class StoreRecordReader implements RecordReader {
  private readonly used = new Set<string>();
  private current:
    { readonly list: ListContext; readonly store: RecordStore; readonly records: VersionStore } | undefined;

  constructor(private readonly stores: RecordStoreCache) {}

  read(list: ListContext, recordNumber: number): RecordParts | undefined {
    const bytes = this.storeOf(list).records.record(recordNumber);
    return bytes === undefined ? undefined : readRecordParts(bytes);
  }

  readPage(list: ListContext, url: string, page: number): PackedPage | undefined {
    return extractStore(this.storeOf(list).store).page(url, page);
  }

  readResources(list: ListContext, fields: Readonly<Record<string, unknown>>): ReadResource[] {
    const extracts = extractStore(this.storeOf(list).store);
    return linkedDocuments(list.settings.definition, fields).map(({ field, url }) => {
      const { state = 'pending', text, fault } = extracts.outline({ kind: 'document', url }) ?? {};
      const failure = fault === undefined ? {} : { error: fault.error, detail: fault.detail };
      return { field, url, state, page_count: text?.pageCount ?? 0, ...failure };
    });
  }

  private storeOf(list: ListContext): { readonly store: RecordStore; readonly records: VersionStore } {
    if (this.current?.list !== list) {
      const { listPath, version } = list.settings;
      this.used.add(listPath);
      const store = this.stores.get(listPath);
      this.current = { list, store, records: store.version(version) };
    }
    return this.current;
  }

  /** The next read of each list sees the last commit; no snapshot is held until then. */
  release(): void {
    this.current = undefined;
    // Refreshing a store lets go of the snapshot that its reads held.
    for (const listPath of this.used) this.stores.refresh(listPath);
    this.used.clear();
  }
}
