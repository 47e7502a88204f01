/**
 * The contents that were read from files, in the list's store: texts of pages and passages, vectors of pictures and
 * frames. Keyed by file; everything else about a file is in `extract-store.ts`, which is the entry point. Databases are
 * opened on first use: call `prepare` before a transaction.
 *
 *   page-rows       key of the file and page → text of a page of a document (page-rows)
 *   extract-pages   key of the file → text of the passages of a recording, and of the pages of a document as earlier
 *                   releases wrote it (page-codec, timed-text)
 *   extract-vectors key of the file → vector of a picture, or vectors of the frames of a video (vector-bytes)
 */
import type { Database } from 'lmdb';
import type { RecordStore } from '../records/index.js';
import { LIST_STATE_FORMAT_WITH_PAGE_COUNTS, LIST_STATE_FORMAT_WITH_PAGE_ROWS } from '../store/index.js';
import type { Passage, ReadContent, ReadPage, ReadText, SeenFrame, TextKind } from './file-reader.js';
import { decodePages, documentPagesOf, encodePages, packedPage, unpackedPage, type PageRange } from './page-codec.js';
import { PagePacker, rowsWithoutWords, type PackedDocuments } from './page-packer.js';
import { NO_PAGE, PAGE_DEFLATED, type StoredPage } from './page-row-codec.js';
import { PageRows, readPages } from './page-rows.js';
import { decodePassage, encodePassage, textOfPassage } from './timed-text.js';
import { decodeFrames, decodeVector, encodeFrames, encodeVector, secondOfFrame } from './vector-bytes.js';

export type StoreOfContents = Pick<
  RecordStore,
  'environment' | 'hasDatabase' | 'raiseFormat' | 'raiseFormatAboveWords' | 'recordWords'
>;

export class ContentStore {
  private pagesDb: Database<Buffer, string> | undefined;
  private vectorsDb: Database<Buffer, string> | undefined;
  private readonly pageRows: PageRows;
  private readonly packer: PagePacker;

  constructor(private readonly store: StoreOfContents) {
    this.pageRows = new PageRows(store);
    this.packer = new PagePacker(store.recordWords, this.pageRows);
  }

  private get pageTexts(): Database<Buffer, string> {
    return (this.pagesDb ??= this.store.environment.database<Buffer, string>('extract-pages', { encoding: 'binary' }));
  }
  private get vectors(): Database<Buffer, string> {
    return (this.vectorsDb ??= this.store.environment.database<Buffer, string>('extract-vectors', {
      encoding: 'binary',
    }));
  }

  prepare(): void {
    void [this.pageTexts, this.pageRows.database, this.vectors];
  }

  /** Vector of a picture; undefined if there is none. */
  vector(key: string): Float32Array | undefined {
    const bytes = this.vectors.getBinary(key);
    return bytes === undefined ? undefined : decodeVector(bytes);
  }

  /** Frames of a video, in order. */
  frames(key: string): SeenFrame[] {
    const bytes = this.vectors.getBinary(key);
    return bytes === undefined ? [] : decodeFrames(bytes);
  }

  secondOfFrame(key: string, place: number): number | undefined {
    const bytes = this.vectors.getBinaryFast(key);
    return bytes === undefined ? undefined : secondOfFrame(bytes, place);
  }

  /** As `ExtractStore.pages`. */
  pages(
    key: string,
    kind: TextKind,
    { first = 1, max = Infinity }: PageRange,
    tellDamaged?: (page: number) => void,
  ): readonly ReadPage[] {
    if (kind === 'document') {
      const pages = readPages(this.pageRows.pages(key, first), { first, max }, tellDamaged);
      if (pages.length > 0) return pages;
    }
    const bytes = this.pageTexts.getBinary(key);
    if (bytes === undefined) return [];
    const pages = decodePages(bytes, { first, max }, tellDamaged);
    if (kind === 'document') return pages;
    return pages.map(({ page, text }) => ({ page, text: textOfPassage(decodePassage(text)) }));
  }

  /** Returns a stored page, valid until the next read; without bytes if it is missing. */
  page(key: string, page: number): StoredPage {
    return this.pageRows.page(key, page) ?? this.pageOfBefore(key, page);
  }

  /**
   * Reads the format of earlier releases: all pages of a file in one value, which does not always have the document's
   * number of pages.
   */
  private pageOfBefore(key: string, page: number): StoredPage {
    const bytes = this.pageTexts.getBinary(key);
    if (bytes === undefined) return NO_PAGE;
    return { ...NO_PAGE, packing: PAGE_DEFLATED, packed: packedPage(bytes, page), pageCount: documentPagesOf(bytes) };
  }

  /** Returns the passage at a place, from 1; undefined if nothing was read from the file. */
  passage(key: string, place: number): Passage | undefined {
    const bytes = this.pageTexts.getBinaryFast(key);
    return bytes === undefined ? undefined : decodePassage(unpackedPage(packedPage(bytes, place)));
  }

  /** Yields pages whose text cannot be read. Reads all pages that are rows. */
  damagedPages(): Generator<{ readonly key: string; readonly page: number }> {
    return this.pageRows.damaged();
  }

  /** As `ExtractStore.packed`. */
  packed(documents: readonly ReadText[], triedAt: number): PackedDocuments {
    return this.packer.pack(documents, triedAt);
  }

  // ---- inside a transaction

  put(key: string, content: ReadContent, packed?: PackedDocuments): void {
    if (content.kind === 'image') void this.vectors.putSync(key, encodeVector(content.vector));
    else if (content.kind === 'frames') void this.vectors.putSync(key, encodeFrames(content.frames));
    else if (content.kind === 'document') this.putPages(key, packed?.rowsOf(content) ?? rowsWithoutWords(content));
    else void this.pageTexts.putSync(key, encodePassages(content.passages));
  }

  /** Copies the contents of a file from another list. */
  copy(from: ContentStore, key: string): void {
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

  remove(key: string): void {
    this.pageTexts.removeSync(key);
    this.pageRows.remove(key);
    this.vectors.removeSync(key);
  }

  private putPages(key: string, rows: readonly Uint8Array[]): void {
    this.store.raiseFormatAboveWords(LIST_STATE_FORMAT_WITH_PAGE_ROWS);
    this.pageTexts.removeSync(key);
    this.pageRows.put(key, rows);
  }
}

function encodePassages(passages: readonly Passage[]): Buffer {
  return encodePages(passages.map((passage, index) => ({ page: index + 1, text: encodePassage(passage) })));
}
