/** What ingest workers are asked about the files that a list's records link to, and what they answer. */
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

/** Looks through the next records for links to files. */
export interface QueueLinksTask extends TaskBase {
  readonly kind: 'queue-links';
  readonly nowMs: number;
  readonly recordsMax: number;
}
/** What became of files that were to be read. */
export interface CommitReadingTask extends TaskBase {
  readonly kind: 'commit-reading';
  readonly nowMs: number;
  /** To the next look at them. */
  readonly checkMs: number;
  readonly settlements: readonly Settlement<ReadingTypes>[];
}
/** Puts the pages of the documents of records into the index. */
export interface CommitPagesTask extends WritingTask {
  readonly kind: 'commit-pages';
  readonly settlements: readonly Settlement<AttachTypes>[];
}
/** Has some of the files read again. */
export interface RefreshResourcesTask extends TaskBase {
  readonly kind: 'refresh-resources';
  readonly nowMs: number;
  readonly failedOnly: boolean;
  /** Those behind this key; '' for all. */
  readonly after: string;
}
/** These files may have changed. */
export interface LookAtFilesTask extends TaskBase {
  readonly kind: 'look-at-files';
  readonly nowMs: number;
  /** Somebody changed them, and may wait until they are read: until they were looked at they are pending. */
  readonly isTold: boolean;
  readonly urls: readonly string[];
}
/** Pages of these documents are damaged on disk: they are read again, also where they are what they were. */
export interface ReadAgainTask extends TaskBase {
  readonly kind: 'read-again';
  readonly nowMs: number;
  readonly urls: readonly string[];
}

/** A file of which these pages, or passages, are damaged on disk. */
export interface DamagedFile extends FileToRead<TextKind> {
  readonly pages: readonly number[];
}

/** Keeps what a model wrote down of a recording so far. */
export interface KeepTranscriptTask extends TaskBase {
  readonly kind: 'keep-transcript';
  readonly file: FileToRead;
  /** Under which it is kept. */
  readonly transcript: string;
  readonly kept: KeptTranscript;
}
/** Has recordings looked at, since the model that writes down what is said in them is another one. */
export interface TranscribeByTask extends TaskBase {
  readonly kind: 'transcribe-by';
  readonly nowMs: number;
  /** Of the model; '' for none. */
  readonly version: string;
  /** Those behind this key; '' for all. */
  readonly after: string;
}
/** Has videos looked for and looked at, since their frames are read otherwise. */
export interface FramesByTask extends TaskBase {
  readonly kind: 'frames-by';
  readonly nowMs: number;
  /** By what they are read. */
  readonly version: string;
  /** Files behind this key; '' for all. */
  readonly after: string;
}
/** What is in the documents of the record of this name; commits nothing. */
export interface LinkedTextsTask extends TaskBase {
  readonly kind: 'linked-texts';
  readonly name: string;
  /** Of each document. */
  readonly pages: PageRange;
}
/** The list's pictures are searched by the vectors of that model from now on. Null: they are not, and what was read of some of them is forgotten. */
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
  /** `done`: false where there is more to be forgotten. */
  'attach-pictures': { readonly state: ListState; readonly done: boolean };
  'queue-links': { readonly done: boolean };
  /** How many outcomes held. */
  'commit-reading': { readonly told: number };
  /** `done`: of the settlements, from the first; the others are for another task. `damaged`: they are read again. */
  'commit-pages': { readonly commit: Commit; readonly done: number; readonly damaged: readonly DamagedFile[] };
  /** `after`: undefined where that were all. */
  'refresh-resources': { readonly queued: number; readonly after: string | undefined };
  'look-at-files': { readonly queued: number };
  'read-again': { readonly queued: number };
  'keep-transcript': { readonly done: boolean };
  /** `after`: undefined where that were all. */
  'transcribe-by': { readonly after: string | undefined };
  /** `state`: with the last of them, where pictures are searched. */
  'frames-by': { readonly after: string | undefined; readonly state: ListState | undefined };
  /** Undefined where there is no such record. */
  'linked-texts': readonly LinkedText[];
}
