/**
 * Collects the changes that one commit makes to the pages of a list's records, in the current version and in the copied
 * part of the one being built. A list that never had pages has none of this.
 *
 * Order for each version: `buildSegment` (writes a synced file that is not in a manifest yet), `apply` inside the
 * transaction, `change`; on failure `discard`. `statePart` is for the state that the transaction writes. Belongs to one
 * task of one thread.
 */
import { rmSync } from 'node:fs';
import type { Kernel, SegmentHandle, SegmentSummary } from '../../../native-bindings/index.js';
import type { FieldDefinition } from '../../catalog/index.js';
import { ServiceError } from '../../platform/index.js';
import type { FieldValue, RecordStore } from '../../records/index.js';
import {
  LIST_STATE_FORMAT_WITH_PARTS,
  partOf,
  segmentFile,
  type ListState,
  type PartName,
  type PartState,
} from '../../store/index.js';
import type { IndexChange, PartView, VersionView } from '../contract/ingest-tasks.js';
import { PartDocumentWriter, pagesWithText, type PageOfDocument } from '../parts/part-documents.js';
import { partSchema, placeOf } from '../parts/part-layout.js';
import { partStore, type AttachedDocument, type PartStore } from '../parts/part-store.js';
import { outdatedDocuments, type OutdatedDocuments } from './outdated-documents.js';

const PAGES: PartName = 'pages';
/** Documents are numbered from 1, as records are; 2^32 - 1 means "none" in the kernel. */
const FIRST_DOCUMENT_NUMBER = 1;
const DOCUMENT_NUMBER_MAX = 0xffff_fffe;

/** Pages of the document that a field of a record links to. */
export interface LinkedPages {
  readonly field: string;
  /** Value of the field. */
  readonly url: string;
  /** Hash of the file that was read; tells whether the record already has these pages. */
  readonly hash: string;
  readonly pages: readonly PageOfDocument[];
}

export interface PartsCommitOptions {
  readonly kernel: Kernel;
  readonly store: RecordStore;
  /** State of the list before the commit. */
  readonly state: ListState;
}

/** Allocates document numbers for all versions. */
export class PartsCommit {
  private parts: readonly PartState[];
  private isChanged = false;

  constructor(private readonly options: PartsCommitOptions) {
    this.parts = options.state.parts ?? [];
  }

  /** Returns the changes of one version; undefined if its records have no pages and it has no field for documents. */
  ofVersion(view: VersionView, definition: FieldDefinition, firstNewRecord: number): PartCommit | undefined {
    const { kernel, store, state } = this.options;
    const { pages, version } = view;
    if (pages === undefined) return undefined;
    const isThere = partOf(state, version, PAGES) !== undefined;
    const numbers = (count: number) => this.take(version, count);
    return new PartCommit({ kernel, store, version, definition, view: pages, isThere, firstNewRecord, numbers });
  }

  /** Part of the list's next state, to be spread into it. Read it when everything that is to be written is known. */
  get statePart(): Pick<ListState, 'parts'> | Pick<ListState, 'parts' | 'format'> {
    if (!this.isChanged) return this.parts.length === 0 ? {} : { parts: this.parts };
    return { format: Math.max(this.options.state.format, LIST_STATE_FORMAT_WITH_PARTS), parts: this.parts };
  }

  private take(version: number, count: number): number {
    const before = this.parts.find((part) => part.version === version && part.name === PAGES);
    const first = before?.nextDocument ?? FIRST_DOCUMENT_NUMBER;
    if (first + count - 1 > DOCUMENT_NUMBER_MAX) {
      const detail = 'The list has used all its page numbers. Export it, and import it into a new list.';
      throw new ServiceError('unprocessable', detail);
    }
    const part: PartState = { name: PAGES, version, nextDocument: first + count };
    this.parts = [...this.parts.filter((each) => each !== before), part];
    this.isChanged = true;
    return first;
  }
}

interface PartCommitOptions {
  readonly kernel: Kernel;
  readonly store: RecordStore;
  readonly version: number;
  readonly definition: FieldDefinition;
  readonly view: PartView;
  /** False if the version has no pages yet. */
  readonly isThere: boolean;
  /** First record number that is new in this commit. */
  readonly firstNewRecord: number;
  /** Allocates `count` consecutive numbers and returns the first. */
  readonly numbers: (count: number) => number;
}

/** A document of a record; has its pages if this commit adds it. */
type NextDocument = AttachedDocument & { readonly pages?: readonly PageOfDocument[] };

export class PartCommit {
  private readonly stored: PartStore;
  /** Documents of each changed record after the commit. */
  private readonly next = new Map<number, readonly NextDocument[]>();
  private readonly path: string;
  private segment: { readonly handle: SegmentHandle; readonly summary: SegmentSummary } | undefined;
  private deletions: readonly OutdatedDocuments[] = [];

