/**
 * What was read of the files that a list's records link to, in the list's store: once for each URL, however many records link to it.
 *
 *   extracts        key of the file → ExtractRow
 *   page-rows       key of the file and page → text of a page of a document (page-rows)
 *   extract-pages   key of the file → text of the passages of a recording, and of the pages of a document as releases before wrote it
 *                   (page-codec, timed-text)
 *   extract-vectors key of the file → vector of a picture, or vectors of the frames of a video (vector-bytes)
 *   extract-transcripts  key of a transcript → what a model wrote down, and the keys of the files that have it
 *   extract-meta    'figures' → how many are in which state; 'errors' → the newest that failed; 'scan-v<N>' → how far a version's
 *                   records were looked through for links; 'scan-recordings-v<N>' → the same where there may be some to recordings;
 *                   'words-tried' → how many rows of pages there were when words to pack them by were looked for last
 *   links-v<N>      [key of the file, record number] → 1: who links to it, in each version
 *
 * Changes are made inside a transaction of the store, with what they belong to. Thread-safety: as that of the store.
 */
import { hash } from 'node:crypto';
import type { Database } from 'lmdb';
import type { RecordStore } from '../records/index.js';
import {
  LIST_STATE_FORMAT_WITH_FRAMES,
  LIST_STATE_FORMAT_WITH_PAGE_COUNTS,
  LIST_STATE_FORMAT_WITH_PAGE_ROWS,
  LIST_STATE_FORMAT_WITH_RECORDINGS,
  versionSuffix,
} from '../store/index.js';
import type { FieldDefinition } from '../catalog/index.js';
import {
  RECORDING_KINDS,
  SEEN_KINDS,
  type FileFault,
  type KeptTranscript,
  type KnownFile,
  type Passage,
  type ReadContent,
  type ReadKind,
  type ReadPage,
  type ReadText,
  type RecordingKind,
  type SeenFrame,
  type TextKind,
} from './file-reader.js';
import { hasRecordings, type FileToRead } from './linked-files.js';
import { decodePages, documentPagesOf, encodePages, packedPage, unpackedPage, type PageRange } from './page-codec.js';
import { PagePacker, rowsWithoutWords, type PackedDocuments } from './page-packer.js';
import { NO_PAGE, PAGE_DEFLATED, type StoredPage } from './page-row-codec.js';
import { PageRows, readPages } from './page-rows.js';
import { decodePassage, encodePassage, textOfPassage } from './timed-text.js';
import { decodeFrames, decodeVector, encodeFrames, encodeVector, secondOfFrame } from './vector-bytes.js';

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

