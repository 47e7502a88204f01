/**
 * Collects the changes that one commit makes to the vectors of one version in one space: vectors to put and to remove,
 * and records to be embedded. They are written in the transaction of the records. Belongs to one task of one thread.
 */
import type { Kernel } from '../../../native-bindings/index.js';
import type { FieldDefinition } from '../../catalog/index.js';
import type { FieldValue, GivenVectors, RecordStore, StoredRecord } from '../../records/index.js';
import type { VectorSpace } from '../../store/index.js';
import {
  copyOfVectors,
  embeddingLane,
  embeddingQueue,
  encodeVectors,
  hasEmbeddingQueue,
  hashOfVectors,
  spaceStore,
  subjectOfRecord,
  textHash,
  textOfRecord,
  type EmbeddingQueue,
  type SpaceStore,
} from '../../vectors/index.js';

import type { UnindexedVectors, VectorIndexChange, VectorIndexView } from '../contract/ingest-tasks.js';
import { VectorChanges } from './vector-changes.js';

export interface SpaceCommitOptions {
  readonly kernel: Kernel;
  readonly store: RecordStore;
  readonly version: number;
  /** Index of these vectors to keep up to date; undefined if there is none. */
  readonly index: VectorIndexView | undefined;
  /** Returns the space in its present state, because the first vectors of a commit may determine its dimensions. */
  readonly space: () => VectorSpace;
  readonly definition: FieldDefinition;
  readonly nowMs: number;
  /** First record number that is new in this commit. */
  readonly firstNewRecord: number;
}

/** A record as it will be stored. */
export interface WrittenRecord {
  readonly stored: StoredRecord;
  readonly fields: Readonly<Record<string, FieldValue>>;
  /** Undefined: the record keeps the vectors that it has. */
  readonly vectors: GivenVectors | undefined;
}

export class SpaceCommit {
  readonly vectors: SpaceStore;
  private readonly changes: VectorChanges;
  private readonly wanted = new Set<number>();
  private readonly queue: EmbeddingQueue | undefined;
  private readonly lane: string;

  constructor(private readonly options: SpaceCommitOptions) {
    const { store, version } = options;
    const space = options.space();
    this.vectors = spaceStore(store, version, space.number).prepare();
    this.lane = embeddingLane(version, space.number);
    const { kernel, index, firstNewRecord } = options;
    const view = index?.space === space.number ? index : undefined;
    const { listPath } = store;
    this.changes = new VectorChanges({ kernel, listPath, vectors: this.vectors, view, firstNewRecord });
    const isQueued = space.source === 'embedder' && (space.state !== 'resting' || hasEmbeddingQueue(store));
    this.queue = isQueued ? embeddingQueue(store) : undefined;
  }

  get space(): VectorSpace {
    return this.options.space();
  }

  /** Writes the segment of the new vectors, which is not in a manifest yet. Throws KernelError. */
  buildSegment(): void {
    this.changes.buildSegment();
  }

  /** Change of the index, after the transaction. */
  get change(): VectorIndexChange | undefined {
    return this.changes.change;
  }

  /** Changed records, if there is no index to keep up to date. */
  get unindexed(): UnindexedVectors[] {
    return this.changes.unindexed;
  }

  /** Removes the segment after a failure. */
  discard(): void {
    this.changes.discard();
  }

  written(recordNumber: number, record: WrittenRecord): void {
    if (this.space.source === 'own') this.given(recordNumber, record.vectors);
    else this.rendered(recordNumber, record);
  }

  /**
   * Gives the record the vectors that it has in another version of the list. Returns false if this version embeds
   * another text of the record.
   */
  copied(recordNumber: number, bytes: Buffer, record: WrittenRecord): boolean {
    if (this.space.source === 'embedder' && !this.isUpToDate(bytes, record)) return false;
    this.changes.set(recordNumber, copyOfVectors(bytes));
    this.wanted.delete(recordNumber);
    return true;
  }

  removed(recordNumber: number): void {
    this.changes.set(recordNumber, null);
    this.wanted.delete(recordNumber);
  }

  /** Writes the changes and queues records to be embedded, inside the transaction. */
  apply(): void {
    this.changes.apply((recordNumber) => {
      if (!this.wanted.has(recordNumber)) this.queue?.withdraw(this.lane, subjectOfRecord(recordNumber));
    });
    if (this.wanted.size === 0) return;
    const { nowMs } = this.options;
    const work = Array.from(this.wanted, (recordNumber) => ({ lane: this.lane, item: recordNumber }));
    this.queue?.put(work, nowMs);
  }

  private given(recordNumber: number, vectors: GivenVectors | undefined): void {
    if (vectors === null) this.changes.set(recordNumber, null);
    // Vectors of another length belong to the space that is being filled; this space keeps its old ones until that is
    // complete.
    else if (vectors?.[0]?.length === this.space.dimensions)
      this.changes.set(recordNumber, encodeVectors(vectors ?? []));
  }

  private rendered(recordNumber: number, record: WrittenRecord): void {
    const stored = this.changes.stored(recordNumber);
    // If only parts of the record changed that are not embedded, such as the price, the vectors stay.
    if (stored !== undefined && this.isUpToDate(stored, record)) {
      this.changes.leave(recordNumber);
      this.wanted.delete(recordNumber);
      return;
    }
    this.changes.set(recordNumber, null);
    if (this.space.state !== 'resting') this.wanted.add(recordNumber);
  }

  private isUpToDate(bytes: Uint8Array, { stored, fields }: WrittenRecord): boolean {
    const text = textOfRecord(this.options.definition, stored, fields);
    return text !== undefined && textHash(text, this.space).equals(hashOfVectors(bytes));
  }
}
