/** What is known of a file that records link to: whether and when it was read, and the outcome. */
import { hash } from 'node:crypto';
import { RECORDING_KINDS, type FileFault, type KnownFile, type ReadKind } from './file-reader.js';
import type { FileToRead } from './linked-files.js';

const KEY_CHARACTERS = 22;

export type ExtractState = 'pending' | 'read' | 'failed';

export interface ExtractFault {
  readonly error: FileFault;
  readonly detail: string;
  readonly atMs: number;
}

export interface ExtractRow {
  readonly url: string;
  /** Absent for a document. */
  readonly kind?: ReadKind;
  /** `pending`: to be read, for the first time or again. */
  readonly state: ExtractState;
  /** Pages at the last reading; absent if there are none. */
  readonly text?: {
    readonly pageCount: number;
    readonly pagesRead: number;
    readonly truncated: boolean;
    readonly readMs: number;
  };
  /** Passages of a recording at the last reading. */
  readonly recording?: {
    /** Seconds; null if the file does not say. */
    readonly duration: number | null;
    readonly passages: number;
    readonly truncated: boolean;
    /** Hash of the passages. */
    readonly hash: string;
    /**
     * `transcript`: key of the transcript, if the recording is transcribed. `isTranscribed`: true if the transcript is
     * among the passages.
     */
    readonly transcript?: string;
    readonly isTranscribed?: boolean;
    readonly readMs: number;
  };
  /** The picture at the last reading. */
  readonly picture?: {
    readonly width: number;
    readonly height: number;
    readonly modelVersion: string;
    readonly readMs: number;
  };
  /** Frames of a video at the last reading. */
  readonly frames?: {
    readonly count: number;
    readonly truncated: boolean;
    readonly modelVersion: string;
    readonly readMs: number;
  };
  readonly file?: KnownFile;
  /** Why the last attempt to read the file failed. */
  readonly fault?: ExtractFault;
}

/** True if the file has contents, possibly outdated. */
export function hasContent(row: ExtractRow | undefined): boolean {
  return row?.picture !== undefined || row?.frames !== undefined || hasText(row);
}

/** True if the file has text. */
export function hasText<Row extends ExtractRow | undefined>(row: Row): row is Row & ExtractRow {
  return row?.text !== undefined || row?.recording !== undefined;
}

export function isOfRecording({ kind }: ExtractRow): boolean {
  return RECORDING_KINDS.some((each) => each === kind);
}

/** Hash that tells whether a record has this text in the index: of the passages, or of the file's bytes. */
export function hashOfText({ recording, file }: ExtractRow): string {
  return recording?.hash ?? file?.hash ?? '';
}

/** One of the latest files that could not be read. */
export interface FailedExtract extends ExtractFault {
  readonly url: string;
}

export interface ExtractFigures {
  readonly pending: number;
  readonly read: number;
  readonly failed: number;
}

export const NO_EXTRACTS: ExtractFigures = { pending: 0, read: 0, failed: 0 };

/**
 * Returns the key of a file. URLs that differ only in their fragment are one file. A file has a separate key for each
 * kind as which it is read.
 */
export function keyOfFile({ kind, url }: FileToRead): string {
  const link = /^https?:/iu.test(url) ? url.replace(/#.*$/su, '') : url;
  const file = kind === 'document' ? link : `${kind} ${link}`;
  return hash('sha256', file, 'base64url').slice(0, KEY_CHARACTERS);
}
