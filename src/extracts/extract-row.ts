/** What is known of a file that records link to: whether it was read, when, and what came of it. */
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
  /** Absent: a document. */
  readonly kind?: ReadKind;
  /** `pending`: it is to be read, for the first time or again. */
  readonly state: ExtractState;
  /** Its pages, as they were read last; absent where there are none. */
  readonly text?: {
    readonly pageCount: number;
    readonly pagesRead: number;
    readonly truncated: boolean;
    readonly readMs: number;
  };
  /** What is said in a recording, as it was read last. */
  readonly recording?: {
    /** Seconds; null where the file does not say. */
    readonly duration: number | null;
    readonly passages: number;
    readonly truncated: boolean;
    /** Of its passages. */
    readonly hash: string;
    /** Under which what is said is kept, where it is written down; `isTranscribed`: it is among the passages. */
    readonly transcript?: string;
    readonly isTranscribed?: boolean;
    readonly readMs: number;
  };
  /** Of a picture, as it was read last. */
  readonly picture?: {
    readonly width: number;
    readonly height: number;
    readonly modelVersion: string;
    readonly readMs: number;
  };
  /** Of a video, what is to be seen in it. */
  readonly frames?: {
    readonly count: number;
    readonly truncated: boolean;
    readonly modelVersion: string;
    readonly readMs: number;
  };
  readonly file?: KnownFile;
  /** Why it was not read when it was tried last. */
  readonly fault?: ExtractFault;
}

/** Something was read of the file, be it a while ago. */
export function hasContent(row: ExtractRow | undefined): boolean {
  return row?.picture !== undefined || row?.frames !== undefined || hasText(row);
}

/** There are words. */
export function hasText<Row extends ExtractRow | undefined>(row: Row): row is Row & ExtractRow {
  return row?.text !== undefined || row?.recording !== undefined;
}

export function isOfRecording({ kind }: ExtractRow): boolean {
  return RECORDING_KINDS.some((each) => each === kind);
}

/** By which it is known that a record has these words in the index: of the bytes that they were read of, or of themselves. */
export function hashOfText({ recording, file }: ExtractRow): string {
  return recording?.hash ?? file?.hash ?? '';
}

/** A file that could not be read, among the newest. */
export interface FailedExtract extends ExtractFault {
  readonly url: string;
}

export interface ExtractFigures {
  readonly pending: number;
  readonly read: number;
  readonly failed: number;
}

export const NO_EXTRACTS: ExtractFigures = { pending: 0, read: 0, failed: 0 };

/** Places within one file are the same file; what is read of it as a picture is something else than what is read of it as a document. */
export function keyOfFile({ kind, url }: FileToRead): string {
  const link = /^https?:/iu.test(url) ? url.replace(/#.*$/su, '') : url;
  const file = kind === 'document' ? link : `${kind} ${link}`;
  return hash('sha256', file, 'base64url').slice(0, KEY_CHARACTERS);
}
