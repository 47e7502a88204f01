/**
 * One generation of a version in the kernel, and the leases on it.
 *
 * Its handle and those of its segments are accessible only through a lease. Until the last lease is released, all of
 * them are valid in every thread, whatever is written, set, merged or dropped meanwhile. The kernel's debug mode
 * (`GANNET_KERNEL_CHECK_LEASES=1`) ends the process if a handle is used without a lease. Main thread only.
 */
import type { GenerationChange, GenerationHandle, Kernel } from '../../../native-bindings/index.js';
import type { FieldDefinition } from '../../catalog/index.js';
import type { PartName } from '../../store/index.js';
import type { OpenVectorSegment, VectorIndexView, VersionView } from '../contract/ingest-tasks.js';
import type { GenerationLease } from '../contract/types.js';
import { hasTexts } from '../../extracts/index.js';
import type { OpenSegment } from './open-segments.js';

export interface SegmentSize {
  readonly id: number;
  readonly documentCount: number;
  readonly deletedCount: number;
}

/** An index of a version: of its fields, or a part. */
export interface OpenIndex {
  readonly handle: GenerationHandle;
  readonly segments: readonly OpenSegment[];
}

/** The same records with the vectors of their pictures, as a generation of their own. */
export interface OpenPictures extends Omit<VectorIndexView, 'newSegment'> {
  readonly handle: GenerationHandle;
}

type FileSizes = readonly (SegmentSize & { readonly fileBytes: number })[];

export interface VectorSegmentSize extends SegmentSize {
  readonly fileBytes: number;
  /** Bytes of vectors that each search compares one by one; 0 if the segment has a graph. */
  readonly comparedBytes: number;
  /** True if the segment has more vectors than a segment without a graph should have. */
  readonly lacksGraph: boolean;
}

/** A lease for the write side, which includes the segments. */
export interface VersionLease extends GenerationLease {
  readonly segments: readonly OpenSegment[];
  /** Segments of the version's vectors; undefined if it has no index of vectors. */
  readonly vectors: Omit<VectorIndexView, 'newSegment'> | undefined;
  /** Pages of the documents that records link to; undefined if there never were any. */
  readonly pages: OpenIndex | undefined;
  /** Vectors of the pictures that records link to; undefined if the version has no index of these. */
  readonly pictures: OpenPictures | undefined;
  /** Returns the view for a task. `newSegment` allocates the numbers of the segments that the task may build. */
  view(newSegment: () => number): VersionView;
}

export interface PublishedGenerationOptions {
  readonly kernel: Kernel;
  readonly version: number;
  readonly segments: readonly OpenSegment[];
  readonly vectors: Omit<VectorIndexView, 'newSegment'> | undefined;
  /** Segments of the part. */
  readonly pages: readonly OpenSegment[] | undefined;
  readonly pictures: Omit<VectorIndexView, 'newSegment'> | undefined;
  /** Called at the end of each lease; if it was the last one, after the generation was released. */
  readonly onRelease: (generation: PublishedGeneration) => void;
}

/** Change of the records' generation, and of the generation with their pictures, if there is one. */
export interface PublishedChange {
  readonly records: GenerationChange;
  readonly pictures?: GenerationChange;
}

/** Shared by all lists of the process, so that a sequence identifies one generation of one version. */
let lastSequence = 0;

export class PublishedGeneration {
  readonly sequence: number;
  /** Number of live documents. */
  readonly recordCount: number;
  readonly sizes: FileSizes;
  /** Sizes of the segments of vectors. */
  readonly vectorSizes: readonly VectorSegmentSize[];
  /** Sizes of the segments of pages. */
  readonly pageSizes: FileSizes;
  /** Sizes of the segments of vectors of pictures. */
  readonly pictureSizes: readonly VectorSegmentSize[];
  readonly #options: PublishedGenerationOptions;
  readonly #handle: GenerationHandle;
  readonly #pages: OpenIndex | undefined;
  readonly #pictures: OpenPictures | undefined;
  #leases = 0;
  #superseded = false;

