/**
 * What was read of the files that a list's records link to, in the list's store: once for each URL, however many records link to it.
 *
 *   extracts        key of the file → ExtractRow
 *   extract-transcripts  key of a transcript → what a model wrote down, and the keys of the files that have it
 *   extract-meta    'figures' → how many are in which state; 'errors' → the newest that failed; 'scan-v<N>' → how far a version's
 *                   records were looked through for links; 'scan-recordings-v<N>' → the same where there may be some to recordings;
 *                   'words-tried' → how many rows of pages there were when words to pack them by were looked for last
 *   links-v<N>      [key of the file, record number] → 1: who links to it, in each version
 *
 * What was read itself is beside it, `content-store.ts`.
 *
 * Changes are made inside a transaction of the store, with what they belong to. Thread-safety: as that of the store.
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

/** A page of a document, and how many that has. */
export interface PageOfDocument extends StoredPage {
  readonly pageCount: number;
}

interface StoredTranscript {
  /** Keys of those whose bytes it is of. */
  readonly files: readonly string[];
  readonly kept: KeptTranscript;
}

const NO_TRANSCRIPT: StoredTranscript = { files: [], kept: { pieces: [], isWhole: false } };
const ERRORS_KEPT = 20;
const DATABASE = 'extracts';
/** Above every record number. */
const END = Number.MAX_SAFE_INTEGER;
const AFTER_ALL_KEYS = '\u{10FFFF}';

type Resources = Pick<FieldDefinition, 'resources'>;
const opened = new WeakMap<RecordStore, ExtractStore>();

