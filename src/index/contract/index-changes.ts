/** The indexes of a list's versions as tasks find them, and what commits do to them. Plain data; handles are good in every thread. */
import type { GenerationHandle, SegmentHandle, VectorSegmentHandle } from '../../../native-bindings/index.js';
import type { ListState } from '../../store/index.js';

/** One version of the list as the task finds it. Its handles are leased until the task ends (`PublishedGeneration`). */
export interface VersionView {
  readonly version: number;
  readonly generation: GenerationHandle;
  readonly segments: readonly { readonly id: number; readonly handle: SegmentHandle }[];
  /** Number of the segment that the task may make for this version; reserved, never used twice. */
  readonly newSegment: number;
  /** The index of the version's vectors; absent where it has none. */
  readonly vectors?: VectorIndexView;
  /** The index of the vectors of its records' pictures; absent where it has none. */
  readonly pictures?: VectorIndexView;
  /** Pages of what its records link to; absent where the definition has no field for such. */
  readonly pages?: PartView;
}
/** An index beside that of the fields (`src/index/parts`), as a task finds it. */
export interface PartView {
  /** Undefined before the first document. */
  readonly generation: GenerationHandle | undefined;
  readonly segments: readonly { readonly id: number; readonly handle: SegmentHandle }[];
  /** As that of the words. */
  readonly newSegment: number;
}

export interface OpenVectorSegment {
  readonly id: number;
  readonly handle: VectorSegmentHandle;
}
export interface VectorIndexView {
  readonly space: number;
  readonly segments: readonly OpenVectorSegment[];
  /** As that of the words. */
  readonly newSegment: number;
}
/** The index of the vectors of pictures, for who only reads it. */
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
  /** Its terms that the index did not have, and those that go with the segments that it takes the place of; absent where nobody has looked. */
  readonly changedTerms?: readonly string[] | undefined;
}
/** What a commit did to one index. The receiver owns the handles of `added` and closes them. */
export interface IndexChange {
  readonly added: readonly AddedSegment[];
  readonly removed: readonly number[];
  readonly deletions: readonly SegmentDeletion[];
  /** Terms that go with what is removed, where nothing is added; absent where nobody has looked. */
  readonly goneTerms?: readonly string[] | undefined;
}
/** What a commit did to one version, for publication: to the index of its fields, and to others. */
export interface VersionChange extends IndexChange {
  readonly version: number;
  readonly vectors?: VectorIndexChange;
  /** Of the vectors of pictures. */
  readonly pictures?: VectorIndexChange;
  readonly pages?: IndexChange;
}
/** What a commit did to the index of a version's vectors. The receiver owns the handles of `added` and closes them. */
export interface VectorIndexChange {
  readonly space: number;
  readonly added: readonly (OpenVectorSegment & { readonly deleted: Uint8Array | undefined })[];
  readonly removed: readonly number[];
  /** All vectors of these records. */
  readonly deletions: readonly { readonly segment: VectorSegmentHandle; readonly records: Uint32Array }[];
}
/** Records whose vectors were written where no index is kept up to date. */
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
