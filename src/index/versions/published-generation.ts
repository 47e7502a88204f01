/**
 * One generation of a version in the kernel, and those who hold it.
 *
 * Nobody sees its handle, nor those of its segments, but through a lease; until the last lease is released, all of them are
 * good in every thread, whatever is written, set, merged or dropped meanwhile. The kernel's debug mode
 * (`GANNET_KERNEL_CHECK_LEASES=1`) ends the process where a handle is used without one. Main thread only.
 */
import type { GenerationChange, GenerationHandle, Kernel } from '../../../native-bindings/index.js';
import type { FieldDefinition } from '../../catalog/index.js';
import type { PartName } from '../../store/index.js';
import type { OpenVectorSegment, VectorIndexView, VersionView } from '../contract/ingest-tasks.js';
import type { GenerationLease } from '../contract/types.js';
import { hasDocuments } from '../../extracts/index.js';
import type { OpenSegment } from './open-segments.js';

export interface SegmentSize {
  readonly id: number;
  readonly documentCount: number;
  readonly deletedCount: number;
}

/** An index of a version: that of its fields, or a part. */
export interface OpenIndex {
  readonly handle: GenerationHandle;
  readonly segments: readonly OpenSegment[];
}

type FileSizes = readonly (SegmentSize & { readonly fileBytes: number })[];

/** A lease as the write side has it: also of the segments. */
export interface VersionLease extends GenerationLease {
  readonly segments: readonly OpenSegment[];
  /** Those of its vectors; undefined where the version has no index of vectors. */
  readonly vectors: Omit<VectorIndexView, 'newSegment'> | undefined;
  /** Pages of what its records link to; undefined where there never were any. */
  readonly pages: OpenIndex | undefined;
  /** For a task. `newSegment`: gives the numbers of the segments that it may make. */
  view(newSegment: () => number): VersionView;
}

export interface PublishedGenerationOptions {
  readonly kernel: Kernel;
  readonly version: number;
  readonly segments: readonly OpenSegment[];
  readonly vectors: Omit<VectorIndexView, 'newSegment'> | undefined;
  /** Of the part. */
  readonly pages: readonly OpenSegment[] | undefined;
  /** Called at the end of each lease, after the generation was let go of where it was the last one. */
  readonly onRelease: (generation: PublishedGeneration) => void;
}

/** Over all lists of the process, so that a sequence names one generation of one version. */
let lastSequence = 0;

export class PublishedGeneration {
  readonly sequence: number;
  /** Live documents. */
  readonly recordCount: number;
  readonly sizes: FileSizes;
  /** Of the segments of vectors. */
  readonly vectorSizes: FileSizes;
  /** Of the segments of pages. */
  readonly pageSizes: FileSizes;
  readonly #options: PublishedGenerationOptions;
  readonly #handle: GenerationHandle;
  readonly #pages: OpenIndex | undefined;
  #leases = 0;
  #superseded = false;

  /** Of segments that are open, and stay so until this is returned. */
  constructor(options: PublishedGenerationOptions, change: GenerationChange) {
    const { kernel, segments } = options;
    this.#options = options;
    this.#handle = kernel.publishGeneration(change);
    const fields = sizesOf(kernel, { handle: this.#handle, segments });
    this.recordCount = fields.liveCount;
    this.sizes = fields.sizes;
    this.#pages = options.pages === undefined ? undefined : partOf(kernel, this.#handle, 'pages', options.pages);
    this.pageSizes = this.#pages === undefined ? [] : sizesOf(kernel, this.#pages).sizes;
    this.vectorSizes = options.vectors === undefined ? [] : vectorSizes(kernel, this.#handle, options.vectors.segments);
    if (kernel.checksLeases) kernel.countLeases(this.#handle, 0);
    lastSequence += 1;
    this.sequence = lastSequence;
  }

  get isLeased(): boolean {
    return this.#leases > 0;
  }

  /** The generation that a change makes of this one. */
  next(
    change: Omit<GenerationChange, 'base'>,
    open: Pick<PublishedGenerationOptions, 'segments' | 'vectors' | 'pages'>,
  ): PublishedGeneration {
    return new PublishedGeneration({ ...this.#options, ...open }, { ...change, base: this.#handle });
  }

  lease(definition: FieldDefinition): VersionLease {
    const { kernel, version, segments, vectors, onRelease } = this.#options;
    const handle = this.#handle;
    const pages = this.#pages;
    if (this.#superseded && this.#leases === 0) throw new Error(`generation ${handle} is released already`);
    this.#leases += 1;
    if (kernel.checksLeases) kernel.countLeases(handle, 1);
    let released = false;
    return {
      handle,
      sequence: this.sequence,
      version,
      definition,
      segments,
      vectors,
      pages,
      view: (newSegment) => ({
        version,
        generation: handle,
        segments,
        newSegment: newSegment(),
        ...(vectors === undefined ? {} : { vectors: { ...vectors, newSegment: newSegment() } }),
        ...(pages === undefined && !hasDocuments(definition)
          ? {}
          : {
              pages: {
                generation: pages?.handle,
                segments: pages?.segments ?? [],
                newSegment: newSegment(),
              },
            }),
      }),
      release: () => {
        if (released) return;
        released = true;
        if (kernel.checksLeases) kernel.countLeases(handle, -1);
        this.#leases -= 1;
        this.#releaseIfDone();
        onRelease(this);
      },
    };
  }

  /** Another one is in force, or none: it goes with its last lease. */
  supersede(): void {
    if (this.#superseded) return;
    this.#superseded = true;
    this.#releaseIfDone();
  }

  #releaseIfDone(): void {
    if (this.#superseded && this.#leases === 0) this.#options.kernel.releaseGeneration(this.#handle);
  }
}

/** An index of what is leased; `part` undefined: that of the fields. */
export function indexOf(lease: VersionLease, part: PartName | undefined): OpenIndex | undefined {
  return part === undefined ? lease : lease[part];
}

/** It is in the generation since it was published with it. */
function partOf(
  kernel: Kernel,
  generation: GenerationHandle,
  name: PartName,
  segments: readonly OpenSegment[],
): OpenIndex {
  const part = kernel.generationParts(generation).find((each) => each.name === name);
  if (part === undefined) throw new Error(`generation ${generation} has no part ${name}`);
  return { handle: part.generation, segments };
}

function sizesOf(kernel: Kernel, { handle: generation, segments }: OpenIndex) {
  const info = kernel.generationInfo(generation);
  const entries = new Map(info.segments.map((entry) => [entry.segment, entry]));
  const sizes: FileSizes = segments.map(({ id, handle }) => {
    const { documentCount = 0, deletedCount = 0, fileBytes = 0 } = entries.get(handle) ?? {};
    return { id, documentCount, deletedCount, fileBytes };
  });
  return { liveCount: info.liveCount, sizes };
}

function vectorSizes(kernel: Kernel, generation: GenerationHandle, segments: readonly OpenVectorSegment[]) {
  const entries = new Map(kernel.generationVectors(generation).map((entry) => [entry.segment, entry]));
  return segments.map(({ id, handle }) => {
    const { vectorCount = 0, deletedCount = 0, fileBytes = 0 } = entries.get(handle) ?? {};
    return { id, documentCount: vectorCount, deletedCount, fileBytes };
  });
}
