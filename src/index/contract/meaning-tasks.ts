/** What ingest workers are asked about the vectors of a list (`ingest-tasks.ts`). */
import type { GenerationHandle } from '../../../native-bindings/index.js';
import type { Settlement, WorkOutcome } from '../../platform/work/index.js';
import type { ListState, SpaceCalibration, VectorSpace } from '../../store/index.js';
import type { EmbeddingResult, EmbeddingTypes, LearnedModel, TextToEmbed } from '../../vectors/index.js';
import type { Commit, OpenVectorSegment, VectorIndexView } from './index-changes.js';
import type { BuiltSegment, ReindexedRecords, TaskBase } from './task-parts.js';

/** The list's model is that one from now on. Null: it has none. */
export interface AttachModelTask extends TaskBase {
  readonly kind: 'attach-model';
  readonly model: Pick<VectorSpace, 'model' | 'source' | 'modelVersion' | 'dimensions' | 'learnedFrom'> | null;
  /** Of the built-in model, where it has just been learned: its bytes. */
  readonly learned?: Uint8Array;
}
/** Long, beside the writers: learns the built-in model from the records of a version, and commits nothing. */
export interface LearnModelTask extends TaskBase {
  readonly kind: 'learn-model';
  readonly version: number;
  /** Whose stems the words have: a BCP 47 primary tag. */
  readonly language: string;
  /** What it may hold. */
  readonly bytesMax: number;
}
/** Embeds records of a version by the built-in model of a space; commits nothing. */
export interface EmbedRecordsTask extends TaskBase {
  readonly kind: 'embed-records';
  readonly version: number;
  readonly space: number;
  readonly recordNumbers: readonly number[];
}
/** Nothing is left of a space, its vectors and the model that was learned for it; its number is not used again. */
export interface ForgetSpaceTask extends TaskBase {
  readonly kind: 'forget-space';
  readonly space: number;
}
/** Puts the next records that have no vectors in a space, or not those of their text, into its queue. */
export interface QueueEmbeddingsTask extends TaskBase {
  readonly kind: 'queue-embeddings';
  readonly nowMs: number;
  readonly space: number;
  readonly recordsMax: number;
}
/** What of these records is embedded in a space; commits nothing. */
export interface RenderTextsTask extends TaskBase {
  readonly kind: 'render-texts';
  readonly version: number;
  readonly space: number;
  readonly recordNumbers: readonly number[];
}
export interface TextOfRecord {
  readonly recordNumber: number;
  /** Undefined where the record has none. */
  readonly text: TextToEmbed | undefined;
  readonly hash: Uint8Array | undefined;
  /** There is no such record any more. */
  readonly isGone: boolean;
}
/** What became of a batch that was embedded for a version of the list in a space. */
export interface CommitVectorsTask extends TaskBase {
  readonly kind: 'commit-vectors';
  readonly nowMs: number;
  readonly version: number;
  readonly index: VectorIndexView | undefined;
  readonly space: number;
  readonly settlements: readonly Settlement<EmbeddingTypes>[];
}
/** Long, beside the writers: makes a segment of the next vectors of a version, and commits nothing. */
export interface BuildVectorsTask extends TaskBase {
  readonly kind: 'build-vectors';
  readonly version: number;
  readonly space: number;
  /** Record number to begin at. */
  readonly cursor: number;
  readonly bytesMax: number;
  readonly newSegment: number;
}
/** Puts these segments in the place of those that the version had for the space, and what was written meanwhile beside them. */
export interface CommitVectorIndexTask extends TaskBase {
  readonly kind: 'commit-vector-index';
  readonly version: number;
  readonly space: number;
  readonly segments: readonly BuiltSegment[];
  /** Records whose vectors were written since the first of them was begun. */
  readonly written: readonly number[];
  readonly newSegment: number;
}
/** Long, beside the writers: merges segments of vectors, and commits nothing. */
export interface MergeVectorsTask extends TaskBase {
  readonly kind: 'merge-vectors';
  /** Of memory, about. */
  readonly holdsBytes: number;
  /** It takes minutes, and nobody waits for it: others overtake it. */
  readonly isQuiet: boolean;
  readonly generation: GenerationHandle;
  readonly sources: readonly OpenVectorSegment[];
  readonly newSegment: number;
}
export interface CommitVectorMergeTask extends TaskBase {
  readonly kind: 'commit-vector-merge';
  readonly version: number;
  readonly space: number;
  /** The generation that the merge read, and the one in force now. */
  readonly before: GenerationHandle;
  readonly now: GenerationHandle;
  readonly sources: readonly OpenVectorSegment[];
  /** Undefined where no vector was left. */
  readonly merged: BuiltSegment | undefined;
}
/** Beside the writers: compares some of the vectors of a version with each other, and commits nothing. */
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
/** What could not be embedded is tried again. */
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
  /** Undefined where the records have no word in common. */
  'learn-model': LearnedModel | undefined;
  /** Undefined where the model is not there any more, or damaged. */
  'embed-records': readonly WorkOutcome<EmbeddingResult>[] | undefined;
  'forget-space': ListState;
  'queue-embeddings': { readonly state: ListState; readonly done: boolean };
  'render-texts': readonly TextOfRecord[];
  'commit-vectors': { readonly commit: Commit };
  'build-vectors': ReindexedRecords;
  'commit-vector-index': ListState;
  /** Undefined where no vector was left. */
  'merge-vectors': BuiltSegment | undefined;
  'commit-vector-merge': { readonly commit: Commit };
  /** Undefined where there are too few vectors. */
  calibrate: SpaceCalibration | undefined;
  'commit-calibration': ListState;
  'retry-embeddings': { readonly retried: number };
}
