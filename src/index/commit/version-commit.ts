/**
 * Collects the changes that one commit makes to one version of a list: records to put and to remove, and the documents
 * of one new segment. Reads see the changes collected so far.
 *
 * Order of a commit: `buildSegment` (a thread of the kernel builds the segment of a large commit concurrently), then
 * `apply` inside the one LMDB transaction, which names the segment once its file is complete and synced. On failure at
 * any point, `discard` removes the file. Belongs to one task of one thread.
 */
import type { Kernel, SegmentHandle, SegmentSummary } from '../../../native-bindings/index.js';
import type { FieldDefinition } from '../../catalog/index.js';
import { RecordBatch, type Dictionary, type VersionStore } from '../../records/index.js';
import { segmentFile, type ListState } from '../../store/index.js';
import { DocumentEncoder } from '../segments/document-encoder.js';
import { SegmentMaking } from '../segments/segment-making.js';
import type { LinkCommit } from './link-commit.js';
import type { SpaceCommit, WrittenRecord } from './space-commit.js';
import type { Commit, UnindexedVectors, VersionChange, VersionView } from '../contract/ingest-tasks.js';
import { outdatedDocuments, type OutdatedDocuments } from './outdated-documents.js';
import type { PartCommit } from './part-commit.js';
import type { PictureCommit } from './picture-commit.js';

export interface VersionCommitOptions {
  readonly kernel: Kernel;
  readonly store: VersionStore;
  readonly listPath: string;
  readonly view: VersionView;
  readonly definition: FieldDefinition;
  /** First record number that is new in this commit; the index cannot contain it or later ones. */
  readonly firstNewRecord: number;
  /** True if many records are expected. */
  readonly isLarge?: boolean;
  /** Changes of the vectors of the version's records; empty if the list has no model. */
  readonly vectors?: readonly SpaceCommit[];
  /** Changes of the links from records to files; undefined if the version has no field for them. */
  readonly links?: LinkCommit | undefined;
  /** Changes of the pages of linked documents; undefined if the definition has no field for documents. */
  readonly pages?: PartCommit | undefined;
  /**
   * Changes of the vectors of linked pictures; undefined if the list's pictures are not searched, or the definition has
   * no field for them.
   */
  readonly pictures?: PictureCommit | undefined;
}

/** Returns the changes of these writers once they are on disk. */
export function committed(state: ListState, writers: readonly VersionCommit[]): Commit {
  const unindexed = writers.flatMap((writer) => writer.unindexed);
  const changes = writers.map((writer) => writer.change());
  return { state, changes, ...(unindexed.length === 0 ? {} : { unindexed }) };
}

export class VersionCommit {
  readonly store: VersionStore;
  private readonly encoder: DocumentEncoder;
  private readonly batch = new RecordBatch();
  /** Position of each record in the batch, which is also that of its document; null: removed. */
  private readonly records = new Map<number, number | null>();
  private readonly names = new Map<string, number | null>();
  private readonly making: SegmentMaking;
  private readonly spaces: readonly SpaceCommit[];
  /** Changes of what is indexed beside the fields: pages and pictures that records link to. */
  private readonly besides: readonly (PartCommit | PictureCommit)[];
  private segment:
    | {
        readonly handle: SegmentHandle;
        readonly summary: SegmentSummary;
        readonly changedTerms: readonly string[] | undefined;
      }
    | undefined;
  private deletions: readonly OutdatedDocuments[] = [];
  private learned: Dictionary | undefined;

  constructor(private readonly options: VersionCommitOptions) {
    this.store = options.store.prepare();
    this.encoder = new DocumentEncoder(options.definition);
    const { kernel, listPath, view, isLarge = false, vectors = [], pages, pictures } = options;
    this.spaces = vectors;
    this.besides = [pages ?? [], pictures ?? []].flat();
    const path = segmentFile(listPath, view.newSegment);
    this.making = new SegmentMaking({ kernel, path, encoder: this.encoder, isLarge });
  }

  get version(): number {
    return this.options.view.version;
  }
  get changed(): boolean {
    return this.records.size > 0 || this.besides.some(({ changed }) => changed);
  }

  /** Returns the bytes of a record, valid until the next read or put. */
  record(recordNumber: number): Uint8Array | undefined {
    const place = this.records.get(recordNumber);
    if (place !== undefined) return place === null ? undefined : this.batch.record(place);
    return recordNumber >= this.options.firstNewRecord ? undefined : this.store.record(recordNumber);
  }

  recordNumberOfName(name: string): number | undefined {
    const pending = this.names.get(name);
    if (pending !== undefined) return pending ?? undefined;
    return this.store.recordNumberOfName(name);
  }

  /** `previousName`: the record's name before; undefined for a new record. */
  put(recordNumber: number, written: WrittenRecord, previousName: string | undefined): void {
    const { stored: record, fields } = written;
    this.dropPending(recordNumber);
    const place = this.encoder.add(recordNumber, record, fields);
    this.making.added();
    if (this.batch.add(record) !== place) throw new Error('a record and its document have other places');
    this.records.set(recordNumber, place);
    for (const space of this.spaces) space.written(recordNumber, written);
    this.options.links?.written(recordNumber, fields);
    for (const beside of this.besides) beside.written(recordNumber, fields);
    if (previousName === record.name) return;
    if (previousName !== undefined) this.releaseName(previousName, recordNumber);
    this.names.set(record.name, recordNumber);
  }

