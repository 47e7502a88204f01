/**
 * What one commit does to the vectors of one version in one space, gathered before it is written: vectors to put and to remove, and
 * records that are to be embedded. It is written in the transaction of the records. Belongs to one task of one thread.
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
import { VectorIndexCommit } from './vector-index-commit.js';

export interface SpaceCommitOptions {
  readonly kernel: Kernel;
  readonly store: RecordStore;
  readonly version: number;
  /** The index of these vectors that is to be kept up to date. */
  readonly index: VectorIndexView | undefined;
  /** As it is now: the first vectors decide how long they are. */
  readonly space: () => VectorSpace;
  readonly definition: FieldDefinition;
  readonly nowMs: number;
  /** Records from this number on are new in this commit. */
  readonly firstNewRecord: number;
}

/** A record as it will be stored. */
export interface WrittenRecord {
  readonly stored: StoredRecord;
  readonly fields: Readonly<Record<string, FieldValue>>;
  /** Undefined: what there is stays. */
  readonly vectors: GivenVectors | undefined;
}

export class SpaceCommit {
  readonly vectors: SpaceStore;
  /** Null: removed. */
  private readonly changes = new Map<number, Buffer | null>();
  private readonly wanted = new Set<number>();
  private readonly queue: EmbeddingQueue | undefined;
  private readonly lane: string;
  private readonly index: VectorIndexCommit | undefined;

  constructor(private readonly options: SpaceCommitOptions) {
    const { store, version } = options;
    const space = options.space();
    this.vectors = spaceStore(store, version, space.number).prepare();
    this.lane = embeddingLane(version, space.number);
    const { index: view } = options;
    if (view?.space === space.number) {
      const { kernel } = options;
      this.index = new VectorIndexCommit({ kernel, listPath: store.listPath, vectors: this.vectors, view });
    }
    const isQueued = space.source === 'embedder' && (space.state !== 'resting' || hasEmbeddingQueue(store));
    this.queue = isQueued ? embeddingQueue(store) : undefined;
  }

  get space(): VectorSpace {
    return this.options.space();
  }

  /** Records whose vectors this commit puts, removes or makes out of date, and which it does not make. */
  private get outdated(): number[] {
    return [...this.changes.keys()].filter((recordNumber) => recordNumber < this.options.firstNewRecord);
  }

  /** Writes the segment of what it puts; in no manifest yet. Throws KernelError. */
  buildSegment(): void {
    this.index?.build(this.put(), this.outdated);
  }

  /** After the transaction. */
  get change(): VectorIndexChange | undefined {
    return this.index?.change;
  }

  /** What it did where nobody keeps an index. */
  get unindexed(): UnindexedVectors[] {
    if (this.index !== undefined || this.changes.size === 0) return [];
    return [{ version: this.options.version, space: this.space.number, records: [...this.changes.keys()] }];
  }

  /** After a failure. */
  discard(): void {
    this.index?.discard();
  }

  /** The vectors that it puts. */
  private *put(): Generator<readonly [recordNumber: number, bytes: Buffer]> {
    for (const [recordNumber, bytes] of this.changes) if (bytes !== null) yield [recordNumber, bytes];
  }

  written(recordNumber: number, record: WrittenRecord): void {
    if (this.space.source === 'own') this.given(recordNumber, record.vectors);
    else this.rendered(recordNumber, record);
  }

  /** The record has the vectors that it has in another version of the list. False where what is embedded of it is another text here. */
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

  /** Inside the transaction. */
  apply(): void {
    this.index?.apply();
    const { firstNewRecord, nowMs } = this.options;
    for (const [recordNumber, bytes] of this.changes) {
      if (bytes !== null) this.vectors.put(recordNumber, bytes);
      else if (recordNumber < firstNewRecord) {
        this.vectors.remove(recordNumber);
        if (!this.wanted.has(recordNumber)) this.queue?.withdraw(this.lane, subjectOfRecord(recordNumber));
      }
    }
    if (this.wanted.size === 0) return;
    const work = Array.from(this.wanted, (recordNumber) => ({ lane: this.lane, item: recordNumber }));
    this.queue?.put(work, nowMs);
  }

  private given(recordNumber: number, vectors: GivenVectors | undefined): void {
    if (vectors === null) this.changes.set(recordNumber, null);
    // Those of another length belong to the space that is being filled, and the old ones serve until that is done.
    else if (vectors?.[0]?.length === this.space.dimensions)
      this.changes.set(recordNumber, encodeVectors(vectors ?? []));
  }

  private rendered(recordNumber: number, record: WrittenRecord): void {
    const stored = recordNumber < this.options.firstNewRecord ? this.vectors.get(recordNumber) : undefined;
    // Credentials, the price and whatever else is not embedded may change: the vectors stay.
    if (stored !== undefined && this.isUpToDate(stored, record)) {
      this.changes.delete(recordNumber);
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
