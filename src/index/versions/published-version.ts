/**
 * One version of a list as searches see it: its open segments and the generation in force, with leases on it.
 *
 * Invariants: there is always a generation in force until `retire`. A superseded generation is released with its last
 * lease. The handles in `segments` are owned here, one kernel reference each. A file is unlinked, in the background,
 * when no generation has it open any more: otherwise releasing the last one would free its blocks on this thread. Main
 * thread only.
 */
import { unlink } from 'node:fs/promises';
import type { GenerationChange, Kernel } from '../../../native-bindings/index.js';
import type { FieldDefinition } from '../../catalog/index.js';
import type { VersionStore } from '../../records/index.js';
import { segmentFile, vectorSegmentFile, type PartName, type SegmentManifest } from '../../store/index.js';
import type { SpaceStore } from '../../vectors/index.js';
import { OpenVectors } from './open-vectors.js';
import type { VersionChange } from '../contract/ingest-tasks.js';
import { OpenSegments } from './open-segments.js';
import { PublishedGeneration, type VersionLease } from './published-generation.js';
import { UnusableSegmentError, type DamagedSegments } from '../segments/unusable-segments.js';

const PAGES: PartName = 'pages';

export interface PublishedVersionOptions {
  readonly kernel: Kernel;
  /** Folder of the list. */
  readonly listPath: string;
  readonly version: number;
  readonly store: VersionStore;
  readonly settings: VersionSettings;
  /** Segments that are not opened, because they have to be rebuilt. */
  readonly damaged: DamagedSegments;
  /** Vectors that the version is searched by; undefined if there is no index of them. */
  readonly vectors: SpaceStore | undefined;
  /** Vectors of the pictures that its records link to; undefined if there is no index of them. */
  readonly pictures: SpaceStore | undefined;
  /** Manifest of the segments of pages; undefined if there never were any. */
  readonly pages: SegmentManifest | undefined;
  /** Called if the index of vectors has to be rebuilt; the version is opened without it. */
  readonly onUnusableVectors: (error: UnusableSegmentError) => void;
}

/** JSON for searches (`GenerationSettings`). */
export interface VersionSettings {
  readonly records: string;
  /** The settings for searches by the vectors of pictures. */
  readonly pictures: string;
}

export class PublishedVersion {
  readonly version: number;
  private readonly kernel: Kernel;
  private readonly listPath: string;
  private settings: VersionSettings;
  private segments: OpenSegments;
  private vectors: OpenVectors | undefined;
  private pages: OpenSegments | undefined;
  private pictures: OpenVectors | undefined;
  private inForce: PublishedGeneration;
  private leasesOut = 0;
  /** Sequences of superseded generations that are still leased. */
  private readonly leasedBefore = new Set<number>();
  /** Files that are unused from the generation with this sequence on. */
  private filesToRemove: { readonly path: string; readonly sequence: number }[] = [];
  private readonly idle: (() => void)[] = [];

  /** Opens the segments in the manifest. Throws UnusableSegmentError if one has to be rebuilt. */
  constructor(given: PublishedVersionOptions) {
    const { kernel, listPath, version, store, settings, damaged } = given;
    this.kernel = kernel;
    this.listPath = listPath;
    this.version = version;
    this.settings = settings;
    this.segments = OpenSegments.none(kernel);
    try {
      const { opened, change } = OpenSegments.open(kernel, { listPath, manifest: store, damaged });
      this.segments = opened;
      const pages = this.openPages(given);
      const vectors = this.openVectors(given, given.vectors);
      this.vectors = vectors?.opened;
      const pictures = this.openVectors(given, given.pictures);
      this.pictures = pictures?.opened;
      const options = { kernel, version, ...this.open, onRelease: this.released };
      const records = { ...change, ...vectorsOf(vectors), ...pages, settings: settings.records };
      this.inForce = new PublishedGeneration(options, {
        records,
        ...(pictures === undefined
          ? {}
          : { pictures: { ...change, ...vectorsOf(pictures), settings: settings.pictures } }),
      });
    } catch (error) {
      this.closeSegments();
      throw error;
    }
  }

  /** True if a lease is out. */
  get isLeased(): boolean {
    return this.leasesOut > 0;
  }

  /** Number of live documents of the generation in force. */
  get recordCount(): number {
    return this.inForce.recordCount;
  }

  /** Sequence of the generation in force. */
  get sequence(): number {
    return this.inForce.sequence;
  }

  /** Sizes of the segments in force. */
  get sizes(): PublishedGeneration['sizes'] {
    return this.inForce.sizes;
  }

  /** Sizes of the segments of its vectors. */
  get vectorSizes(): PublishedGeneration['vectorSizes'] {
    return this.inForce.vectorSizes;
  }

  /** Sizes of the segments of pages. */
  get pageSizes(): PublishedGeneration['sizes'] {
    return this.inForce.pageSizes;
  }

  /** Sizes of the segments of an index. `part` is undefined for the index of the fields. */
  sizesOf(part: PartName | undefined): PublishedGeneration['sizes'] {
    return part === undefined ? this.inForce.sizes : this.inForce.pageSizes;
  }

