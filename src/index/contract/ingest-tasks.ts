/**
 * The tasks of ingest workers and their results. Both are plain data that can be cloned between threads; handles of the
 * kernel are valid in every thread.
 *
 * A task that commits ends with one LMDB transaction, which is on disk when `run` resolves. If `run` rejects with a
 * ServiceError of the worker, nothing was committed. If the worker died, the store tells whether the commit happened
 * (`ListState.sequence`).
 */
import type { GenerationHandle, SegmentHandle } from '../../../native-bindings/index.js';
import type { FieldDefinition, ListRecord } from '../../catalog/index.js';
import type { CsvSeparator, RecordFormat } from '../../records/index.js';
import type { SerialisedServiceError } from '../../platform/index.js';
import type { ListState, PartName } from '../../store/index.js';
import type { Commit, IndexedPictures, PartView, VersionView } from './index-changes.js';
import type { BuiltSegment, EventTask, ReindexedRecords, TaskBase, WritingTask } from './task-parts.js';
import type { MeaningResults, MeaningTask } from './meaning-tasks.js';
import type { DamagedFile, ResourceResults, ResourceTask } from './resource-tasks.js';
import type { BulkOutcome, WriteRequest, WriteResult } from './types.js';

export type * from './index-changes.js';
export type * from './meaning-tasks.js';
export type * from './task-parts.js';

/** Complete raw records, each followed by one 0x0a byte: `SplitRecords` of the kernel. */
export interface RawRecords {
  readonly bytes: Uint8Array;
  readonly ends: Uint32Array;
  readonly lines: Uint32Array;
}

/** The first row of a CSV file, which names the columns. */
export interface CsvHeader {
  readonly bytes: Uint8Array;
  /** Separator of all rows of the file. */
  readonly separator: CsvSeparator;
}

export interface CreateListTask extends TaskBase {
  readonly kind: 'create-list';
  readonly nowMs: number;
  readonly definition: FieldDefinition;
}
/** Writes a copy of the list's catalogue entry into the list's own store. */
export interface KeepEntryTask extends TaskBase {
  readonly kind: 'keep-entry';
  readonly list: ListRecord;
  readonly region: string;
}
/** Small writes that were waiting together. Each has its own result. */
export interface WriteBatchTask extends WritingTask {
  readonly kind: 'write-batch';
  readonly requests: readonly WriteRequest[];
}
/** Records of an import that are written in one commit. */
export interface ImportBatch {
  readonly format: RecordFormat;
  /** Header row of the file, for CSV. */
  readonly csvHeader: CsvHeader | undefined;
  readonly records: readonly RawRecords[];
  /** Number of errors that the answer still has room for. */
  readonly errorsMax: number;
  /** The bulk call that the batch is part of. */
  readonly importId: string;
  /** True if this is the call's last batch, so that the call's event can be written. */
  readonly final: boolean;
  /** As `ListCommitOptions.keepsLinks`. */
  readonly keepsLinks?: boolean;
  /** As `ImportOptions.nameFrom`. */
  readonly nameFrom?: string;
  readonly patch?: boolean;
  /** Source of the records. Records that are already stored as the source has them are not written. */
  readonly source?: string;
  /**
   * True if searches take precedence: the task pauses between two steps while searches run, and uses one processor at a
   * time.
   */
  readonly givesWay?: boolean;
}
export interface BulkBatchTask extends WritingTask, ImportBatch {
  readonly kind: 'bulk-batch';
}
/** Removes the next records of a source that the source no longer lists. */
export interface RemoveUnlistedTask extends WritingTask {
  readonly kind: 'remove-unlisted';
  readonly source: string;
  /** Bitmap of the record numbers that the source lists. */
  readonly listed: Uint8Array;
  /** First record number to look at. */
  readonly cursor: number;
}
export interface BatchOutcome extends BulkOutcome {
  /** Number of records that were already stored as their source has them. 0 without a source. */
  readonly unchanged: number;
  /** Numbers of the records that the source lists, whether or not they were accepted. Empty without a source. */
  readonly listed: Uint32Array;
  /** Number of records whose name could not be read. */
  readonly unreadable: number;
}
/** Writes the events of bulk calls that ended without a final batch. */
export interface ReportImportsTask extends TaskBase {
  readonly kind: 'report-imports';
  readonly nowMs: number;
  readonly importIds: readonly string[];
  readonly events: EventTask;
}
export interface DeleteMatchingTask extends WritingTask {
  readonly kind: 'delete-matching';
  readonly plan: Uint8Array;
}
/** Writes a merged segment file and commits nothing. Takes long; runs while the list is written. */
export interface MergeTask extends TaskBase {
  readonly kind: 'merge';
  /** Approximate memory that the task needs. */
  readonly holdsBytes: number;
  /** Undefined: the index of the fields. The same holds for all tasks below. */
  readonly part?: PartName | undefined;
  readonly definition: FieldDefinition;
  readonly generation: GenerationHandle;
  readonly sources: readonly SegmentHandle[];
  readonly newSegment: number;
}
/** The receiver owns the handle. */
export interface MergedSegment {
  readonly handle: SegmentHandle;
  readonly documentCount: number;
  readonly fileBytes: number;
  /** Terms that disappear with the sources; undefined if they are not known. */
  readonly changedTerms: readonly string[] | undefined;
}
/**
 * Replaces the source segments with the merged one. Documents that were deleted during the merge are deleted in it too,
 * by record number.
 */
