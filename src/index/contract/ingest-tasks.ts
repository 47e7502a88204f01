/**
 * What the main thread asks of ingest workers, and what they answer. Tasks and results are plain data that structured
 * cloning carries over; handles of the kernel are good in every thread.
 *
 * A task that commits ends with one LMDB transaction; when `run` resolves, that transaction is on disk. When it rejects with
 * a ServiceError of the worker, nothing was committed; when the worker died, the store tells (`ListState.sequence`).
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

/** Whole raw records, each followed by one 0x0a: `SplitRecords` of the kernel. */
export interface RawRecords {
  readonly bytes: Uint8Array;
  readonly ends: Uint32Array;
  readonly lines: Uint32Array;
}

/** The first row of a CSV file, which names the columns. */
export interface CsvHeader {
  readonly bytes: Uint8Array;
  /** Of all its rows. */
  readonly separator: CsvSeparator;
}

export interface CreateListTask extends TaskBase {
  readonly kind: 'create-list';
  readonly nowMs: number;
  readonly definition: FieldDefinition;
}
/** Writes the list's entry in the catalogue beside its records. */
export interface KeepEntryTask extends TaskBase {
  readonly kind: 'keep-entry';
  readonly list: ListRecord;
  readonly region: string;
}
/** Small writes that were waiting together; each has its own result. */
export interface WriteBatchTask extends WritingTask {
  readonly kind: 'write-batch';
  readonly requests: readonly WriteRequest[];
}
/** Records of an import that are written together. */
export interface ImportBatch {
  readonly format: RecordFormat;
  /** CSV: the header record of the file. */
  readonly csvHeader: CsvHeader | undefined;
  readonly records: readonly RawRecords[];
  /** How many errors the answer still takes. */
  readonly errorsMax: number;
  /** The bulk call that the batch is part of. */
  readonly importId: string;
  /** Nothing of the call follows: its event can be written. */
  readonly final: boolean;
  /** As of `ListCommitOptions`. */
  readonly keepsLinks?: boolean;
  /** As of `ImportOptions`. */
  readonly nameFrom?: string;
  readonly patch?: boolean;
  /** What the records come from: those that are as it has them are not written. */
  readonly source?: string;
  /** Searches come first: it rests between two of its steps while they are at work, and has one processor at a time. */
  readonly givesWay?: boolean;
}
export interface BulkBatchTask extends WritingTask, ImportBatch {
  readonly kind: 'bulk-batch';
}
/** Takes away the next of those records that came from a source and that it does not list any more. */
export interface RemoveUnlistedTask extends WritingTask {
  readonly kind: 'remove-unlisted';
  readonly source: string;
  /** A bit for each record number that it lists. */
  readonly listed: Uint8Array;
  /** Record number to begin at. */
  readonly cursor: number;
}
export interface BatchOutcome extends BulkOutcome {
  /** Of a source: records that are as it has them. */
  readonly unchanged: number;
  /** Of a source: numbers of the records that it lists, whatever became of them. */
  readonly listed: Uint32Array;
  /** Records of which not even the name could be read. */
  readonly unreadable: number;
}
/** Tells of bulk calls that ended without a final batch. */
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
/** Long, beside the writers: writes a segment file and commits nothing. */
export interface MergeTask extends TaskBase {
  readonly kind: 'merge';
  /** Of memory, about. */
  readonly holdsBytes: number;
  /** Absent: the index of the fields; the same in all tasks below that have it. */
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
  /** Those that go with its sources; undefined where they are not known. */
  readonly changedTerms: readonly string[] | undefined;
}
/** Puts the merged segment in the place of its sources; deletions since then are carried over by record number. */
export interface CommitMergeTask extends TaskBase {
  readonly kind: 'commit-merge';
  readonly nowMs: number;
  readonly version: number;
  readonly part?: PartName | undefined;
  /** The generation that the merge read, and the one in force now. */
  readonly before: GenerationHandle;
  readonly now: GenerationHandle;
  readonly sources: readonly { readonly id: number; readonly handle: SegmentHandle }[];
  /** Undefined where no document was left: the sources are dropped. */
  readonly merged: (MergedSegment & { readonly id: number }) | undefined;
}
/** Records a new version to be built; one that was being built is given up. */
export interface StartBuildTask extends TaskBase {
  readonly kind: 'start-build';
  readonly nowMs: number;
  readonly definition: FieldDefinition;
  /** Fields whose values move to another name: `{old: new}`. */
  readonly renames: Readonly<Record<string, string>>;
  readonly events: EventTask | undefined;
}
/** Copies the next records of the current version; with none left, switches to the new version. */
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
 * Long, beside the writers: makes a segment file of the next records of a version, whatever its index looks like, and commits
 * nothing. Refused `unprocessable` where a record cannot be read; the detail names it.
 */
