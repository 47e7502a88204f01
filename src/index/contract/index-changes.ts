/**
 * The indexes of a list's versions as tasks see them, and the changes that commits make to them. Plain data; the
 * kernel's handles are valid in every thread.
 */
import type { GenerationHandle, SegmentHandle, VectorSegmentHandle } from '../../../native-bindings/index.js';
import type { ListState } from '../../store/index.js';

/** One version of the list as a task sees it. Its handles are leased until the task ends (`PublishedGeneration`). */
export interface VersionView {
  readonly version: number;
  readonly generation: GenerationHandle;
  readonly segments: readonly { readonly id: number; readonly handle: SegmentHandle }[];
  /** Number reserved for the segment that the task may build for this version; never reused. */
  readonly newSegment: number;
  /** Index of the version's vectors; undefined if it has none. */
  readonly vectors?: VectorIndexView;
  /** Index of the vectors of the pictures that the version's records link to; undefined if it has none. */
  readonly pictures?: VectorIndexView;
  /**
   * Index of the pages of the documents that the records link to; undefined if the definition has no field for
   * documents.
   */
  readonly pages?: PartView;
}
/** A part (`src/index/parts`) as a task sees it: an index beside the index of the fields. */
export interface PartView {
  /** Undefined until the first document is added. */
  readonly generation: GenerationHandle | undefined;
  readonly segments: readonly { readonly id: number; readonly handle: SegmentHandle }[];
  /** As `VersionView.newSegment`. */
  readonly newSegment: number;
}

export interface OpenVectorSegment {
  readonly id: number;
  readonly handle: VectorSegmentHandle;
}
export interface VectorIndexView {
  readonly space: number;
  readonly segments: readonly OpenVectorSegment[];
  /** As `VersionView.newSegment`. */
  readonly newSegment: number;
}
/** The index of the vectors of pictures, for code that only reads it. */
export interface IndexedPictures extends Pick<VectorIndexView, 'space' | 'segments'> {
  readonly generation: GenerationHandle;
}

export interface SegmentDeletion {
  readonly segment: SegmentHandle;
  readonly documents: Uint32Array;
}
export interface AddedSegment {
  readonly id: number;
  readonly handle: SegmentHandle;
  readonly deleted: Uint8Array | undefined;
  /**
   * Terms that are new to the index with this segment, and terms that disappear with the segments that it replaces;
   * undefined if they were not determined.
   */
  readonly changedTerms?: readonly string[] | undefined;
}
/** Change of one index by a commit. The receiver owns the handles of `added` and closes them. */
export interface IndexChange {
  readonly added: readonly AddedSegment[];
  readonly removed: readonly number[];
  readonly deletions: readonly SegmentDeletion[];
  /** Terms that disappear with the removed segments when nothing is added; undefined if they were not determined. */
  readonly goneTerms?: readonly string[] | undefined;
}
/** Change of one version by a commit, to be published: of the index of its fields, and of its other indexes. */
export interface VersionChange extends IndexChange {
  readonly version: number;
  readonly vectors?: VectorIndexChange;
  /** Change of the index of the vectors of pictures. */
  readonly pictures?: VectorIndexChange;
  readonly pages?: IndexChange;
}
/** Change of the index of a version's vectors by a commit. The receiver owns the handles of `added` and closes them. */
export interface VectorIndexChange {
  readonly space: number;
  readonly added: readonly (OpenVectorSegment & { readonly deleted: Uint8Array | undefined })[];
  readonly removed: readonly number[];
  /** Each entry deletes all vectors of these records in the segment. */
  readonly deletions: readonly { readonly segment: VectorSegmentHandle; readonly records: Uint32Array }[];
}
/** Records whose vectors a commit changed while there was no index of that space to keep up to date. */
export interface UnindexedVectors {
  readonly version: number;
  readonly space: number;
  readonly records: readonly number[];
}
export interface Commit {
  readonly state: ListState;
  readonly changes: readonly VersionChange[];
  readonly unindexed?: readonly UnindexedVectors[];
}
