/**
 * Pages as they go into an index, whatever of them is damaged on disk: such a page has no words and keeps its place, and its file is read
 * again. Belongs to one task of one thread.
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

/** For the log. */
export const DAMAGED_PAGES =
  'Pages of documents are damaged on disk: they are not found by their words until their documents have been read again, which is to be done';

/** Behind the hash of a file: a record that has its pages without those that are damaged is not done with it. */
const WITH_DAMAGE = ' damaged';

export interface ReadablePages {
  readonly pages: readonly PageOfDocument[];
  readonly isWhole: boolean;
  /** Behind the hash of the file, by which it is known that a record has its pages: with those that are damaged, or without. */
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

  /** Those that were read so far. */
  get damaged(): readonly DamagedFile[] {
    return [...this.damagedFiles.values()];
  }
}

/** As the hash of what a record has without pages that are damaged. */
export function withDamage(hash: string): string {
  return hash.endsWith(WITH_DAMAGE) ? hash : `${hash}${WITH_DAMAGE}`;
}

/** Before a transaction with `readAgain`. */
export function prepareReadingAgain(store: RecordStore, files: readonly FileToRead[]): void {
  if (files.length === 0) return;
  extractStore(store).prepare([]);
  void readingQueue(store);
}

/** Inside a transaction: files whose pages are damaged are read again, also where they are what they were. Those that wait for it already, or could not be read, have their turn. */
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

/** Inside a transaction. */
export function putPending(store: RecordStore, row: Omit<ExtractRow, 'state'>, nowMs: number): void {
  const { url, kind = 'document' } = row;
  extractStore(store).put(keyOfFile({ kind, url }), { ...row, state: 'pending' });
  readingQueue(store).put(
    [{ lane: readingLane({ kind, url }), item: { url, kind, forced: true, postponed: 0 } }],
    nowMs,
  );
}
