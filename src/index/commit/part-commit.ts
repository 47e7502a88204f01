/**
 * What one commit does to the pages of a list's records: in the current version and, as far as it has been copied, in the one being
 * built. A list that never had pages has none of this.
 *
 * Order, by version: `buildSegment` (a synced file that no manifest names yet), `apply` inside the transaction, `change`; on failure
 * `discard`. `statePart` is for the state that the transaction writes. Belongs to one task of one thread.
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

/** The pages of what a field of a record links to. */
export interface LinkedPages {
  readonly field: string;
  /** What the field holds. */
  readonly url: string;
  /** Of the file that was read there, by which it is known that the record has these pages already. */
  readonly hash: string;
  readonly pages: readonly PageOfDocument[];
}

export interface PartsCommitOptions {
  readonly kernel: Kernel;
  readonly store: RecordStore;
  /** Before the commit. */
  readonly state: ListState;
}

/** Of all versions: gives out the numbers of documents. */
export class PartsCommit {
  private parts: readonly PartState[];
  private isChanged = false;

  constructor(private readonly options: PartsCommitOptions) {
    this.parts = options.state.parts ?? [];
  }

  /** Of one version; undefined where its records have no pages and no field for such. */
  ofVersion(view: VersionView, definition: FieldDefinition, firstNewRecord: number): PartCommit | undefined {
    const { kernel, store, state } = this.options;
    const { pages, version } = view;
    if (pages === undefined) return undefined;
    const isThere = partOf(state, version, PAGES) !== undefined;
    const numbers = (count: number) => this.take(version, count);
    return new PartCommit({ kernel, store, version, definition, view: pages, isThere, firstNewRecord, numbers });
  }

  /** The part of the list's next state, to be spread into it; after all that is to be written is known. */
  get statePart(): Pick<ListState, 'parts'> | Pick<ListState, 'parts' | 'format'> {
    if (!this.isChanged) return this.parts.length === 0 ? {} : { parts: this.parts };
    return { format: Math.max(this.options.state.format, LIST_STATE_FORMAT_WITH_PARTS), parts: this.parts };
  }

  private take(version: number, count: number): number {
    const before = this.parts.find((part) => part.version === version && part.name === PAGES);
    const first = before?.nextDocument ?? FIRST_DOCUMENT_NUMBER;
    if (first + count - 1 > DOCUMENT_NUMBER_MAX) {
      const detail = 'This list has used up the numbers of its pages; export it and import it into a new one.';
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
  /** False: the version has no pages yet. */
  readonly isThere: boolean;
  /** Records from this number on are new in this commit. */
  readonly firstNewRecord: number;
  /** Gives out so many numbers, and returns the first. */
  readonly numbers: (count: number) => number;
}

/** A document that this commit adds has its pages. */
type NextDocument = AttachedDocument & { readonly pages?: readonly PageOfDocument[] };

export class PartCommit {
  private readonly stored: PartStore;
  /** What each record that is touched will have. */
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

  /** The documents that a record has, with the effects gathered so far. */
  attached(recordNumber: number): readonly AttachedDocument[] {
    return this.next.get(recordNumber) ?? this.before(recordNumber);
  }

  /** The record has these pages, and no others. */
  replace(recordNumber: number, linked: readonly LinkedPages[]): void {
    const documents = linked.flatMap(({ field, url, hash, pages }): NextDocument[] => {
      const known = pagesWithText(pages).filter(({ page }) => this.place(field, page) !== undefined);
      if (known.length === 0) return [];
      const [first, count] = [this.options.numbers(known.length), known.length];
      return [{ field, url, hash, first, count, pages: known }];
    });
    if (documents.length > 0 || this.attached(recordNumber).length > 0) this.touch(recordNumber, documents);
  }

  /** The record has these fields from now on: pages of what it does not link to any more go. */
  written(recordNumber: number, fields: Readonly<Record<string, FieldValue>>): void {
    const attached = this.attached(recordNumber);
    const kept = attached.filter(({ field, url }) => fields[field] === url);
    if (kept.length < attached.length) this.touch(recordNumber, kept);
  }

  removed(recordNumber: number): void {
    if (this.attached(recordNumber).length > 0) this.touch(recordNumber, []);
  }

  /** Writes the segment of what is added. Throws KernelError. */
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

  /** Inside the transaction. */
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

  /** After the transaction; undefined where nothing changed. The receiver owns the segment's handle. */
  get change(): IndexChange | undefined {
    if (this.segment === undefined && this.deletions.length === 0) return undefined;
    const id = this.options.view.newSegment;
    const added = this.segment === undefined ? [] : [{ id, handle: this.segment.handle, deleted: undefined }];
    return { added, removed: [], deletions: this.deletions.map(({ deletion }) => deletion) };
  }

  /** After a failure. */
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

  /** Of documents that were there and will not be. */
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
