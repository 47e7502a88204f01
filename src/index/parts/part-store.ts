/**
 * Data of a part of one version in a list's store: which documents belong to which record, and the manifest of their
 * segments. Texts are not stored here: a part is rebuilt from the extracts of the files that its records link to.
 *
 *   attached-v<N>-<part>    record number (u32) → AttachedDocument[] (msgpack); no row if there is none
 *   manifest-v<N>-<part>    the segments; deletions-v<N>-<part>: their outdated documents
 *
 * Thread-safety: as that of the store.
 */
import type { Database } from 'lmdb';
import type { RecordStore } from '../../records/index.js';
import { SegmentManifest, versionSuffix, type PartName } from '../../store/index.js';

/** Documents of one file of a record: `count` documents numbered from `first`, one per page that has text. */
export interface AttachedDocument {
  /** Name of the resource field. */
  readonly field: string;
  /** Value of the field. */
  readonly url: string;
  /** Hash of the file that was read. */
  readonly hash: string;
  readonly first: number;
  readonly count: number;
}

const opened = new WeakMap<RecordStore, Map<string, PartStore>>();

/**
 * Returns the part's store, which is cached per store of this thread: opening databases takes the write lock for a
 * moment.
 */
export function partStore(store: RecordStore, version: number, name: PartName): PartStore {
  const suffix = `${versionSuffix(version)}-${name}`;
  let known = opened.get(store);
  if (known === undefined) opened.set(store, (known = new Map<string, PartStore>()));
  let found = known.get(suffix);
  if (found === undefined) known.set(suffix, (found = new PartStore(store, suffix)));
  return found;
}

export class PartStore extends SegmentManifest {
  private rowsDb: Database<AttachedDocument[], number> | undefined;

  constructor(
    private readonly store: Pick<RecordStore, 'environment'>,
    private readonly databases: string,
  ) {
    super(store.environment.root, databases);
  }

  /** Attached documents by record number. */
  get rows(): Database<AttachedDocument[], number> {
    return (this.rowsDb ??= this.store.environment.database<AttachedDocument[], number>(`attached-${this.databases}`, {
      encoding: 'msgpack',
      keyEncoding: 'uint32',
    }));
  }

  /** Opens all databases; call it before a transaction that uses them. */
  prepare(): this {
    void [this.rows, this.manifest, this.deletions];
    return this;
  }

  /** Returns the documents of a record; empty if it has none. */
  attached(recordNumber: number): readonly AttachedDocument[] {
    return this.rows.get(recordNumber) ?? [];
  }

  /** Replaces the documents of a record, inside a transaction. */
  attach(recordNumber: number, documents: readonly AttachedDocument[]): void {
    if (documents.length === 0) this.rows.removeSync(recordNumber);
    else void this.rows.putSync(recordNumber, [...documents]);
  }
}
