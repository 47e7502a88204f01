/**
 * What was read from the files that a list's records link to, in the list's store: once per URL, however many records
 * link to it.
 *
 *   extracts        key of the file → ExtractRow
 *   extract-transcripts  key of a transcript → the transcript, and the keys of the files that have it
 *   extract-meta    'figures' → number of files in each state; 'errors' → the latest failures; 'scan-v<N>' → how far a
 *                   version's records were searched for links; 'scan-recordings-v<N>' → the same if there may be links
 *                   to recordings;
 *                   'words-tried' → number of page rows when words for packing them were last searched
 *   links-v<N>      [key of the file, record number] → 1: the records of a version that link to the file
 *
 * The contents are in `content-store.ts`.
 *
 * Changes are made inside a transaction of the store, together with what they belong to. Thread-safety: as that of the
 * store.
 */
import type { Database } from 'lmdb';
import type { RecordStore } from '../records/index.js';
import { LIST_STATE_FORMAT_WITH_FRAMES, LIST_STATE_FORMAT_WITH_RECORDINGS, versionSuffix } from '../store/index.js';
import type { FieldDefinition } from '../catalog/index.js';
import {
  SEEN_KINDS,
  type KeptTranscript,
  type Passage,
  type ReadContent,
  type ReadPage,
  type ReadText,
  type RecordingKind,
  type SeenFrame,
  type TextKind,
} from './file-reader.js';
import { hasRecordings, type FileToRead } from './linked-files.js';
import { ContentStore, type StoreOfContents } from './content-store.js';
import {
  isOfRecording,
  keyOfFile,
  NO_EXTRACTS,
  type ExtractFigures,
  type ExtractRow,
  type ExtractState,
  type FailedExtract,
} from './extract-row.js';
import type { PageRange } from './page-codec.js';
import type { PackedDocuments } from './page-packer.js';
import type { StoredPage } from './page-row-codec.js';

/** A page of a document, with the document's number of pages. */
export interface PageOfDocument extends StoredPage {
  readonly pageCount: number;
}

interface StoredTranscript {
  /** Keys of the files with these bytes. */
  readonly files: readonly string[];
  readonly kept: KeptTranscript;
}

const NO_TRANSCRIPT: StoredTranscript = { files: [], kept: { pieces: [], isWhole: false } };
const ERRORS_KEPT = 20;
const DATABASE = 'extracts';
/** Greater than every record number. */
const END = Number.MAX_SAFE_INTEGER;
const AFTER_ALL_KEYS = '\u{10FFFF}';

type Resources = Pick<FieldDefinition, 'resources'>;
const opened = new WeakMap<RecordStore, ExtractStore>();

/**
 * Returns the extract store, which is cached per store of this thread: opening databases takes the write lock for a
 * moment.
 */
export function extractStore(store: RecordStore): ExtractStore {
  let found = opened.get(store);
  if (found === undefined) opened.set(store, (found = new ExtractStore(store)));
  return found;
}

export class ExtractStore {
  private isThere = false;
  private rowsDb: Database<ExtractRow, string> | undefined;
  private transcriptsDb: Database<StoredTranscript, string> | undefined;
  private metaDb: Database<unknown, string> | undefined;
  private readonly linksDbs = new Map<number, Database<number, [key: string, recordNumber: number]>>();

  private readonly contents: ContentStore;

  constructor(private readonly store: StoreOfContents) {
    this.contents = new ContentStore(store);
  }

  /**
   * False if no record ever linked to a file; no database is opened to find out. Cached once true, because databases
   * are never removed.
   */
  get exists(): boolean {
    return (this.isThere ||= this.rowsDb !== undefined || this.store.hasDatabase(DATABASE));
  }

  hasLinks(version: number): boolean {
    return this.linksDbs.has(version) || this.store.hasDatabase(linksName(version));
  }