/** That of this thread's store: opening databases takes the write lock for a moment, so they are opened once. */
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

  /** False where no record ever linked to a file: then nothing is opened to look. What is there stays, so it is looked up until it is. */
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

  /** Opens all, before a transaction that uses them. `versions`: those whose links it touches. */
  prepare(versions: readonly number[]): this {
    void [this.rows, this.transcripts, this.meta];
    this.contents.prepare();
    for (const version of versions) void this.links(version);
    return this;
  }

  /** The version is gone, and its database with it. */
  forgetVersion(version: number): void {
    this.linksDbs.delete(version);
  }

  // ---- reading

  outline(file: FileToRead): ExtractRow | undefined {
    return this.exists ? this.row(keyOfFile(file)) : undefined;
  }

  /** Of a picture; undefined where there is none. */
  vector(key: string): Float32Array | undefined {
    return this.exists ? this.contents.vector(key) : undefined;
  }

  /** Of a video, in their order. */
  frames(key: string): SeenFrame[] {
    return this.exists ? this.contents.frames(key) : [];
  }

  /** At which a frame of a video stands, by its place from 0. */
  secondOfFrame(key: string, place: number): number | undefined {
    return this.exists ? this.contents.secondOfFrame(key, place) : undefined;
  }

  /**
   * Those pages of the range that were read last of a document, or passages of a recording as pages; none where nothing was. Throws where one
   * cannot be read, but for those that are told as damaged: they have no text.
   */
  pages(file: FileToRead<TextKind>, range: PageRange = {}, tellDamaged?: (page: number) => void): readonly ReadPage[] {
    return this.exists ? this.contents.pages(keyOfFile(file), file.kind, range, tellDamaged) : [];
  }

  /**
   * A page as it is kept (`textOfPage`), good until the next is read. Undefined where nothing was read of the file; no bytes where the page is not
   * among what was.
   */
  page(url: string, page: number): PageOfDocument | undefined {
    if (!this.exists) return undefined;
    const key = keyOfFile({ kind: 'document', url });
    const stored = this.contents.page(key, page);
    if (stored.pageCount !== undefined) return stored as PageOfDocument;
    const pageCount = this.row(key)?.text?.pageCount;
    return pageCount === undefined ? undefined : { ...stored, pageCount };
  }

  /** What is said in a passage of a recording, from 1; undefined where nothing was read of the file. */
  passage(file: FileToRead<RecordingKind>, place: number): Passage | undefined {
    return this.exists ? this.contents.passage(keyOfFile(file), place) : undefined;
  }

  /** Pages of documents whose texts cannot be read. Goes through all that are rows. */
  *damagedPages(): Generator<{ readonly url: string; readonly page: number }> {
    if (!this.exists) return;
    for (const { key, page } of this.contents.damagedPages()) yield { url: this.row(key)?.url ?? key, page };
  }

  // ---- reading, by key

  row(key: string): ExtractRow | undefined {
    return this.rows.get(key);
  }

  /** Rows behind that key, in the order of keys. */
  rowsBehind(after: string, limit: number): { readonly key: string; readonly row: ExtractRow }[] {
    const range = this.rows.getRange({ start: after, end: AFTER_ALL_KEYS, limit: limit + 1 });
    const rows = Array.from(range, ({ key, value }) => ({ key, row: value }));
    return rows.filter(({ key }) => key !== after).slice(0, limit);
  }

  /** The first so many that are read as what is to be seen. Goes through all. */
  seenRows(limit: number): ExtractRow[] {
    const found: ExtractRow[] = [];
    for (const { value } of this.rows.getRange()) {
      if (found.length >= limit) break;
      if (SEEN_KINDS.some((kind) => kind === value.kind)) found.push(value);
    }
    return found;
  }

  /** Goes through all of them. */
  hasBelow(prefix: string): boolean {
    for (const { value } of this.rows.getRange()) if (value.url.startsWith(prefix)) return true;
    return false;
  }

  /** The records of a version that link to it. */
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

  /** Keys of what a version links to, behind that key. */
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

  /** What was written down under the key so far. */
  transcript(key: string): KeptTranscript | undefined {
    return this.exists ? this.transcripts.get(key)?.kept : undefined;
  }

  /** By what recordings are written down, as far as all have been looked at since; '' where none are. */
  transcribedBy(): string {
    return (this.exists ? (this.meta.get('transcribed-by') as string | undefined) : undefined) ?? '';
  }

  /** Exact. */
  figures(): ExtractFigures {
    return (this.exists ? (this.meta.get('figures') as ExtractFigures | undefined) : undefined) ?? NO_EXTRACTS;
  }

  /** The newest first. */
  errors(): readonly FailedExtract[] {
    return (this.exists ? (this.meta.get('errors') as FailedExtract[] | undefined) : undefined) ?? [];
  }

  /** Record number at which looking for links goes on; Infinity where it is done, undefined where it has not begun. */
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
   * `content`: what was read now; null: there is none any more; undefined: what there is stays. `packed`: what was made of a document before the
   * transaction; without, its pages are packed by no words.
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

  /** Before a transaction that puts these, together with what packs them (`putPacked`). */
  packed(documents: readonly ReadText[]): PackedDocuments {
    return this.contents.packed(documents, (this.meta.get('words-tried') as number | undefined) ?? 0);
  }

  /** In the transaction that puts the documents that it is of. */
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

  /** Of a file whose row says that it is to be written down under that key; nothing where that is not so any more. */
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

  /** Of a row of another list, with what was read. */
  copy(from: ExtractStore, key: string, row: ExtractRow): void {
    this.put(key, row);
    const transcript = row.recording?.transcript;
    const kept = transcript === undefined ? undefined : from.transcript(transcript);
    if (transcript !== undefined && kept !== undefined) this.putTranscript(key, transcript, kept);
    this.contents.copy(from.contents, key);
  }

  /** It is there for as long as a file has it. */
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

  /** What is read, or gone, is no error any more. */
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

/** Releases that read no recordings looked for no links to any, so where there may be some, records are looked through for them. */
function scanName(version: number, definition: Resources): string {
  return `${hasRecordings(definition) ? 'scan-recordings' : 'scan'}-${versionSuffix(version)}`;
}