  constructor(private readonly options: PartCommitOptions) {
    const { store, version, view } = options;
    this.stored = partStore(store, version, PAGES);
    if (options.isThere) this.stored.prepare();
    this.path = segmentFile(store.listPath, view.newSegment);
  }

  get changed(): boolean {
    return this.next.size > 0;
  }

  /** Returns the documents of a record, with the changes collected so far. */
  attached(recordNumber: number): readonly AttachedDocument[] {
    return this.next.get(recordNumber) ?? this.before(recordNumber);
  }

  /** Replaces all pages of the record with these. */
  replace(recordNumber: number, linked: readonly LinkedPages[]): void {
    const documents = linked.flatMap(({ field, url, hash, pages }): NextDocument[] => {
      const known = pagesWithText(pages).filter(({ page }) => this.place(field, page) !== undefined);
      if (known.length === 0) return [];
      const [first, count] = [this.options.numbers(known.length), known.length];
      return [{ field, url, hash, first, count, pages: known }];
    });
    if (documents.length > 0 || this.attached(recordNumber).length > 0) this.touch(recordNumber, documents);
  }

  /** Removes pages of documents that the record, with these new fields, no longer links to. */
  written(recordNumber: number, fields: Readonly<Record<string, FieldValue>>): void {
    const attached = this.attached(recordNumber);
    const kept = attached.filter(({ field, url }) => fields[field] === url);
    if (kept.length < attached.length) this.touch(recordNumber, kept);
  }

  removed(recordNumber: number): void {
    if (this.attached(recordNumber).length > 0) this.touch(recordNumber, []);
  }

  /** Writes the segment of the added pages. Throws KernelError. */
  buildSegment(): void {
    if (!this.changed) return;
    const { kernel, definition, view } = this.options;
    this.stored.prepare();
    const writer = new PartDocumentWriter();
    for (const [recordNumber, documents] of this.next)
      for (const document of documents) this.write(writer, recordNumber, document);
    if (writer.documentCount > 0) {
      const summary = kernel.buildSegment(this.path, partSchema(definition), writer.finish());
      this.segment = { handle: kernel.openSegment(this.path), summary };
    }
    const { generation, segments } = view;
    if (generation !== undefined)
      this.deletions = outdatedDocuments(kernel, { generation, segments }, this.outdatedNumbers());
  }

  /** Writes the changes, inside the transaction. */
  apply(): void {
    for (const [recordNumber, documents] of this.next) {
      const rows = documents.map(({ field, url, hash, first, count }) => ({ field, url, hash, first, count }));
      this.stored.attach(recordNumber, rows);
    }
    for (const { id, deletion } of this.deletions) this.stored.addDeletions(id, deletion.documents);
    if (this.segment === undefined) return;
    const { documentCount, fileBytes } = this.segment.summary;
    void this.stored.manifest.putSync(this.options.view.newSegment, { documentCount, deletedCount: 0, fileBytes });
  }

  /**
   * Change of the index, after the transaction; undefined if nothing changed. The receiver owns the segment's handle.
   */
  get change(): IndexChange | undefined {
    if (this.segment === undefined && this.deletions.length === 0) return undefined;
    const id = this.options.view.newSegment;
    const added = this.segment === undefined ? [] : [{ id, handle: this.segment.handle, deleted: undefined }];
    return { added, removed: [], deletions: this.deletions.map(({ deletion }) => deletion) };
  }

  /** Removes the segment after a failure. */
  discard(): void {
    if (this.segment !== undefined) this.options.kernel.closeSegment(this.segment.handle);
    this.segment = undefined;
    if (this.changed) rmSync(this.path, { force: true });
  }

  private touch(recordNumber: number, documents: readonly NextDocument[]): void {
    this.next.set(recordNumber, documents);
  }

  private before(recordNumber: number): readonly AttachedDocument[] {
    const { isThere, firstNewRecord } = this.options;
    return isThere && recordNumber < firstNewRecord ? this.stored.attached(recordNumber) : [];
  }

  private place(field: string, page: number): number | undefined {
    return placeOf(this.options.definition, { field, page });
  }

  private write(writer: PartDocumentWriter, recordNumber: number, { field, first, pages = [] }: NextDocument): void {
    for (const [index, { page, text }] of pages.entries()) {
      const place = this.place(field, page);
      if (place !== undefined) writer.add({ number: first + index, recordNumber, place, text });
    }
  }

  /** Returns the numbers of documents that the commit removes. */
  private outdatedNumbers(): number[] {
    const numbers: number[] = [];
    for (const [recordNumber, documents] of this.next) {
      const kept = new Set(documents.map(({ first }) => first));
      for (const { first, count } of this.before(recordNumber)) {
        if (kept.has(first)) continue;
        for (let number = first; number < first + count; ++number) numbers.push(number);
      }
    }
    return numbers;
  }
}