  private get rows(): Database<ExtractRow, string> {
    return (this.rowsDb ??= this.store.environment.database<ExtractRow, string>(DATABASE));
  }
  private get transcripts(): Database<StoredTranscript, string> {
    return (this.transcriptsDb ??= this.store.environment.database<StoredTranscript, string>('extract-transcripts'));
  }
  private get meta(): Database<unknown, string> {
    return (this.metaDb ??= this.store.environment.database<unknown, string>('extract-meta'));
  }
  private links(version: number): Database<number, [key: string, recordNumber: number]> {
    let found = this.linksDbs.get(version);
    if (found === undefined) {
      found = this.store.environment.database<number, [key: string, recordNumber: number]>(linksName(version));
      this.linksDbs.set(version, found);
    }
    return found;
  }

  /** Opens all databases; call it before a transaction that uses them. `versions`: versions whose links are changed. */
  prepare(versions: readonly number[]): this {
    void [this.rows, this.transcripts, this.meta];
    this.contents.prepare();
    for (const version of versions) void this.links(version);
    return this;
  }

  /** Forgets the database of a version that was dropped. */
  forgetVersion(version: number): void {
    this.linksDbs.delete(version);
  }

  // ---- reading

  outline(file: FileToRead): ExtractRow | undefined {
    return this.exists ? this.row(keyOfFile(file)) : undefined;
  }

  /** Vector of a picture; undefined if there is none. */
  vector(key: string): Float32Array | undefined {
    return this.exists ? this.contents.vector(key) : undefined;
  }

  /** Frames of a video, in order. */
  frames(key: string): SeenFrame[] {
    return this.exists ? this.contents.frames(key) : [];
  }

  /** Second of the frame of a video at a place, from 0. */
  secondOfFrame(key: string, place: number): number | undefined {
    return this.exists ? this.contents.secondOfFrame(key, place) : undefined;
  }

  /**
   * Returns the pages of the range that were last read from a document, or passages of a recording as pages; empty if
   * nothing was read. Throws if one cannot be read. With `tellDamaged` it reports such a page instead, which then has
   * an empty text.
   */
  pages(file: FileToRead<TextKind>, range: PageRange = {}, tellDamaged?: (page: number) => void): readonly ReadPage[] {
    return this.exists ? this.contents.pages(keyOfFile(file), file.kind, range, tellDamaged) : [];
  }

  /**
   * Returns a stored page (`textOfPage`), valid until the next read. Undefined if nothing was read from the file;
   * without bytes if the page was not among what was read.
   */
  page(url: string, page: number): PageOfDocument | undefined {
    if (!this.exists) return undefined;
    const key = keyOfFile({ kind: 'document', url });
    const stored = this.contents.page(key, page);
    if (stored.pageCount !== undefined) return stored as PageOfDocument;
    const pageCount = this.row(key)?.text?.pageCount;
    return pageCount === undefined ? undefined : { ...stored, pageCount };
  }

  /** Returns a passage of a recording, from 1; undefined if nothing was read from the file. */
  passage(file: FileToRead<RecordingKind>, place: number): Passage | undefined {
    return this.exists ? this.contents.passage(keyOfFile(file), place) : undefined;
  }

  /** Yields pages of documents whose text cannot be read. Reads all pages that are rows. */
  *damagedPages(): Generator<{ readonly url: string; readonly page: number }> {
    if (!this.exists) return;
    for (const { key, page } of this.contents.damagedPages()) yield { url: this.row(key)?.url ?? key, page };
  }

  // ---- reading, by key

  row(key: string): ExtractRow | undefined {
    return this.rows.get(key);
  }

  /** Returns the rows behind a key, in the order of keys. */
  rowsBehind(after: string, limit: number): { readonly key: string; readonly row: ExtractRow }[] {
    const range = this.rows.getRange({ start: after, end: AFTER_ALL_KEYS, limit: limit + 1 });
    const rows = Array.from(range, ({ key, value }) => ({ key, row: value }));
    return rows.filter(({ key }) => key !== after).slice(0, limit);
  }