export interface CommitMergeTask extends TaskBase {
  readonly kind: 'commit-merge';
  readonly nowMs: number;
  readonly version: number;
  readonly part?: PartName | undefined;
  /** `before`: the generation that the merge read. `now`: the generation in force. */
  readonly before: GenerationHandle;
  readonly now: GenerationHandle;
  readonly sources: readonly { readonly id: number; readonly handle: SegmentHandle }[];
  /** Undefined if no live document was left; the sources are then removed without a replacement. */
  readonly merged: (MergedSegment & { readonly id: number }) | undefined;
}
/** Records a new version to be built. A version that was being built is abandoned. */
export interface StartBuildTask extends TaskBase {
  readonly kind: 'start-build';
  readonly nowMs: number;
  readonly definition: FieldDefinition;
  /** Renamed fields, whose values are moved: `{old: new}`. */
  readonly renames: Readonly<Record<string, string>>;
  readonly events: EventTask | undefined;
}
/** Copies the next records of the current version. Switches to the new version when none is left. */
export interface BuildStepTask extends WritingTask {
  readonly kind: 'build-step';
  readonly building: VersionView;
  readonly recordsMax: number;
  readonly bytesMax: number;
}
export interface DropVersionTask extends TaskBase {
  readonly kind: 'drop-version';
  readonly version: number;
}
export interface CloneListTask extends TaskBase {
  readonly kind: 'clone-list';
  readonly nowMs: number;
  readonly targetPath: string;
}
/**
 * Builds a segment file from the next records of a version, without reading the version's index, and commits nothing.
 * Takes long; runs while the list is written. Throws `unprocessable` if a record cannot be read; the detail names it.
 */
export interface ReindexTask extends TaskBase {
  readonly kind: 'reindex';
  readonly version: number;
  readonly part?: PartName | undefined;
  /** First record number to read. */
  readonly cursor: number;
  readonly recordsMax: number;
  readonly bytesMax: number;
  readonly newSegment: number;
}
/** Replaces the segments that the version had when the rebuild began with these segments. */
export interface CommitReindexTask extends TaskBase {
  readonly kind: 'commit-reindex';
  readonly version: number;
  readonly part?: PartName | undefined;
  readonly segments: readonly BuiltSegment[];
  /** Undefined if the list is closed: nothing was written since, and the new segments hold everything. */
  readonly open: GenerationsSince | undefined;
}
/** The generation at the start of a task that ran while the list was written, and the generation now. */
export interface GenerationsSince {
  readonly before: GenerationHandle;
  readonly now: GenerationHandle;
  /** Segments of `before` that are to be replaced. */
  readonly sources: readonly { readonly id: number; readonly handle: SegmentHandle }[];
  /** Segments that were written since. */
  readonly others: readonly SegmentHandle[];
}
export interface CheckTask extends TaskBase {
  readonly kind: 'check';
  readonly version: number;
  readonly generation: GenerationHandle;
  readonly segments: readonly { readonly id: number; readonly handle: SegmentHandle }[];
  /** Number of records to look up by their own words. */
  readonly sampleSize: number;
  readonly pages: Pick<PartView, 'generation' | 'segments'> | undefined;
  /** Index of the vectors of pictures; undefined if the version has none. */
  readonly pictures: IndexedPictures | undefined;
}

