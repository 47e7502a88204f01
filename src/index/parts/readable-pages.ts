/**
 * Reads pages for an index although some may be damaged on disk: a damaged page has no words and keeps its position,
 * and its file is read again. Belongs to one task of one thread.
 */
import {
  extractStore,
  keyOfFile,
  readingLane,
  readingQueue,
  type ExtractRow,
  type ExtractStore,
  type FileToRead,
  type TextKind,
} from '../../extracts/index.js';
import type { RecordStore } from '../../records/index.js';
import type { DamagedFile } from '../contract/resource-tasks.js';
import type { PageOfDocument } from './part-documents.js';

/** Message for the log. */
export const DAMAGED_PAGES =
  'Pages of documents are damaged on disk: they are not found by their words until their documents have been read again, which is to be done';

/**
 * Suffix of a file's hash that marks a record whose damaged pages are missing from the index, so that its pages are
 * indexed again.
 */
const WITH_DAMAGE = ' damaged';

export interface ReadablePages {
  readonly pages: readonly PageOfDocument[];
  readonly isWhole: boolean;
  /**
   * Suffix for the file's hash, which tells whether a record has the file's pages: with the damaged ones ('') or
   * without.
   */
  readonly mark: string;
}

export class ReadablePagesReader {
  private readonly damagedFiles = new Map<string, DamagedFile>();

  constructor(private readonly extracts: ExtractStore) {}

  read(file: FileToRead<TextKind>): ReadablePages {
    const damaged = new Set<number>();
    const read = this.extracts.pages(file, {}, (page) => void damaged.add(page));
    if (damaged.size === 0) return { pages: read, isWhole: true, mark: '' };
    this.damagedFiles.set(keyOfFile(file), { ...file, pages: [...damaged] });
    const pages = read.map((page) => (damaged.has(page.page) ? { ...page, isDamaged: true } : page));
    return { pages, isWhole: false, mark: WITH_DAMAGE };
  }

  /** Files with damaged pages among those read so far. */
  get damaged(): readonly DamagedFile[] {
    return [...this.damagedFiles.values()];
  }
}

/** Returns the hash as it is stored with a record whose damaged pages are missing. */
export function withDamage(hash: string): string {
  return hash.endsWith(WITH_DAMAGE) ? hash : `${hash}${WITH_DAMAGE}`;
}

/** Opens what `readAgain` needs; call it before the transaction. */
export function prepareReadingAgain(store: RecordStore, files: readonly FileToRead[]): void {
  if (files.length === 0) return;
  extractStore(store).prepare([]);
  void readingQueue(store);
}

/**
 * Queues files with damaged pages to be read again, even if the files have not changed. Call it inside a transaction.
 * Skips files that are already waiting, or could not be read: these are queued anyway.
 */
export function readAgain(store: RecordStore, files: readonly FileToRead[], nowMs: number): number {
  let queued = 0;
  for (const file of files) {
    const row = extractStore(store).row(keyOfFile(file));
    if (row?.state !== 'read') continue;
    putPending(store, row, nowMs);
    queued += 1;
  }
  return queued;
}

/** Queues a file to be read, inside a transaction. */
export function putPending(store: RecordStore, row: Omit<ExtractRow, 'state'>, nowMs: number): void {
  const { url, kind = 'document' } = row;
  extractStore(store).put(keyOfFile({ kind, url }), { ...row, state: 'pending' });
  readingQueue(store).put(
    [{ lane: readingLane({ kind, url }), item: { url, kind, forced: true, postponed: 0 } }],
    nowMs,
  );
}
