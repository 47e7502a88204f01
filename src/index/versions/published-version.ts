/**
 * One version of a list as searches see it: its open segments and the generation in force, with leases on it.
 *
 * Invariants: there is always a generation in force until `retire`; a superseded generation is released when its last lease
 * is; the handles in `segments` are owned here, one kernel reference each. A file is unlinked, in the background, when no
 * generation has it open any more: otherwise the release of the last one would free its blocks on this thread.
 * Main thread only.
 */
import { unlink } from 'node:fs/promises';
import type { Kernel, SegmentHandle } from '../../../native-bindings/index.js';
import type { FieldDefinition } from '../../catalog/index.js';
import type { VersionStore } from '../../records/index.js';
import { segmentFile, vectorSegmentFile } from '../../store/index.js';
import type { SpaceStore } from '../../vectors/index.js';
import { OpenVectors } from './open-vectors.js';
import type { AddedSegment, VersionChange } from '../contract/ingest-tasks.js';
import { PublishedGeneration, type OpenSegment, type VersionLease } from './published-generation.js';
import { openSegment, UnusableSegmentError, type DamagedSegments } from '../segments/unusable-segments.js';

export interface PublishedVersionOptions {
  readonly kernel: Kernel;
  /** The list's folder. */
  readonly listPath: string;
  readonly version: number;
  readonly store: VersionStore;
  readonly settingsJson: string;
  /** Segments that are not opened: they are to be made again. */
  readonly damaged: DamagedSegments;
  /** The vectors that the version is searched by, where there is an index of them. */
  readonly vectors: SpaceStore | undefined;
  /** The index of vectors has to be made again; the version is open without. */
  readonly onUnusableVectors: (error: UnusableSegmentError) => void;
}

export class PublishedVersion {
  readonly version: number;
  private readonly kernel: Kernel;
  private readonly listPath: string;
  private settingsJson: string;
  private segments = new Map<number, SegmentHandle>();
  private vectors: OpenVectors | undefined;
  private inForce: PublishedGeneration;
  private leasesOut = 0;
  /** Superseded generations that are still leased, by sequence. */
  private readonly leasedBefore = new Set<number>();
  /** Files that no generation from this sequence on has. */
  private filesToRemove: { readonly path: string; readonly sequence: number }[] = [];
  private readonly idle: (() => void)[] = [];

  /** Opens the segments that the manifest names. Throws UnusableSegmentError where one has to be made again. */
  constructor(given: PublishedVersionOptions) {
    const { kernel, listPath, version, store, settingsJson, damaged } = given;
    this.kernel = kernel;
    this.listPath = listPath;
    this.version = version;
    this.settingsJson = settingsJson;
    try {
      const add = store.segments().map(({ id, entry }) => {
        const segment = openSegment(kernel, segmentFile(listPath, id), damaged);
        this.segments.set(id, segment);
        const deleted = entry.deletedCount === 0 ? undefined : store.deletedDocuments(id, entry.documentCount);
        return deleted === undefined ? { segment } : { segment, deleted };
      });
      const vectors = this.openVectors(given);
      const options = { kernel, version, ...this.open, onRelease: this.released };
      this.inForce = new PublishedGeneration(options, { add, settings: settingsJson, ...vectors });
    } catch (error) {
      this.closeSegments();
      throw error;
    }
  }

  /** Live documents of the generation in force. */
  get recordCount(): number {
    return this.inForce.recordCount;
  }

  /** Of the generation in force. */
  get sequence(): number {
    return this.inForce.sequence;
  }

  /** Of the segments in force. */
  get sizes(): PublishedGeneration['sizes'] {
    return this.inForce.sizes;
  }

  /** Of the segments of its vectors. */
  get vectorSizes(): PublishedGeneration['vectorSizes'] {
    return this.inForce.vectorSizes;
  }

  /** Undefined where it has no index of vectors. */
  get vectorSpace(): number | undefined {
    return this.vectors?.space;
  }

  hasSegment(id: number): boolean {
    return this.segments.has(id) || this.vectors?.has(id) === true;
  }

  /** On the generation in force. To be released, whatever happens: for work of this folder, `withLease` sees to it. */
  lease(definition: FieldDefinition): VersionLease {
    const lease = this.inForce.lease(definition);
    this.leasesOut += 1;
    return lease;
  }

  async withLease<Result>(
    definition: FieldDefinition,
    action: (lease: VersionLease) => Promise<Result>,
  ): Promise<Result> {
    const lease = this.lease(definition);
    try {
      return await action(lease);
    } finally {
      lease.release();
    }
  }