export type IngestTask =
  | CreateListTask
  | KeepEntryTask
  | WriteBatchTask
  | BulkBatchTask
  | ReportImportsTask
  | DeleteMatchingTask
  | RemoveUnlistedTask
  | MergeTask
  | CommitMergeTask
  | StartBuildTask
  | BuildStepTask
  | DropVersionTask
  | CloneListTask
  | ReindexTask
  | CommitReindexTask
  | CheckTask
  | MeaningTask
  | ResourceTask;

export type WriteAnswer =
  { readonly ok: true; readonly result: WriteResult } | { readonly ok: false; readonly error: SerialisedServiceError };

export interface IngestResults extends MeaningResults, ResourceResults {
  'create-list': ListState;
  'keep-entry': undefined;
  'write-batch': { readonly commit: Commit | undefined; readonly answers: readonly WriteAnswer[] };
  'bulk-batch': { readonly commit: Commit | undefined; readonly outcome: BatchOutcome };
  'report-imports': ListState;
  'delete-matching': { readonly commit: Commit | undefined; readonly deleted: number };
  /** `cursor`: record number to continue at; undefined if all records were looked at. */
  'remove-unlisted': {
    readonly commit: Commit | undefined;
    readonly removed: number;
    readonly cursor: number | undefined;
  };
  /** Undefined if the sources have no live document left. */
  merge: MergedSegment | undefined;
  'commit-merge': { readonly commit: Commit };
  'start-build': { readonly state: ListState; readonly version: number };
  'build-step': {
    readonly commit: Commit;
    readonly done: boolean;
    readonly copied: number;
    /** Number of records per field in which a value was kept but not indexed. */
    readonly unfit: Readonly<Record<string, number>>;
    /** Files with damaged pages, which were not copied. The files are read again. */
    readonly damaged: readonly DamagedFile[];
  };
  'drop-version': ListState;
  'clone-list': ListState;
  /** `damaged`: files with damaged pages, which were not indexed. The files are read again. */
  reindex: ReindexedRecords & { readonly damaged: readonly DamagedFile[] };
  'commit-reindex': { readonly commit: Commit };
  check: readonly string[];
}
export type IngestResult<T extends IngestTask> = IngestResults[T['kind']];

export interface IngestOptions {
  readonly signal?: AbortSignal;
  /**
   * Account that owns the list. Accounts whose tasks wait for a thread take turns; tasks without an account share one
   * turn.
   */
  readonly account?: string;
}

export interface IngestExecutor {
  /** Number of committing tasks that wait for a thread. */
  readonly waiting: number;
  /** Number of waiting tasks for each account that has any. Computed on each call. */
  waitingByAccount(): ReadonlyMap<string, number>;
  /**
   * Never refuses a task because too many wait (`WriteAdmission` does that). Rejects with a ServiceError: the task's
   * own, or `internal-error` if the worker died.
   */
  run<T extends IngestTask>(task: T, options?: IngestOptions): Promise<IngestResult<T>>;
}

/** Returns the executor with the account as the default of every task. */
export function ofAccount(
  { executor }: { readonly executor: IngestExecutor },
  { account }: { readonly account: string },
): IngestExecutor {
  return {
    get waiting() {
      return executor.waiting;
    },
    waitingByAccount: () => executor.waitingByAccount(),
    run: (task, options) => executor.run(task, { ...options, account }),
  };
}
