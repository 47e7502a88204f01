/**
 * The open segments of an index of a version (of its fields or of a part), and how a commit changes them. Immutable
 * values; the holder of the newest one owns the handles. Main thread only.
 */
import type { GenerationChange, Kernel, SegmentHandle } from '../../../native-bindings/index.js';
import { segmentFile, type SegmentManifest } from '../../store/index.js';
import type { IndexChange } from '../contract/ingest-tasks.js';
import { openSegment, type DamagedSegments } from '../segments/unusable-segments.js';

export interface OpenSegment {
  readonly id: number;
  readonly handle: SegmentHandle;
}

/** What the kernel is told about an index. */
type PublishedChange = Pick<GenerationChange, 'add' | 'remove' | 'deletions' | 'goneTerms'>;

export class OpenSegments {
  private constructor(
    private readonly kernel: Kernel,
    private readonly segments: ReadonlyMap<number, SegmentHandle>,
  ) {}

  static none(kernel: Kernel): OpenSegments {
    return new OpenSegments(kernel, new Map());
  }

  /** Opens the segments in the manifest. Throws UnusableSegmentError if one has to be rebuilt; then none is open. */
  static open(
    kernel: Kernel,
    from: { readonly listPath: string; readonly manifest: SegmentManifest; readonly damaged: DamagedSegments },
  ): { readonly opened: OpenSegments; readonly change: PublishedChange } {
    const { listPath, manifest, damaged } = from;
    const segments = new Map<number, SegmentHandle>();
    const opened = new OpenSegments(kernel, segments);
    try {
      const add = manifest.segments().map(({ id, entry }) => {
        const segment = openSegment(kernel, segmentFile(listPath, id), damaged);
        segments.set(id, segment);
        const { documentCount, deletedCount } = entry;
        return addition(segment, deletedCount === 0 ? undefined : manifest.deletedDocuments(id, documentCount));
      });
      return { opened, change: { add } };
    } catch (error) {
      opened.close();
      throw error;
    }
  }

  get list(): readonly OpenSegment[] {
    return Array.from(this.segments, ([id, handle]) => ({ id, handle }));
  }

  has(id: number): boolean {
    return this.segments.has(id);
  }

  /** Returns the segments after a change. Closes nothing. */
  after({ added, removed, deletions, goneTerms }: IndexChange): {
    readonly next: OpenSegments;
    readonly change: PublishedChange;
    readonly closed: readonly OpenSegment[];
  } {
    const segments = new Map(this.segments);
    const closed = this.list.filter(({ id }) => removed.includes(id));
    for (const { id, handle } of added) segments.set(id, handle);
    for (const id of removed) segments.delete(id);
    const add = added.map(({ handle, deleted, changedTerms }) => ({
      ...addition(handle, deleted),
      ...(changedTerms === undefined ? {} : { changedTerms }),
    }));
    const remove = closed.map(({ handle }) => handle);
    const change = { add, remove, deletions, ...(goneTerms === undefined ? {} : { goneTerms }) };
    return { next: new OpenSegments(this.kernel, segments), change, closed };
  }

  close(): void {
    for (const { handle } of this.list) this.kernel.closeSegment(handle);
  }
}

function addition(segment: SegmentHandle, deleted: Uint8Array | undefined) {
  return deleted === undefined ? { segment } : { segment, deleted };
}
