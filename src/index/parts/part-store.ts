/**
 * What a list's store has of a part of one version: which documents are attached to which record, and the manifest of their segments. Texts
 * are not here: a part is made again from the extracts of what its records link to.
 *
 *   attached-v<N>-<part>    record number (u32) → AttachedDocument[] (msgpack); no row where there is none
 *   manifest-v<N>-<part>    which segments there are; deletions-v<N>-<part>: which of their documents are out of date
 *
 * Thread-safety: as that of the store.
 */
import type { Database } from 'lmdb';
import type { RecordStore } from '../../records/index.js';
import { SegmentManifest, versionSuffix, type PartName } from '../../store/index.js';

/** What of a record's file is in the part: documents with the numbers from `first` on, one a page that has text. */
export interface AttachedDocument {
  /** The resource field. */
  readonly field: string;
  /** What the field held. */
  readonly url: string;
  /** Of the file that was read there. */
  readonly hash: string;
  readonly first: number;
  readonly count: number;
}

const opened = new WeakMap<RecordStore, Map<string, PartStore>>();

/** That of this thread's store: opening databases takes the write lock for a moment, so they are opened once. */
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

  /** By the record's number. */
  get rows(): Database<AttachedDocument[], number> {
    return (this.rowsDb ??= this.store.environment.database<AttachedDocument[], number>(`attached-${this.databases}`, {
      encoding: 'msgpack',
      keyEncoding: 'uint32',
    }));
  }

  /** Opens all, before a transaction that uses them. */
  prepare(): this {
    void [this.rows, this.manifest, this.deletions];
    return this;
  }

  /** Of a record; empty where it has none. */
  attached(recordNumber: number): readonly AttachedDocument[] {
    return this.rows.get(recordNumber) ?? [];
  }

  /** Inside a transaction. */
  attach(recordNumber: number, documents: readonly AttachedDocument[]): void {
    if (documents.length === 0) this.rows.removeSync(recordNumber);
    else void this.rows.putSync(recordNumber, [...documents]);
  }
}
