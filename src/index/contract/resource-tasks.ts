/** Tasks of ingest workers that concern the files that a list's records link to, and their results. */
import type {
  AttachTypes,
  FileToRead,
  KeptTranscript,
  PageRange,
  PictureModel,
  ReadingTypes,
  TextKind,
} from '../../extracts/index.js';
import type { Settlement } from '../../platform/work/index.js';
import type { ListState } from '../../store/index.js';
import type { Commit } from './index-changes.js';
import type { TaskBase, WritingTask } from './task-parts.js';
import type { LinkedText } from './types.js';

/** Searches the next records for links to files. */
export interface QueueLinksTask extends TaskBase {
  readonly kind: 'queue-links';
  readonly nowMs: number;
  readonly recordsMax: number;
}
/** Stores the outcome of reading files. */
export interface CommitReadingTask extends TaskBase {
  readonly kind: 'commit-reading';
  readonly nowMs: number;
  /** Time until a file is looked at again. */
  readonly checkMs: number;
  readonly settlements: readonly Settlement<ReadingTypes>[];
}
/** Indexes the pages of the documents that records link to. */
export interface CommitPagesTask extends WritingTask {
  readonly kind: 'commit-pages';
  readonly settlements: readonly Settlement<AttachTypes>[];
}
/** Queues files to be read again. */
export interface RefreshResourcesTask extends TaskBase {
  readonly kind: 'refresh-resources';
  readonly nowMs: number;
  readonly failedOnly: boolean;
  /** Key of the last file handled; continues behind it. '' starts with the first. */
  readonly after: string;
}
/** Queues files that may have changed. */
export interface LookAtFilesTask extends TaskBase {
  readonly kind: 'look-at-files';
  readonly nowMs: number;
  /**
   * True if somebody reported the change and may wait for it: the files count as pending until they have been looked
   * at.
   */
  readonly isTold: boolean;
  readonly urls: readonly string[];
}
/** Queues documents whose stored pages are damaged. They are read again even if the file has not changed. */
export interface ReadAgainTask extends TaskBase {
  readonly kind: 'read-again';
  readonly nowMs: number;
  readonly urls: readonly string[];
}

/** A file whose stored pages, or passages, with these numbers are damaged. */
export interface DamagedFile extends FileToRead<TextKind> {
  readonly pages: readonly number[];
}

/** Stores the part of a recording's transcript that a model has made so far. */
export interface KeepTranscriptTask extends TaskBase {
  readonly kind: 'keep-transcript';
  readonly file: FileToRead;
  /** Key of the stored transcript. */
  readonly transcript: string;
  readonly kept: KeptTranscript;
}
/** Queues recordings to be looked at, because the transcription model has changed. */
export interface TranscribeByTask extends TaskBase {
  readonly kind: 'transcribe-by';
  readonly nowMs: number;
  /** Version of the model; '' for none. */
  readonly version: string;
  /** As `RefreshResourcesTask.after`. */
  readonly after: string;
}
/** Finds videos and queues them to be looked at, because the way of reading their frames has changed. */
export interface FramesByTask extends TaskBase {
  readonly kind: 'frames-by';
  readonly nowMs: number;
  /** Version of what reads the frames. */
  readonly version: string;
  /** As `RefreshResourcesTask.after`. */
  readonly after: string;
}
/** Returns the contents of the documents that the record of this name links to; commits nothing. */
export interface LinkedTextsTask extends TaskBase {
  readonly kind: 'linked-texts';
  readonly name: string;
  /** Range of pages of each document. */
  readonly pages: PageRange;
}
/**
 * Searches the list's pictures by the vectors of that model from now on. Null: they are not searched, and the stored
 * vectors of pictures are removed, some per task.
 */
export interface AttachPicturesTask extends TaskBase {
  readonly kind: 'attach-pictures';
  readonly model: PictureModel | null;
}
export type ResourceTask =
  | AttachPicturesTask
  | QueueLinksTask
  | CommitReadingTask
  | CommitPagesTask
  | RefreshResourcesTask
  | LookAtFilesTask
  | ReadAgainTask
  | KeepTranscriptTask
  | TranscribeByTask
  | FramesByTask
  | LinkedTextsTask;

export interface ResourceResults {
  /** `done`: false if more vectors remain to be removed. */
  'attach-pictures': { readonly state: ListState; readonly done: boolean };
  'queue-links': { readonly done: boolean };
  /** Number of outcomes that still applied. */
  'commit-reading': { readonly told: number };
  /**
   * `done`: number of settlements committed, from the first; the rest need another task. `damaged`: files that are read
   * again.
   */
  'commit-pages': { readonly commit: Commit; readonly done: number; readonly damaged: readonly DamagedFile[] };
  /** `after`: undefined if all files were handled. */
  'refresh-resources': { readonly queued: number; readonly after: string | undefined };
  'look-at-files': { readonly queued: number };
  'read-again': { readonly queued: number };
  'keep-transcript': { readonly done: boolean };
  /** `after`: undefined if all files were handled. */
  'transcribe-by': { readonly after: string | undefined };
  /** `state`: set with the last files, if pictures are searched. */
  'frames-by': { readonly after: string | undefined; readonly state: ListState | undefined };
  /** Rejects with `record-not-found` if there is no such record. */
  'linked-texts': readonly LinkedText[];
}