  /** Puts a commit into force. Takes over the handles of added segments. */
  apply(change: VersionChange, settingsJson: string): void {
    const removed = change.removed.flatMap((id) => this.segments.get(id) ?? []);
    const segments = new Map(this.segments);
    for (const { id, handle } of change.added) segments.set(id, handle);
    for (const id of change.removed) segments.delete(id);
    const vectors = change.vectors === undefined ? undefined : this.vectors?.after(change.vectors);
    try {
      const changed = {
        add: change.added.map(addition),
        remove: removed,
        deletions: change.deletions,
        ...(settingsJson === this.settingsJson ? {} : { settings: settingsJson }),
        ...(vectors === undefined ? {} : { vectors: vectors.change }),
      };
      const next = { segments: openSegments(segments), vectors: (vectors?.next ?? this.vectors)?.view };
      this.supersedeBy(this.inForce.next(changed, next));
    } catch (error) {
      for (const { handle } of change.added) this.kernel.closeSegment(handle);
      for (const { handle } of change.vectors?.added ?? []) this.kernel.closeVectorSegment(handle);
      throw error;
    }
    this.segments = segments;
    this.settingsJson = settingsJson;
    this.vectors = vectors?.next ?? this.vectors;
    for (const segment of removed) this.kernel.closeSegment(segment);
    for (const id of change.removed) this.removeLater(segmentFile(this.listPath, id));
    for (const { id, handle } of vectors?.closed ?? []) {
      this.kernel.closeVectorSegment(handle);
      this.removeLater(vectorSegmentFile(this.listPath, id));
    }
    this.removeFiles();
  }

  applySettings(settingsJson: string): void {
    if (settingsJson === this.settingsJson) return;
    this.supersedeBy(this.inForce.next({ settings: settingsJson }, this.open));
    this.settingsJson = settingsJson;
  }

  /** No lease is given from now on; what searches still hold stays good until they release it. */
  retire(): void {
    this.inForce.supersede();
    void this.unused().then(() => {
      this.closeSegments();
    });
  }

  /** Resolves when no lease is out. */
  async unused(): Promise<void> {
    if (this.leasesOut > 0) await new Promise<void>((resolve) => this.idle.push(resolve));
  }

  private get open() {
    return { segments: openSegments(this.segments), vectors: this.vectors?.view };
  }

  private openVectors({ kernel, listPath, vectors, damaged, onUnusableVectors }: PublishedVersionOptions) {
    if (vectors === undefined) return {};
    try {
      const { opened, change } = OpenVectors.open(kernel, listPath, vectors, damaged);
      this.vectors = opened;
      return { vectors: change };
    } catch (error) {
      if (!(error instanceof UnusableSegmentError)) throw error;
      onUnusableVectors(error);
      return {};
    }
  }

  private removeLater(path: string): void {
    this.filesToRemove.push({ path, sequence: this.inForce.sequence });
  }

  private supersedeBy(next: PublishedGeneration): void {
    const previous = this.inForce;
    this.inForce = next;
    if (previous.isLeased) this.leasedBefore.add(previous.sequence);
    previous.supersede();
  }

  private readonly released = (generation: PublishedGeneration): void => {
    this.leasesOut -= 1;
    if (!generation.isLeased && this.leasedBefore.delete(generation.sequence)) this.removeFiles();
    if (this.leasesOut === 0) for (const resolve of this.idle.splice(0)) resolve();
  };

  private removeFiles(): void {
    if (this.filesToRemove.length === 0) return;
    const oldest = Math.min(...this.leasedBefore);
    const [unused, used] = [
      this.filesToRemove.filter((file) => file.sequence <= oldest),
      this.filesToRemove.filter((file) => file.sequence > oldest),
    ];
    this.filesToRemove = used;
    // What cannot be removed now is removed when the list is opened next.
    for (const { path } of unused) unlink(path).catch(() => undefined);
  }

  private closeSegments(): void {
    for (const segment of this.segments.values()) this.kernel.closeSegment(segment);
    this.segments.clear();
    this.vectors?.close();
    this.vectors = undefined;
  }
}

function openSegments(segments: ReadonlyMap<number, SegmentHandle>): readonly OpenSegment[] {
  return Array.from(segments, ([id, handle]) => ({ id, handle }));
}

function addition(added: AddedSegment): { segment: SegmentHandle; deleted?: Uint8Array } {
  return added.deleted === undefined ? { segment: added.handle } : { segment: added.handle, deleted: added.deleted };
}
