/** What every kind of media store can do. One conformance suite (`media-store.test.ts`) runs against all of them. */

/** A file as it is listed and told. */
export interface StoredFile {
  readonly path: string;
  readonly bytes: number;
  readonly contentType: string;
  /** Changes with the content; without quotes. */
  readonly etag: string;
  /** ISO 8601, UTC, milliseconds. */
  readonly modifiedUtc: string;
}

/** Bytes `begin` up to, but without, `end`. */
export interface ByteRange {
  readonly begin: number;
  readonly end: number;
}

/** A file that stays readable as it was, whatever becomes of its path. Read once, or closed. */
export interface OpenFile {
  readonly file: StoredFile;
  /** Its bytes in pieces; closes it at the end. Throws `storage-damaged` before the last piece of a file that is not whole. */
  pieces(range?: ByteRange): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

/** Throws where the file at a path (undefined: none) is not what the request expects. */
export type FileCheck = (current: StoredFile | undefined) => void;

export interface Upload {
  readonly path: string;
  readonly contentType: string;
  /** Undefined: known at its end. */
  readonly bytes: number | undefined;
  readonly body: AsyncIterable<Uint8Array>;
  /** Asked before anything is received, and again in the step that puts the file in its place. */
  readonly check: FileCheck;
  /** Whether the check expects anything: then a server that compares by itself is to see to it in the last step. */
  readonly isConditional: boolean;
}

export interface PutOutcome {
  readonly file: StoredFile;
  readonly isNew: boolean;
}

export interface ListQuery {
  readonly prefix: string;
  /** Files behind this path; '' for all. */
  readonly after: string;
  readonly size: number;
  /** Ends what a page may take many requests for; it rejects with the signal's reason then. */
  readonly signal?: AbortSignal | undefined;
}

export interface FilePage {
  /** In the order of the bytes of their paths in UTF-8. */
  readonly files: readonly StoredFile[];
  readonly hasMore: boolean;
}

/** Null: the store does not count, or has no limit. */
export interface StoreUsage {
  readonly bytesUsed: number | null;
  readonly bytesMax: number | null;
  readonly fileCount: number | null;
}

/** Told in the transaction of the change where the store has one, right after it otherwise. */
export interface FileEvents {
  uploaded(file: StoredFile): void;
  deleted(file: StoredFile): void;
}

export interface MediaStore {
  /**
   * Puts a file in place when all of it is there and on disk: until then the path has what it had, and a body that breaks off leaves
   * nothing. Rejects with what the body or the check throws, `store-full`, `storage-full`.
   */
  put(upload: Upload): Promise<PutOutcome>;
  /** Undefined: there is no such file. */
  open(path: string): Promise<OpenFile | undefined>;
  stat(path: string): Promise<StoredFile | undefined>;
  /** Rejects with `file-not-found`, or what the check throws. */
  remove(path: string, check: FileCheck): Promise<StoredFile>;
  list(query: ListQuery): Promise<FilePage>;
  usage(): Promise<StoreUsage>;
}

/** Bytes that are read of a file at a time. */
export const PIECE_BYTES = 65_536;
