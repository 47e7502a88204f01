/**
 * The vectors of one version of a list in one space (`VectorSpace`), beside its records in the list's store.
 *
 *   vectors-v<N>-s<M>     record number (u32) → vector-codec bytes
 *   manifest-v<N>-s<M>    the segments of vectors; deletions-v<N>-s<M>: their outdated vectors
 *
 * Thread-safety: as that of the store.
 */
import type { Database } from 'lmdb';
import type { RecordStore } from '../records/index.js';
import { SegmentManifest, versionSuffix } from '../store/index.js';

const opened = new WeakMap<RecordStore, Map<string, SpaceStore>>();

/**
 * Returns the space's store, which is cached per store of this thread: opening databases takes the write lock for a
 * moment.
 */
export function spaceStore(store: RecordStore, version: number, space: number): SpaceStore {
  const suffix = versionSuffix(version, space);
  let known = opened.get(store);
  if (known === undefined) opened.set(store, (known = new Map<string, SpaceStore>()));
  let found = known.get(suffix);
  if (found === undefined) known.set(suffix, (found = new SpaceStore(store, version, space)));
  return found;
}

export class SpaceStore extends SegmentManifest {
  private vectorsDb: Database<Buffer, number> | undefined;
  private readonly databases: string;

  constructor(
    private readonly store: Pick<RecordStore, 'environment' | 'hasDatabase'>,
    readonly version: number,
    readonly space: number,
  ) {
    const suffix = versionSuffix(version, space);
    super(store.environment.root, suffix);
    this.databases = suffix;
  }

  /** False if this version never had vectors in the space; no database is opened to find out. */
  get exists(): boolean {
    return this.store.hasDatabase(`vectors-${this.databases}`);
  }

  get vectors(): Database<Buffer, number> {
    return (this.vectorsDb ??= this.store.environment.database<Buffer, number>(`vectors-${this.databases}`, {
      encoding: 'binary',
      keyEncoding: 'uint32',
    }));
  }

  /** Opens all databases; call it before a transaction that uses them. */
  prepare(): this {
    void [this.vectors, this.manifest, this.deletions];
    return this;
  }

  /** Number of records that have vectors, without reading them. */
  count(): number {
    return (this.vectors.getStats() as { readonly entryCount: number }).entryCount;
  }

  /** Returns the bytes of a record's vectors, valid until the next read from any database of this thread. */
  get(recordNumber: number): Buffer | undefined {
    return this.vectors.getBinaryFast(recordNumber);
  }

  put(recordNumber: number, bytes: Uint8Array): void {
    void this.vectors.putSync(recordNumber, bytes as Buffer);
  }

  remove(recordNumber: number): void {
    this.vectors.removeSync(recordNumber);
  }

  /**
   * Empties the databases, inside a transaction and after `prepare`. Other threads may still be reading an earlier
   * state.
   */
  clear(): void {
    for (const database of [this.vectors, this.manifest, this.deletions]) database.clearSync();
  }

  /** Deletes the databases. No thread may use the space any more. */
  drop(): void {
    this.prepare();
    for (const database of [this.vectors, this.manifest, this.deletions]) database.dropSync();
  }
}