  remove(recordNumber: number, name: string): void {
    this.dropPending(recordNumber);
    this.records.set(recordNumber, null);
    for (const space of this.spaces) space.removed(recordNumber);
    this.options.links?.removed(recordNumber);
    for (const beside of this.besides) beside.removed(recordNumber);
    this.releaseName(name, recordNumber);
  }

  /**
   * Builds the segment file, which is not in a manifest yet. The file is complete when this returns or, for a large
   * commit, when `apply` does. Throws KernelError.
   */
  buildSegment(): void {
    const { kernel, view } = this.options;
    this.making.end();
    this.learned = this.store.packer.pack(this.batch.packable());
    this.deletions = outdatedDocuments(kernel, view, this.outdated);
    for (const space of this.spaces) space.buildSegment();
    for (const beside of this.besides) beside.buildSegment();
  }

  /** Writes the changes, inside the transaction. Throws KernelError if the segment could not be built. */
  apply(): void {
    const { store } = this;
    if (this.learned !== undefined) store.words.putLearned(this.learned);
    let greatest = this.options.firstNewRecord - 1;
    for (const [recordNumber, place] of this.records) {
      if (place !== null) {
        // New records come in ascending order, above all stored ones.
        store.putRecord(recordNumber, this.batch.placed(place), recordNumber > greatest);
        greatest = Math.max(greatest, recordNumber);
      } else if (recordNumber < this.options.firstNewRecord) store.removeRecord(recordNumber);
    }
    for (const [name, recordNumber] of this.namesInOrder()) {
      if (recordNumber === null) store.removeName(name);
      else store.putName(name, recordNumber);
    }
    for (const { id, deletion } of this.deletions) store.addDeletions(id, deletion.documents);
    for (const space of this.spaces) space.apply();
    this.options.links?.apply();
    for (const beside of this.besides) beside.apply();
    // Comes last, because the kernel's thread may still be writing the file until here.
    if (this.encoder.documentCount > 0) this.addSegment();
  }

  private addSegment(): void {
    const { kernel, view } = this.options;
    const summary = this.making.finish();
    const handle = kernel.openSegment(this.making.path);
    this.segment = { handle, summary, changedTerms: kernel.newTerms(view.generation, handle) };
    const { documentCount, fileBytes } = summary;
    void this.store.manifest.putSync(view.newSegment, { documentCount, deletedCount: 0, fileBytes });
  }

  /** Changes of the version, after the transaction. The receiver owns the segment's handle. */
  change(): VersionChange {
    const { newSegment } = this.options.view;
    const { segment } = this;
    const { handle, changedTerms } = segment ?? {};
    const added = handle === undefined ? [] : [{ id: newSegment, handle, deleted: undefined, changedTerms }];
    const [vectors] = this.spaces.flatMap((space) => space.change ?? []);
    const deletions = this.deletions.map(({ deletion }) => deletion);
    return {
      version: this.version,
      added,
      removed: [],
      deletions,
      ...(vectors === undefined ? {} : { vectors }),
      ...partsOf(this.options),
    };
  }

  /** Records with changed vectors in spaces that have no index. */
  get unindexed(): readonly UnindexedVectors[] {
    return [...this.spaces, ...[this.options.pictures ?? []].flat()].flatMap((space) => space.unindexed);
  }

  /** Removes everything of this commit after a failure. */
  discard(): void {
    if (this.segment !== undefined) this.options.kernel.closeSegment(this.segment.handle);
    this.segment = undefined;
    for (const space of this.spaces) space.discard();
    for (const beside of this.besides) beside.discard();
    this.making.discard();
  }

  /** Sorted approximately in key order, because the B-tree of names is then written faster. */
  private namesInOrder(): (readonly [string, number | null])[] {
    return [...this.names].sort(([left], [right]) => (left < right ? -1 : 1));
  }

  private dropPending(recordNumber: number): void {
    const place = this.records.get(recordNumber);
    if (place !== undefined && place !== null) this.encoder.drop(place);
  }

  private releaseName(name: string, recordNumber: number): void {
    if (this.recordNumberOfName(name) === recordNumber) this.names.set(name, null);
  }

  /** Existing records that this commit replaces or removes. */
  private get outdated(): number[] {
    return [...this.records.keys()].filter((recordNumber) => recordNumber < this.options.firstNewRecord);
  }
}

function partsOf({ pages, pictures }: VersionCommitOptions): Pick<VersionChange, 'pages' | 'pictures'> {
  const [ofPages, ofPictures] = [pages?.change, pictures?.change];
  return {
    ...(ofPages === undefined ? {} : { pages: ofPages }),
    ...(ofPictures === undefined ? {} : { pictures: ofPictures }),
  };
}
