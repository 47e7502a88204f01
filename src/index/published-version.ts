/**
 * One version of a list as searches see it: its open segments and the generation in force, with leases on it.
 *
 * Invariants: there is always a generation in force until `retire`; a superseded generation is released when its last lease
 * is; the handles in `segments` are owned here, one kernel reference each. A file is unlinked, in the background, when no
 * generation has it open any more: otherwise the release of the last one would free its blocks on this thread.
 * Main thread only.
 */
import { unlink } from 'node:fs/promises';
import type { GenerationChange, GenerationHandle, Kernel, SegmentHandle } from '../../native-bindings/index.js';
import type { FieldDefinition } from '../catalog/index.js';
import { segmentFile, type VersionStore } from '../records/index.js';
import type { AddedSegment, VersionChange, VersionView } from './ingest-tasks.js';
import type { SegmentSize } from './merge-policy.js';
import { openSegment } from './unusable-segments.js';
import type { GenerationLease } from './types.js';

interface PublishedGeneration {
  readonly handle: GenerationHandle;
  readonly sequence: number;
  leases: number;
  superseded: boolean;
}

/** Over all lists of the process, so that a sequence names one generation of one version. */
let lastSequence = 0;

export class PublishedVersion {
  private readonly segments = new Map<number, SegmentHandle>();
  private inForce: PublishedGeneration;
  private leasesOut = 0;
  /** Superseded generations that are still leased, by sequence. */
  private readonly leasedBefore = new Set<number>();
  /** Files that no generation from this sequence on has. */
  private filesToRemove: { readonly path: string; readonly sequence: number }[] = [];
  private readonly idle: (() => void)[] = [];
  /** Live documents of the generation in force. */
  recordCount = 0;

  /** Opens the segments that the manifest names. Throws UnusableSegmentError where one has to be made again. */
  constructor(
    private readonly kernel: Kernel,
    private readonly listPath: string,
    readonly version: number,
    store: VersionStore,
    private settingsJson: string,
  ) {
    try {
      const add = store.segments().map(({ id, entry }) => {
        const segment = openSegment(kernel, segmentFile(listPath, id));
        this.segments.set(id, segment);
        const deleted = entry.deletedCount === 0 ? undefined : store.deletedDocuments(id, entry.documentCount);
        return deleted === undefined ? { segment } : { segment, deleted };
      });
      this.inForce = this.publish({ add, settings: settingsJson });
    } catch (error) {
      this.closeSegments();
      throw error;
    }
  }

  lease(definition: FieldDefinition): GenerationLease {
    const { inForce: generation, version } = this;
    generation.leases += 1;
    this.leasesOut += 1;
    let released = false;
    return {
      handle: generation.handle,
      sequence: generation.sequence,
      version,
      definition,
      release: () => {
        if (released) return;
        released = true;
        generation.leases -= 1;
        this.leasesOut -= 1;
        this.releaseIfDone(generation);
        if (this.leasesOut === 0) for (const resolve of this.idle.splice(0)) resolve();
      },
    };
  }

  view(newSegment: number): VersionView {
    const segments = Array.from(this.segments, ([id, handle]) => ({ id, handle }));
    return { version: this.version, generation: this.inForce.handle, segments, newSegment };
  }

  sizes(): (SegmentSize & { readonly fileBytes: number })[] {
    const info = new Map(
      this.kernel.generationInfo(this.inForce.handle).segments.map((entry) => [entry.segment, entry]),
    );
    return Array.from(this.segments, ([id, handle]) => {
      const entry = info.get(handle);
      const { documentCount = 0, deletedCount = 0, fileBytes = 0 } = entry ?? {};
      return { id, documentCount, deletedCount, fileBytes };
    });
  }

  /** The generation in force; good until the next change unless it is leased. */
  get generation(): GenerationHandle {
    return this.inForce.handle;
  }

  /** Of the generation in force. */
  get sequence(): number {
    return this.inForce.sequence;
  }

  segment(id: number): SegmentHandle | undefined {
    return this.segments.get(id);
  }

  /** Puts a commit into force. Takes over the handles of added segments. */
  apply(change: VersionChange, settingsJson: string): void {
    const removed = change.removed.flatMap((id) => this.segments.get(id) ?? []);
    for (const { id, handle } of change.added) this.segments.set(id, handle);
    this.supersede({
      base: this.inForce.handle,
      add: change.added.map(addition),
      remove: removed,
      deletions: change.deletions,
      ...(settingsJson === this.settingsJson ? {} : { settings: settingsJson }),
    });
    this.settingsJson = settingsJson;
    for (const id of change.removed) this.segments.delete(id);
    for (const segment of removed) this.kernel.closeSegment(segment);
    for (const id of change.removed) {
      this.filesToRemove.push({ path: segmentFile(this.listPath, id), sequence: this.inForce.sequence });
    }
    this.removeFiles();
  }

  applySettings(settingsJson: string): void {
    if (settingsJson === this.settingsJson) return;
    this.supersede({ base: this.inForce.handle, settings: settingsJson });
    this.settingsJson = settingsJson;
  }

  /** No lease is given from now on; what searches still hold stays good until they release it. */
  retire(): void {
    this.inForce.superseded = true;
    this.releaseIfDone(this.inForce);
    void this.unused().then(() => {
      this.closeSegments();
    });
  }

  /** Resolves when no lease is out. */
  async unused(): Promise<void> {
    if (this.leasesOut > 0) await new Promise<void>((resolve) => this.idle.push(resolve));
  }

  private supersede(change: GenerationChange): void {
    const previous = this.inForce;
    this.inForce = this.publish(change);
    previous.superseded = true;
    if (previous.leases > 0) this.leasedBefore.add(previous.sequence);
    this.releaseIfDone(previous);
  }

  private publish(change: GenerationChange): PublishedGeneration {
    const handle = this.kernel.publishGeneration(change);
    this.recordCount = this.kernel.generationInfo(handle).liveCount;
    lastSequence += 1;
    return { handle, sequence: lastSequence, leases: 0, superseded: false };
  }

  private releaseIfDone(generation: PublishedGeneration): void {
    if (!generation.superseded || generation.leases > 0) return;
    this.kernel.releaseGeneration(generation.handle);
    if (this.leasedBefore.delete(generation.sequence)) this.removeFiles();
  }

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
  }
}

function addition(added: AddedSegment): { segment: SegmentHandle; deleted?: Uint8Array } {
  return added.deleted === undefined ? { segment: added.handle } : { segment: added.handle, deleted: added.deleted };
}