export interface ReindexTask extends TaskBase {
  readonly kind: 'reindex';
  readonly version: number;
  readonly part?: PartName | undefined;
  /** Record number to begin at. */
  readonly cursor: number;
  readonly recordsMax: number;
  readonly bytesMax: number;
  readonly newSegment: number;
}
/** Puts these segments in the place of those that the version had when the first of them was begun. */
export interface CommitReindexTask extends TaskBase {
  readonly kind: 'commit-reindex';
  readonly version: number;
  readonly part?: PartName | undefined;
  readonly segments: readonly BuiltSegment[];
  /** Undefined for a list that is closed: nothing was written since, and the new segments hold all there is. */
  readonly open: GenerationsSince | undefined;
}
/** What a task that ran beside the writers began with, and what has become of it. */
export interface GenerationsSince {
  readonly before: GenerationHandle;
  readonly now: GenerationHandle;
  /** Of `before`, to be replaced. */
  readonly sources: readonly { readonly id: number; readonly handle: SegmentHandle }[];
  /** Written since. */
  readonly others: readonly SegmentHandle[];
}
export interface CheckTask extends TaskBase {
  readonly kind: 'check';
  readonly version: number;
  readonly generation: GenerationHandle;
  readonly segments: readonly { readonly id: number; readonly handle: SegmentHandle }[];
  /** How many records are looked for by their own words. */
  readonly sampleSize: number;
  readonly pages: Pick<PartView, 'generation' | 'segments'> | undefined;
  /** Vectors of pictures; undefined where the version has no index of such. */
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
  /** `cursor`: undefined where no record is left to be looked at. */
  'remove-unlisted': {
    readonly commit: Commit | undefined;
    readonly removed: number;
    readonly cursor: number | undefined;
  };
  /** Undefined where the sources hold no live document any more. */
  merge: MergedSegment | undefined;
  'commit-merge': { readonly commit: Commit };
  'start-build': { readonly state: ListState; readonly version: number };
  'build-step': {
    readonly commit: Commit;
    readonly done: boolean;
    readonly copied: number;
    /** Records of which a value was kept unindexed, by field. */
    readonly unfit: Readonly<Record<string, number>>;
    /** Their pages were copied without those that are damaged; they are read again. */
    readonly damaged: readonly DamagedFile[];
  };
  'drop-version': ListState;
  'clone-list': ListState;
  /** `damaged`: their pages were indexed without those that are damaged; they are read again. */
  reindex: ReindexedRecords & { readonly damaged: readonly DamagedFile[] };
  'commit-reindex': { readonly commit: Commit };
  check: readonly string[];
}
export type IngestResult<T extends IngestTask> = IngestResults[T['kind']];

export interface IngestOptions {
  readonly signal?: AbortSignal;
  /** Whose list it is: accounts that wait for a thread have turns. Those of whom it is not known share one. */
  readonly account?: string;
}

export interface IngestExecutor {
  /** Tasks that commit and wait for a thread. */
  readonly waiting: number;
  /** How many of them each account has, where it has any. Counted when it is asked for. */
  waitingByAccount(): ReadonlyMap<string, number>;
  /** Refuses no task for waiting (`WriteAdmission` does). Rejects with a ServiceError: the task's own, or `internal-error` (the worker died). */
  run<T extends IngestTask>(task: T, options?: IngestOptions): Promise<IngestResult<T>>;
}

/** The executor as lists of the account have it. */
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
