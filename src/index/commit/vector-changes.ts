/**
 * Vectors of one version in one space that a commit puts and removes, gathered before they are written, with their index where one is kept.
 * Order: `buildSegment` (a synced file that no manifest names yet), `apply` inside the transaction, `change`; on failure `discard`.
 * Belongs to one task of one thread.
 */
import type { Kernel } from '../../../native-bindings/index.js';
import type { SpaceStore } from '../../vectors/index.js';
import type { UnindexedVectors, VectorIndexChange, VectorIndexView } from '../contract/ingest-tasks.js';
import { VectorIndexCommit } from './vector-index-commit.js';

export interface VectorChangesOptions {
  readonly kernel: Kernel;
  readonly listPath: string;
  readonly vectors: SpaceStore;
  /** The index of these vectors that is to be kept up to date. */
  readonly view: VectorIndexView | undefined;
  /** Records from this number on are new in this commit. */
  readonly firstNewRecord: number;
}

export class VectorChanges {
  /** Null: removed. */
  private readonly changes = new Map<number, Buffer | null>();
  private readonly index: VectorIndexCommit | undefined;

  constructor(private readonly options: VectorChangesOptions) {
    const { view } = options;
    this.index = view && new VectorIndexCommit({ ...options, view });
  }

  get isEmpty(): boolean {
    return this.changes.size === 0;
  }

  /** Null: the record has none any more. */
  set(recordNumber: number, bytes: Buffer | null): void {
    this.changes.set(recordNumber, bytes);
  }

  /** The record has what it had before the commit. */
  leave(recordNumber: number): void {
    this.changes.delete(recordNumber);
  }

  /** What the record had before the commit; good until the next read. */
  stored(recordNumber: number): Buffer | undefined {
    const { firstNewRecord, vectors } = this.options;
    return recordNumber < firstNewRecord ? vectors.get(recordNumber) : undefined;
  }

  /** Throws KernelError. */
  buildSegment(): void {
    this.index?.build(this.put(), this.outdated);
  }

  /** Inside the transaction. `removed`: is told of each record that has none any more. */
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

  /** After the transaction. */
  get change(): VectorIndexChange | undefined {
    return this.index?.change;
  }

  /** What it did where nobody keeps an index. */
  get unindexed(): UnindexedVectors[] {
    const { version, space } = this.options.vectors;
    return this.index !== undefined || this.isEmpty ? [] : [{ version, space, records: [...this.changes.keys()] }];
  }

  /** After a failure. */
  discard(): void {
    this.index?.discard();
  }

  /** Records whose vectors this commit puts, removes or makes out of date, and which it does not make. */
  private get outdated(): number[] {
    return [...this.changes.keys()].filter((recordNumber) => recordNumber < this.options.firstNewRecord);
  }

  private *put(): Generator<readonly [recordNumber: number, bytes: Buffer]> {
    for (const [recordNumber, bytes] of this.changes) if (bytes !== null) yield [recordNumber, bytes];
  }
}