function isOfRecording({ kind }: ExtractRow): boolean {
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

/** A page of a document, and how many that has. */
export interface PageOfDocument extends StoredPage {
  readonly pageCount: number;
}

export interface ExtractFigures {
  readonly pending: number;
  readonly read: number;
  readonly failed: number;
}

export const NO_EXTRACTS: ExtractFigures = { pending: 0, read: 0, failed: 0 };
interface StoredTranscript {
  /** Keys of those whose bytes it is of. */
  readonly files: readonly string[];
  readonly kept: KeptTranscript;
}

const NO_TRANSCRIPT: StoredTranscript = { files: [], kept: { pieces: [], isWhole: false } };
const ERRORS_KEPT = 20;
const KEY_CHARACTERS = 22;
const DATABASE = 'extracts';
/** Above every record number. */
const END = Number.MAX_SAFE_INTEGER;
const AFTER_ALL_KEYS = '\u{10FFFF}';

type Resources = Pick<FieldDefinition, 'resources'>;
type StoreOfExtracts = Pick<
  RecordStore,
  'environment' | 'hasDatabase' | 'raiseFormat' | 'raiseFormatAboveWords' | 'recordWords'
>;

const opened = new WeakMap<RecordStore, ExtractStore>();

/** That of this thread's store: opening databases takes the write lock for a moment, so they are opened once. */
export function extractStore(store: RecordStore): ExtractStore {
  let found = opened.get(store);
  if (found === undefined) opened.set(store, (found = new ExtractStore(store)));
  return found;
}

/** Places within one file are the same file; what is read of it as a picture is something else than what is read of it as a document. */
export function keyOfFile({ kind, url }: FileToRead): string {
  const link = /^https?:/iu.test(url) ? url.replace(/#.*$/su, '') : url;
  const file = kind === 'document' ? link : `${kind} ${link}`;
  return hash('sha256', file, 'base64url').slice(0, KEY_CHARACTERS);
}

export class ExtractStore {
  private isThere = false;
  private rowsDb: Database<ExtractRow, string> | undefined;
  private pagesDb: Database<Buffer, string> | undefined;
  private vectorsDb: Database<Buffer, string> | undefined;
  private transcriptsDb: Database<StoredTranscript, string> | undefined;
  private metaDb: Database<unknown, string> | undefined;
  private readonly linksDbs = new Map<number, Database<number, [key: string, recordNumber: number]>>();

  private readonly pageRows: PageRows;
  private readonly packer: PagePacker;

  constructor(private readonly store: StoreOfExtracts) {
    this.pageRows = new PageRows(store);
    this.packer = new PagePacker(store.recordWords, this.pageRows);
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
  private get pageTexts(): Database<Buffer, string> {
    return (this.pagesDb ??= this.store.environment.database<Buffer, string>('extract-pages', { encoding: 'binary' }));
  }
  private get vectors(): Database<Buffer, string> {
    return (this.vectorsDb ??= this.store.environment.database<Buffer, string>('extract-vectors', {
      encoding: 'binary',
    }));
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
    void [this.rows, this.pageTexts, this.pageRows.database, this.vectors, this.transcripts, this.meta];
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
    const bytes = this.exists ? this.vectors.getBinary(key) : undefined;
    return bytes === undefined ? undefined : decodeVector(bytes);
  }

  /** Of a video, in their order. */
  frames(key: string): SeenFrame[] {
    const bytes = this.exists ? this.vectors.getBinary(key) : undefined;
    return bytes === undefined ? [] : decodeFrames(bytes);
  }

  /** At which a frame of a video stands, by its place from 0. */
  secondOfFrame(key: string, place: number): number | undefined {
    const bytes = this.exists ? this.vectors.getBinaryFast(key) : undefined;
    return bytes === undefined ? undefined : secondOfFrame(bytes, place);
  }

  /**
   * Those pages of the range that were read last of a document, or passages of a recording as pages; none where nothing was. Throws where one
   * cannot be read, but for those that are told as damaged: they have no text.
   */
  pages(
    file: FileToRead<TextKind>,
    { first = 1, max = Infinity }: PageRange = {},
    tellDamaged?: (page: number) => void,
  ): readonly ReadPage[] {
    if (!this.exists) return [];
    const key = keyOfFile(file);
    if (file.kind === 'document') {
      const pages = readPages(this.pageRows.pages(key, first), { first, max }, tellDamaged);
      if (pages.length > 0) return pages;
    }
    const bytes = this.pageTexts.getBinary(key);
    if (bytes === undefined) return [];
    const pages = decodePages(bytes, { first, max }, tellDamaged);
    if (file.kind === 'document') return pages;
    return pages.map(({ page, text }) => ({ page, text: textOfPassage(decodePassage(text)) }));
  }

  /**
   * A page as it is kept (`textOfPage`), good until the next is read. Undefined where nothing was read of the file; no bytes where the page is not
   * among what was.
   */
  page(url: string, page: number): PageOfDocument | undefined {
    if (!this.exists) return undefined;
    const key = keyOfFile({ kind: 'document', url });
    const found = this.pageRows.page(key, page);
    if (found?.pageCount !== undefined) return found as PageOfDocument;
    const stored = found ?? this.pageOfBefore(key, page);
    const pageCount = stored.pageCount ?? this.row(key)?.text?.pageCount;
    return pageCount === undefined ? undefined : { ...stored, pageCount };
  }

  /** As releases before have written it: all pages of a file in one value. Some did not say there how many the document has. */
  private pageOfBefore(key: string, page: number): StoredPage {
    const bytes = this.pageTexts.getBinary(key);
    if (bytes === undefined) return NO_PAGE;
    return { ...NO_PAGE, packing: PAGE_DEFLATED, packed: packedPage(bytes, page), pageCount: documentPagesOf(bytes) };
  }

  /** What is said in a passage of a recording, from 1; undefined where nothing was read of the file. */
  passage(file: FileToRead<RecordingKind>, place: number): Passage | undefined {
    const bytes = this.exists ? this.pageTexts.getBinaryFast(keyOfFile(file)) : undefined;
    return bytes === undefined ? undefined : decodePassage(unpackedPage(packedPage(bytes, place)));
  }

  /** Pages of documents whose texts cannot be read. Goes through all that are rows. */
  *damagedPages(): Generator<{ readonly url: string; readonly page: number }> {
    if (!this.exists) return;
    for (const { key, page } of this.pageRows.damaged()) yield { url: this.row(key)?.url ?? key, page };
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
    if (content === null) this.removeContent(key);
    else if (content?.kind === 'image') void this.vectors.putSync(key, encodeVector(content.vector));
    else if (content?.kind === 'frames') void this.vectors.putSync(key, encodeFrames(content.frames));
    else if (content?.kind === 'document') this.putPages(key, packed?.rowsOf(content) ?? rowsWithoutWords(content));
    else if (content !== undefined) void this.pageTexts.putSync(key, encodePassages(content.passages));
  }

  /** Before a transaction that puts these, together with what packs them (`putPacked`). */
  packed(documents: readonly ReadText[]): PackedDocuments {
    return this.packer.pack(documents, (this.meta.get('words-tried') as number | undefined) ?? 0);
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
    this.removeContent(key);
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
    const pages = from.pageTexts.getBinary(key);
    if (pages !== undefined) {
      if (documentPagesOf(pages) !== undefined) this.store.raiseFormat(LIST_STATE_FORMAT_WITH_PAGE_COUNTS);
      void this.pageTexts.putSync(key, pages);
    }
    const rows = from.pageRows.stored(key);
    if (rows.length > 0) this.putPages(key, rows);
    const vector = from.vectors.getBinary(key);
    if (vector !== undefined) void this.vectors.putSync(key, vector);
  }

  private putPages(key: string, rows: readonly Uint8Array[]): void {
    this.store.raiseFormatAboveWords(LIST_STATE_FORMAT_WITH_PAGE_ROWS);
    this.pageTexts.removeSync(key);
    this.pageRows.put(key, rows);
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

  private removeContent(key: string): void {
    this.pageTexts.removeSync(key);
    this.pageRows.remove(key);
    this.vectors.removeSync(key);
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

function encodePassages(passages: readonly Passage[]): Buffer {
  return encodePages(passages.map((passage, index) => ({ page: index + 1, text: encodePassage(passage) })));
}