  /** The segments must be open, and stay so until this returns. */
  constructor(options: PublishedGenerationOptions, change: PublishedChange) {
    const { kernel, segments } = options;
    this.#options = options;
    this.#handle = kernel.publishGeneration(change.records);
    try {
      const fields = sizesOf(kernel, { handle: this.#handle, segments });
      this.recordCount = fields.liveCount;
      this.sizes = fields.sizes;
      this.#pages = options.pages === undefined ? undefined : partOf(kernel, this.#handle, 'pages', options.pages);
      this.pageSizes = this.#pages === undefined ? [] : sizesOf(kernel, this.#pages).sizes;
      const { vectors, pictures } = options;
      this.vectorSizes = vectors === undefined ? [] : vectorSizes(kernel, this.#handle, vectors.segments);
      if (pictures !== undefined && change.pictures !== undefined)
        this.#pictures = { ...pictures, handle: kernel.publishGeneration(change.pictures) };
      const { handle = 0 } = this.#pictures ?? {};
      this.pictureSizes = pictures === undefined ? [] : vectorSizes(kernel, handle, pictures.segments);
      this.#countLeases(0);
    } catch (error) {
      // Nobody else knows of these generations.
      this.#release();
      throw error;
    }
    lastSequence += 1;
    this.sequence = lastSequence;
  }

  get isLeased(): boolean {
    return this.#leases > 0;
  }

  /** Returns the generation that results from a change of this one. */
  next(
    { records, pictures }: PublishedChange,
    open: Pick<PublishedGenerationOptions, 'segments' | 'vectors' | 'pages' | 'pictures'>,
  ): PublishedGeneration {
    return new PublishedGeneration(
      { ...this.#options, ...open },
      {
        records: { ...records, base: this.#handle },
        ...(this.#pictures === undefined ? {} : { pictures: { ...pictures, base: this.#pictures.handle } }),
      },
    );
  }

  lease(definition: FieldDefinition): VersionLease {
    const { version, segments, vectors, onRelease } = this.#options;
    const handle = this.#handle;
    const pages = this.#pages;
    const pictures = this.#pictures;
    if (this.#superseded && this.#leases === 0) throw new Error(`generation ${handle} is released already`);
    this.#leases += 1;
    this.#countLeases(1);
    let released = false;
    return {
      handle,
      sequence: this.sequence,
      version,
      definition,
      segments,
      vectors,
      pages,
      pictures,
      view: (newSegment) => ({
        version,
        generation: handle,
        segments,
        newSegment: newSegment(),
        ...(vectors === undefined ? {} : { vectors: { ...vectors, newSegment: newSegment() } }),
        ...(pictures === undefined
          ? {}
          : { pictures: { space: pictures.space, segments: pictures.segments, newSegment: newSegment() } }),
        ...(pages === undefined && !hasTexts(definition)
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
        this.#countLeases(-1);
        this.#leases -= 1;
        this.#releaseIfDone();
        onRelease(this);
      },
    };
  }

  /** Called when another generation, or none, is in force: this one is released with its last lease. */
  supersede(): void {
    if (this.#superseded) return;
    this.#superseded = true;
    this.#releaseIfDone();
  }

  #releaseIfDone(): void {
    if (this.#superseded && this.#leases === 0) this.#release();
  }

  #release(): void {
    for (const handle of this.#handles) this.#options.kernel.releaseGeneration(handle);
  }

  get #handles(): readonly GenerationHandle[] {
    return this.#pictures === undefined ? [this.#handle] : [this.#handle, this.#pictures.handle];
  }

  #countLeases(by: -1 | 0 | 1): void {
    const { kernel } = this.#options;
    if (kernel.checksLeases) for (const handle of this.#handles) kernel.countLeases(handle, by);
  }
}

/** Returns an index of a lease. `part` is undefined for the index of the fields. */
export function indexOf(lease: VersionLease, part: PartName | undefined): OpenIndex | undefined {
  return part === undefined ? lease : lease[part];
}

/** The part was published together with the generation. */
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
    const entry = entries.get(handle);
    const { vectorCount = 0, deletedCount = 0, fileBytes = 0, comparedBytes = 0, lacksGraph = false } = entry ?? {};
    return { id, documentCount: vectorCount, deletedCount, fileBytes, comparedBytes, lacksGraph };
  });
}