  /** Sizes of the segments of its vectors in a space that has an index. */
  sizesOfVectors(space: number): PublishedGeneration['vectorSizes'] {
    return space === this.pictures?.space ? this.inForce.pictureSizes : this.inForce.vectorSizes;
  }

  /** Sizes of the segments of its pictures' vectors. */
  get pictureSizes(): PublishedGeneration['pictureSizes'] {
    return this.inForce.pictureSizes;
  }

  /** True if the version has an index of the vectors of that space. */
  isIndexed(space: number): boolean {
    return this.vectors?.space === space || this.pictures?.space === space;
  }

  hasSegment(id: number): boolean {
    return [this.segments, this.vectors, this.pages, this.pictures].some((each) => each?.has(id) === true);
  }

  /**
   * Takes a lease on the generation in force, which must be released in any case. Use `withLease` within this folder,
   * which ensures that.
   */
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

  /** Puts a commit in force. Takes ownership of the handles of added segments. */
  apply(change: VersionChange, settings: VersionSettings): void {
    const fields = this.segments.after(change);
    const vectors = change.vectors === undefined ? undefined : this.vectors?.after(change.vectors);
    const pictures = change.pictures && this.pictures?.after(change.pictures);
    const pages = change.pages && (this.pages ?? OpenSegments.none(this.kernel)).after(change.pages);
    try {
      const records = {
        ...fields.change,
        ...this.newSettings('records', settings),
        ...vectorsOf(vectors),
        ...(pages === undefined ? {} : { parts: [{ name: PAGES, ...pages.change }] }),
      };
      const next = {
        segments: fields.next.list,
        vectors: (vectors?.next ?? this.vectors)?.view,
        pages: (pages?.next ?? this.pages)?.list,
        pictures: (pictures?.next ?? this.pictures)?.view,
      };
      const ofPictures = { ...fields.change, ...this.newSettings('pictures', settings), ...vectorsOf(pictures) };
      this.supersedeBy(this.inForce.next({ records, pictures: ofPictures }, next));
    } catch (error) {
      for (const { handle } of [...change.added, ...(change.pages?.added ?? [])]) this.kernel.closeSegment(handle);
      for (const { handle } of [...(change.vectors?.added ?? []), ...(change.pictures?.added ?? [])])
        this.kernel.closeVectorSegment(handle);
      throw error;
    }
    this.segments = fields.next;
    this.settings = settings;
    this.vectors = vectors?.next ?? this.vectors;
    this.pictures = pictures?.next ?? this.pictures;
    this.pages = pages?.next ?? this.pages;
    for (const { id, handle } of [...fields.closed, ...(pages?.closed ?? [])]) {
      this.kernel.closeSegment(handle);
      this.removeLater(segmentFile(this.listPath, id));
    }
    for (const { id, handle } of [...(vectors?.closed ?? []), ...(pictures?.closed ?? [])]) {
      this.kernel.closeVectorSegment(handle);
      this.removeLater(vectorSegmentFile(this.listPath, id));
    }
    this.removeFiles();
  }

  applySettings(settings: VersionSettings): void {
    const [records, pictures] = [this.newSettings('records', settings), this.newSettings('pictures', settings)];
    if (records.settings === undefined && pictures.settings === undefined) return;
    this.supersedeBy(this.inForce.next({ records, pictures }, this.open));
    this.settings = settings;
  }

  /** Gives no leases from now on; existing leases stay valid until they are released. */
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
    const [vectors, pictures] = [this.vectors?.view, this.pictures?.view];
    return { segments: this.segments.list, vectors, pages: this.pages?.list, pictures };
  }

  private newSettings(of: keyof VersionSettings, settings: VersionSettings): { readonly settings?: string } {
    return settings[of] === this.settings[of] ? {} : { settings: settings[of] };
  }

  private openPages({ kernel, listPath, pages: manifest, damaged }: PublishedVersionOptions) {
    if (manifest === undefined) return {};
    const { opened, change } = OpenSegments.open(kernel, { listPath, manifest, damaged });
    this.pages = opened;
    return { parts: [{ name: PAGES, ...change }] };
  }

  private openVectors(
    { kernel, listPath, damaged, onUnusableVectors }: PublishedVersionOptions,
    vectors: SpaceStore | undefined,
  ): ReturnType<typeof OpenVectors.open> | undefined {
    if (vectors === undefined) return undefined;
    try {
      return OpenVectors.open(kernel, listPath, vectors, damaged);
    } catch (error) {
      if (!(error instanceof UnusableSegmentError)) throw error;
      onUnusableVectors(error);
      return undefined;
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
    // A file that cannot be removed now is removed when the list is next opened.
    for (const { path } of unused) unlink(path).catch(() => undefined);
  }

  private closeSegments(): void {
    this.segments.close();
    this.segments = OpenSegments.none(this.kernel);
    this.vectors?.close();
    this.vectors = undefined;
    this.pages?.close();
    this.pages = undefined;
    this.pictures?.close();
    this.pictures = undefined;
  }
}

function vectorsOf(
  of: { readonly change: NonNullable<GenerationChange['vectors']> } | undefined,
): Pick<GenerationChange, 'vectors'> {
  return of === undefined ? {} : { vectors: of.change };
}