  /** Returns the first pictures and videos that are read as such, up to `limit`. Scans all rows. */
  seenRows(limit: number): ExtractRow[] {
    const found: ExtractRow[] = [];
    for (const { value } of this.rows.getRange()) {
      if (found.length >= limit) break;
      if (SEEN_KINDS.some((kind) => kind === value.kind)) found.push(value);
    }
    return found;
  }

  /** True if a URL begins with `prefix`. Scans all rows. */
  hasBelow(prefix: string): boolean {
    for (const { value } of this.rows.getRange()) if (value.url.startsWith(prefix)) return true;
    return false;
  }

  /** Returns the records of a version that link to the file. */
  recordsOf(key: string, version: number): number[] {
    const range = this.links(version).getKeys({ start: [key, 0], end: [key, END] });
    return Array.from(range, ([, recordNumber]) => recordNumber);
  }

  isLinked(key: string, versions: readonly number[]): boolean {
    return versions.some((version) => {
      for (const found of this.links(version).getKeys({ start: [key, 0], end: [key, END], limit: 1 }))
        return found[0] === key;
      return false;
    });
  }

  /** Returns the keys of the files that a version links to, behind a key. */
  linkedKeys(version: number, after: string, limit: number): string[] {
    const keys: string[] = [];
    let behind = after;
    while (keys.length < limit) {
      const [next] = Array.from(this.links(version).getKeys({ start: [behind, END], limit: 1 }));
      if (next === undefined) break;
      behind = next[0];
      keys.push(behind);
    }
    return keys;
  }

  /** Returns the part of a transcript that was stored so far. */
  transcript(key: string): KeptTranscript | undefined {
    return this.exists ? this.transcripts.get(key)?.kept : undefined;
  }

  /** Version of the transcription model for which all recordings have been looked at; '' for none. */
  transcribedBy(): string {
    return (this.exists ? (this.meta.get('transcribed-by') as string | undefined) : undefined) ?? '';
  }

  /** Exact numbers of files in each state. */
  figures(): ExtractFigures {
    return (this.exists ? (this.meta.get('figures') as ExtractFigures | undefined) : undefined) ?? NO_EXTRACTS;
  }

  /** Latest failures, newest first. */
  errors(): readonly FailedExtract[] {
    return (this.exists ? (this.meta.get('errors') as FailedExtract[] | undefined) : undefined) ?? [];
  }

  /**
   * Record number at which the search for links continues; Infinity if it is complete, undefined if it has not begun.
   */
  scannedTo(version: number, definition: Resources): number | undefined {
    const scanned = this.meta.get(scanName(version, definition)) as number | undefined;
    return scanned === -1 ? Infinity : scanned;
  }

  // ---- inside a transaction

  putLink(version: number, key: string, recordNumber: number): void {
    void this.links(version).putSync([key, recordNumber], 1);
  }

  removeLink(version: number, key: string, recordNumber: number): void {
    this.links(version).removeSync([key, recordNumber]);
  }

  /**
   * Writes a row. `content`: contents read now; null: none any more; undefined: unchanged. `packed`: packed pages of
   * the documents, made before the transaction; without it the pages are stored without a dictionary.
   */
  put(key: string, row: ExtractRow, content?: ReadContent | null, packed?: PackedDocuments): void {
    const before = this.row(key);
    this.count(before?.state, row.state);
    this.noteError(row, before);
    void this.rows.putSync(key, row);
    if (isOfRecording(row)) this.store.raiseFormat(LIST_STATE_FORMAT_WITH_RECORDINGS);
    if (row.kind === 'frames') this.store.raiseFormat(LIST_STATE_FORMAT_WITH_FRAMES);
    this.holdTranscript(key, before?.recording?.transcript, row.recording?.transcript);
    if (content === null) this.contents.remove(key);
    else if (content !== undefined) this.contents.put(key, content, packed);
  }

