/** Tasks of ingest workers that concern the vectors of a list (see `ingest-tasks.ts`). */
import type { GenerationHandle } from '../../../native-bindings/index.js';
import type { Settlement, WorkOutcome } from '../../platform/work/index.js';
import type { ListState, SpaceCalibration, VectorSpace } from '../../store/index.js';
import type { EmbeddingResult, EmbeddingTypes, LearnedModel, TextToEmbed } from '../../vectors/index.js';
import type { Commit, OpenVectorSegment, VectorIndexView } from './index-changes.js';
import type { BuiltSegment, ReindexedRecords, TaskBase } from './task-parts.js';

/** Attaches a model to the list, or detaches its model (`model`: null). */
export interface AttachModelTask extends TaskBase {
  readonly kind: 'attach-model';
  readonly model: Pick<
    VectorSpace,
    'model' | 'source' | 'modelVersion' | 'dimensions' | 'learnedFrom' | 'stemsRevision'
  > | null;
  /** Bytes of the built-in model, if it has just been learned. */
  readonly learned?: Uint8Array;
}
/**
 * Learns the built-in model from the records of a version and commits nothing. Takes long; runs while the list is
 * written.
 */
export interface LearnModelTask extends TaskBase {
  readonly kind: 'learn-model';
  readonly version: number;
  /** Language of the stemmer: a BCP 47 primary tag. */
  readonly language: string;
  /** Upper bound of the model's size. */
  readonly bytesMax: number;
}
/** Embeds records of a version with the built-in model of a space and commits nothing. */
export interface EmbedRecordsTask extends TaskBase {
  readonly kind: 'embed-records';
  readonly version: number;
  readonly space: number;
  readonly recordNumbers: readonly number[];
}
/** Removes a space with its vectors and the model that was learned for it. Its number is never reused. */
export interface ForgetSpaceTask extends TaskBase {
  readonly kind: 'forget-space';
  readonly space: number;
}
/** Puts the next records that have no vectors in a space, or have vectors of another text, into the space's queue. */
export interface QueueEmbeddingsTask extends TaskBase {
  readonly kind: 'queue-embeddings';
  readonly nowMs: number;
  readonly space: number;
  readonly recordsMax: number;
}
/** Returns the texts of these records that are embedded in a space; commits nothing. */
export interface RenderTextsTask extends TaskBase {
  readonly kind: 'render-texts';
  readonly version: number;
  readonly space: number;
  readonly recordNumbers: readonly number[];
}
export interface TextOfRecord {
  readonly recordNumber: number;
  /** Undefined if the record has no text to embed. */
  readonly text: TextToEmbed | undefined;
  readonly hash: Uint8Array | undefined;
  /** True if the record no longer exists. */
  readonly isGone: boolean;
}
/** Stores the outcome of a batch that was embedded for a version of the list in a space. */
export interface CommitVectorsTask extends TaskBase {
  readonly kind: 'commit-vectors';
  readonly nowMs: number;
  readonly version: number;
  readonly index: VectorIndexView | undefined;
  readonly space: number;
  readonly settlements: readonly Settlement<EmbeddingTypes>[];
}
/**
 * Builds a segment from the next vectors of a version and commits nothing. Takes long; runs while the list is written.
 */
export interface BuildVectorsTask extends TaskBase {
  readonly kind: 'build-vectors';
  readonly version: number;
  readonly space: number;
  /** First record number to read. */
  readonly cursor: number;
  readonly bytesMax: number;
  readonly newSegment: number;
}
/**
 * Replaces the version's segments for the space with these, and adds a segment of the vectors that were written
 * meanwhile.
 */
export interface CommitVectorIndexTask extends TaskBase {
  readonly kind: 'commit-vector-index';
  readonly version: number;
  readonly space: number;
  readonly segments: readonly BuiltSegment[];
  /** Records whose vectors were written since the first of the segments was begun. */
  readonly written: readonly number[];
  readonly newSegment: number;
}
/** Merges segments of vectors and commits nothing. Takes long; runs while the list is written. */
export interface MergeVectorsTask extends TaskBase {
  readonly kind: 'merge-vectors';
  /** Approximate memory that the task needs. */
  readonly holdsBytes: number;
  /** True if the merge takes minutes and nobody waits for it; other tasks then overtake it. */
  readonly isQuiet: boolean;
  readonly generation: GenerationHandle;
  readonly sources: readonly OpenVectorSegment[];
  readonly newSegment: number;
}
export interface CommitVectorMergeTask extends TaskBase {
  readonly kind: 'commit-vector-merge';
  readonly version: number;
  readonly space: number;
  /** `before`: the generation that the merge read. `now`: the generation in force. */
  readonly before: GenerationHandle;
  readonly now: GenerationHandle;
  readonly sources: readonly OpenVectorSegment[];
  /** Undefined if no vector was left. */
  readonly merged: BuiltSegment | undefined;
}
/**
 * Compares a sample of the vectors of a version with each other and commits nothing. Runs while the list is written.
 */
export interface CalibrateTask extends TaskBase {
  readonly kind: 'calibrate';
  readonly version: number;
  readonly space: number;
  readonly generation: GenerationHandle;
  readonly segments: readonly OpenVectorSegment[];
}
export interface CommitCalibrationTask extends TaskBase {
  readonly kind: 'commit-calibration';
  readonly space: number;
  readonly calibration: SpaceCalibration;
}
/** Queues the records again that could not be embedded. */
export interface RetryEmbeddingsTask extends TaskBase {
  readonly kind: 'retry-embeddings';
  readonly nowMs: number;
  readonly lane: string;
}

export type MeaningTask =
  | AttachModelTask
  | LearnModelTask
  | EmbedRecordsTask
  | ForgetSpaceTask
  | QueueEmbeddingsTask
  | RenderTextsTask
  | CommitVectorsTask
  | BuildVectorsTask
  | CommitVectorIndexTask
  | MergeVectorsTask
  | CommitVectorMergeTask
  | CalibrateTask
  | CommitCalibrationTask
  | RetryEmbeddingsTask;

export interface MeaningResults {
  'attach-model': ListState;
  /** Undefined if the records have no word in common. */
  'learn-model': LearnedModel | undefined;
  /** Undefined if the model no longer exists or is damaged. */
  'embed-records': readonly WorkOutcome<EmbeddingResult>[] | undefined;
  'forget-space': ListState;
  'queue-embeddings': { readonly state: ListState; readonly done: boolean };
  'render-texts': readonly TextOfRecord[];
  'commit-vectors': { readonly commit: Commit };
  'build-vectors': ReindexedRecords;
  'commit-vector-index': ListState;
  /** Undefined if no vector was left. */
  'merge-vectors': BuiltSegment | undefined;
  'commit-vector-merge': { readonly commit: Commit };
  /** Undefined if there are too few vectors. */
  calibrate: SpaceCalibration | undefined;
  'commit-calibration': ListState;
  'retry-embeddings': { readonly retried: number };
}
