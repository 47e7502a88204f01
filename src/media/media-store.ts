/** Interface of every kind of media store. One conformance suite (`media-store.test.ts`) runs against all of them. */

/** A file as it is listed and reported. */
export interface StoredFile {
  readonly path: string;
  readonly bytes: number;
  readonly contentType: string;
  /** Changes with the content; without quotes. */
  readonly etag: string;
  /** ISO 8601, UTC, milliseconds. */
  readonly modifiedUtc: string;
}

/** Bytes from `begin` up to, but without, `end`. */
export interface ByteRange {
  readonly begin: number;
  readonly end: number;
}

/** An open file that stays readable unchanged, whatever happens to its path. Read once, or closed. */
export interface OpenFile {
  readonly file: StoredFile;
  /**
   * Yields its bytes and closes it at the end. Throws `storage-damaged` before the last piece if the file is not
   * intact.
   */
  pieces(range?: ByteRange): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

/** Throws if the file at a path (undefined if there is none) is not what the request expects. */
export type FileCheck = (current: StoredFile | undefined) => void;

export interface Upload {
  readonly path: string;
  readonly contentType: string;
  /** Undefined if the length is known only at the end. */
  readonly bytes: number | undefined;
  readonly body: AsyncIterable<Uint8Array>;
  /** Called before anything is received, and again in the step that puts the file in place. */
  readonly check: FileCheck;
  /** True if `check` expects anything: a server that can compare has to verify it in the last step. */
  readonly isConditional: boolean;
}

export interface PutOutcome {
  readonly file: StoredFile;
  readonly isNew: boolean;
}

export interface ListQuery {
  readonly prefix: string;
  /** Lists files after this path; '' for all. */
  readonly after: string;
  readonly size: number;
  /** Aborts a page that takes many requests; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

export interface FilePage {
  /** In the order of the bytes of their paths in UTF-8. */
  readonly files: readonly StoredFile[];
  readonly hasMore: boolean;
}

/** Null if the store does not count, or has no limit. */
export interface StoreUsage {
  readonly bytesUsed: number | null;
  readonly bytesMax: number | null;
  readonly fileCount: number | null;
}

/** Called in the transaction of the change if the store has transactions, otherwise right after it. */
export interface FileEvents {
  uploaded(file: StoredFile): void;
  deleted(file: StoredFile): void;
}

export interface MediaStore {
  /**
   * Puts a file in place when all of it has arrived and is on disk. Until then, the path keeps its old file, and a body
   * that breaks off leaves nothing. Rejects with what the body or the check throws, `store-full` or `storage-full`.
   */
  put(upload: Upload): Promise<PutOutcome>;
  /** Undefined if there is no such file. */
  open(path: string): Promise<OpenFile | undefined>;
  stat(path: string): Promise<StoredFile | undefined>;
  /** Rejects with `file-not-found`, or with what the check throws. */
  remove(path: string, check: FileCheck): Promise<StoredFile>;
  list(query: ListQuery): Promise<FilePage>;
  usage(): Promise<StoreUsage>;
}

/** Bytes read from a file at a time. */
export const PIECE_BYTES = 65_536;
