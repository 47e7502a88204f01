/**
 * The open segments of a version's vectors, and how a commit changes them. Immutable values; the holder of the newest
 * one owns the handles. Main thread only.
 */
import type { GenerationChange, Kernel, VectorSegmentHandle } from '../../../native-bindings/index.js';
import { vectorSegmentFile } from '../../store/index.js';
import type { SpaceStore } from '../../vectors/index.js';
import type { OpenVectorSegment, VectorIndexChange, VectorIndexView } from '../contract/ingest-tasks.js';
import { openVectorSegment, type DamagedSegments } from '../segments/unusable-segments.js';

export class OpenVectors {
  private constructor(
    private readonly kernel: Kernel,
    readonly space: number,
    private readonly segments: ReadonlyMap<number, VectorSegmentHandle>,
  ) {}

  /** Opens the segments in the manifest. Throws UnusableSegmentError if one has to be rebuilt; then none is open. */
  static open(
    kernel: Kernel,
    listPath: string,
    vectors: SpaceStore,
    damaged: DamagedSegments,
  ): { readonly opened: OpenVectors; readonly change: NonNullable<GenerationChange['vectors']> } {
    const segments = new Map<number, VectorSegmentHandle>();
    const opened = new OpenVectors(kernel, vectors.space, segments);
    try {
      const add = vectors.segments().map(({ id, entry }) => {
        const segment = openVectorSegment(kernel, vectorSegmentFile(listPath, id), damaged);
        segments.set(id, segment);
        const deleted = entry.deletedCount === 0 ? undefined : vectors.deletedDocuments(id, entry.documentCount);
        return deleted === undefined ? { segment } : { segment, deleted };
      });
      return { opened, change: { add } };
    } catch (error) {
      opened.close();
      throw error;
    }
  }

  get view(): Omit<VectorIndexView, 'newSegment'> {
    return { space: this.space, segments: this.list };
  }

  has(id: number): boolean {
    return this.segments.has(id);
  }

  /** Returns the segments after a change, and what the kernel is told about it. Closes nothing. */
  after({ added, removed, deletions }: VectorIndexChange): {
    readonly next: OpenVectors;
    readonly change: NonNullable<GenerationChange['vectors']>;
    readonly closed: readonly OpenVectorSegment[];
  } {
    const segments = new Map(this.segments);
    const closed = this.list.filter(({ id }) => removed.includes(id));
    for (const { id, handle } of added) segments.set(id, handle);
    for (const id of removed) segments.delete(id);
    const add = added.map(({ handle, deleted }) => ({
      segment: handle,
      ...(deleted === undefined ? {} : { deleted }),
    }));
    const change = { add, remove: closed.map(({ handle }) => handle), deletions };
    return { next: new OpenVectors(this.kernel, this.space, segments), change, closed };
  }

  close(): void {
    for (const { handle } of this.list) this.kernel.closeVectorSegment(handle);
  }

  private get list(): readonly OpenVectorSegment[] {
    return Array.from(this.segments, ([id, handle]) => ({ id, handle }));
  }
}