  /**
   * Packs the documents that a transaction will put; call it before the transaction, which then also calls `putPacked`.
   */
  packed(documents: readonly ReadText[]): PackedDocuments {
    return this.contents.packed(documents, (this.meta.get('words-tried') as number | undefined) ?? 0);
  }

  /** Writes what the packed documents need; call it in the transaction that puts them. */
  putPacked({ learned, triedAt }: PackedDocuments): void {
    if (triedAt !== undefined) void this.meta.putSync('words-tried', triedAt);
    if (learned !== undefined) this.store.recordWords.putLearned(learned);
  }

  remove(key: string): void {
    const before = this.row(key);
    if (before === undefined) return;
    this.count(before.state, undefined);
    this.noteError(undefined, before);
    this.rows.removeSync(key);
    this.contents.remove(key);
    this.holdTranscript(key, before.recording?.transcript, undefined);
  }

  /** Stores a transcript. Ignored if the file's row no longer has this key. */
  putTranscript(key: string, transcript: string, kept: KeptTranscript): void {
    const stored = this.transcripts.get(transcript);
    if (this.row(key)?.recording?.transcript !== transcript || stored === undefined) return;
    void this.transcripts.putSync(transcript, { ...stored, kept });
  }

  putTranscribedBy(version: string): void {
    void this.meta.putSync('transcribed-by', version);
  }

  putScanned(version: number, definition: Resources, recordNumber: number): void {
    void this.meta.putSync(scanName(version, definition), recordNumber === Infinity ? -1 : recordNumber);
  }

  /** Copies a row of another list, with its contents. */
  copy(from: ExtractStore, key: string, row: ExtractRow): void {
    this.put(key, row);
    const transcript = row.recording?.transcript;
    const kept = transcript === undefined ? undefined : from.transcript(transcript);
    if (transcript !== undefined && kept !== undefined) this.putTranscript(key, transcript, kept);
    this.contents.copy(from.contents, key);
  }

  /** Keeps the transcript as long as a file refers to it. */
  private holdTranscript(key: string, before: string | undefined, after: string | undefined): void {
    if (before === after) return;
    const released = before === undefined ? undefined : this.transcripts.get(before);
    if (before !== undefined && released !== undefined) {
      const files = released.files.filter((file) => file !== key);
      if (files.length === 0) this.transcripts.removeSync(before);
      else void this.transcripts.putSync(before, { ...released, files });
    }
    if (after === undefined) return;
    const { files, kept } = this.transcripts.get(after) ?? NO_TRANSCRIPT;
    void this.transcripts.putSync(after, { files: [...files, key], kept });
  }

  private count(before: ExtractState | undefined, after: ExtractState | undefined): void {
    if (before === after) return;
    const figures = { ...this.figures() };
    if (before !== undefined) figures[before] -= 1;
    if (after !== undefined) figures[after] += 1;
    void this.meta.putSync('figures', figures);
  }

  /** Updates the list of errors: a file that was read or is gone is removed from it. */
  private noteError(row: ExtractRow | undefined, before: ExtractRow | undefined): void {
    const { fault } = row ?? {};
    if (fault === undefined && before?.fault === undefined) return;
    const url = (row ?? before)?.url ?? '';
    const others = this.errors().filter((each) => each.url !== url);
    void this.meta.putSync(
      'errors',
      fault === undefined ? others : [{ url, ...fault }, ...others].slice(0, ERRORS_KEPT),
    );
  }
}

function linksName(version: number): string {
  return `links-${versionSuffix(version)}`;
}

/**
 * Earlier releases did not search for links to recordings. So if there may be some, the progress has another name, and
 * records are searched again.
 */
function scanName(version: number, definition: Resources): string {
  return `${hasRecordings(definition) ? 'scan-recordings' : 'scan'}-${versionSuffix(version)}`;
}
