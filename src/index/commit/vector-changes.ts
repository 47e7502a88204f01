/**
 * Vectors of one version in one space that a commit puts and removes, together with their index if there is one. Order:
 * `buildSegment` (writes a synced file that is not in a manifest yet), `apply` inside the transaction, `change`; on
 * failure `discard`. Belongs to one task of one thread.
 */
import type { Kernel } from '../../../native-bindings/index.js';
import type { SpaceStore } from '../../vectors/index.js';
import type { UnindexedVectors, VectorIndexChange, VectorIndexView } from '../contract/ingest-tasks.js';
import { VectorIndexCommit } from './vector-index-commit.js';

export interface VectorChangesOptions {
  readonly kernel: Kernel;
  readonly listPath: string;
  readonly vectors: SpaceStore;
  /** Index of these vectors to keep up to date; undefined if there is none. */
  readonly view: VectorIndexView | undefined;
  /** First record number that is new in this commit. */
  readonly firstNewRecord: number;
}

export class VectorChanges {
  /** New vectors by record number; null: removed. */
  private readonly changes = new Map<number, Buffer | null>();
  private readonly index: VectorIndexCommit | undefined;

  constructor(private readonly options: VectorChangesOptions) {
    const { view } = options;
    this.index = view && new VectorIndexCommit({ ...options, view });
  }

  get isEmpty(): boolean {
    return this.changes.size === 0;
  }

  /** Sets the record's vectors; null removes them. */
  set(recordNumber: number, bytes: Buffer | null): void {
    this.changes.set(recordNumber, bytes);
  }

  /** Drops the change of this record: it keeps what it had before the commit. */
  leave(recordNumber: number): void {
    this.changes.delete(recordNumber);
  }

  /** Returns what the record had before the commit; valid until the next read. */
  stored(recordNumber: number): Buffer | undefined {
    const { firstNewRecord, vectors } = this.options;
    return recordNumber < firstNewRecord ? vectors.get(recordNumber) : undefined;
  }

  /** Writes the segment. Throws KernelError. */
  buildSegment(): void {
    this.index?.build(this.put(), this.outdated);
  }

  /** Writes the changes, inside the transaction. `removed` is called for each record that no longer has vectors. */
  apply(removed: (recordNumber: number) => void = () => undefined): void {
    this.index?.apply();
    const { firstNewRecord, vectors } = this.options;
    for (const [recordNumber, bytes] of this.changes) {
      if (bytes !== null) vectors.put(recordNumber, bytes);
      else if (recordNumber < firstNewRecord) {
        vectors.remove(recordNumber);
        removed(recordNumber);
      }
    }
  }

  /** Change of the index, after the transaction. */
  get change(): VectorIndexChange | undefined {
    return this.index?.change;
  }

  /** Changed records, if there is no index to keep up to date. */
  get unindexed(): UnindexedVectors[] {
    const { version, space } = this.options.vectors;
    return this.index !== undefined || this.isEmpty ? [] : [{ version, space, records: [...this.changes.keys()] }];
  }

  /** Removes the segment after a failure. */
  discard(): void {
    this.index?.discard();
  }

  /** Records whose vectors existed before this commit and are no longer valid in earlier segments. */
  private get outdated(): number[] {
    return [...this.changes.keys()].filter((recordNumber) => recordNumber < this.options.firstNewRecord);
  }

  private *put(): Generator<readonly [recordNumber: number, bytes: Buffer]> {
    for (const [recordNumber, bytes] of this.changes) if (bytes !== null) yield [recordNumber, bytes];
  }
}
