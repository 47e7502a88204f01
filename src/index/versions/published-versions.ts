/**
 * The versions of a list that searches can find, each with its open segments and the generation in force. Opening is
 * all or nothing. Main thread only.
 */
import { basename } from 'node:path';
import type { Logger } from 'pino';
import type { Kernel } from '../../../native-bindings/index.js';
import type { RecordStore } from '../../records/index.js';
import { within } from '../../platform/index.js';
import {
  PICTURE_SPACE,
  servingSpaceOf,
  type ListState,
  type PartName,
  type PartState,
  type PictureState,
  type SegmentManifest,
  type VectorSpace,
  type VersionState,
} from '../../store/index.js';
import { spaceStore } from '../../vectors/index.js';
import type { RecordQuota } from '../contract/record-quota.js';
import type { GenerationSettings, SearchSettings } from '../contract/types.js';
import {
  UnusableIndexError,
  UnusableSegmentError,
  type DamagedSegments,
  type UnusableVersion,
} from '../segments/unusable-segments.js';
import { partStore } from '../parts/part-store.js';
import { OpenSegments } from './open-segments.js';
import { PublishedVersion, type VersionSettings } from './published-version.js';

const PAGES: PartName = 'pages';

/** Longest time that closing a list waits for its leases; a merge or a slow search may take minutes. */
const LEASES_WAIT_MS = 5000;

export interface PublishedVersionsOptions {
  readonly listPath: string;
  readonly kernel: Kernel;
  readonly store: RecordStore;
  readonly settings: SearchSettings;
  /** Allocates a segment number that was never used. */
  readonly newSegment: () => number;
  /** Segments that are not opened, because they have to be rebuilt. */
  readonly damagedSegments?: DamagedSegments | undefined;
  readonly log: Logger;
  /** Notified of each published state. */
  readonly quota: () => RecordQuota | undefined;
}

export class PublishedVersions {
  private versions: Map<number, PublishedVersion>;
  private settings: SearchSettings;
  private serving: VectorSpace | undefined;
  private parts: readonly PartState[] = [];
  private pictures: PictureState | undefined;

  /** Throws UnusableIndexError if segments have to be rebuilt from the records. */
  constructor(
    private readonly options: PublishedVersionsOptions,
    state: ListState,
  ) {
    this.settings = options.settings;
    this.versions = this.open(state, new Set());
  }

  get(version: number): PublishedVersion | undefined {
    return this.versions.get(version);
  }

  /** True if a lease on one of the versions is out. */
  get areLeased(): boolean {
    return [...this.versions.values()].some((each) => each.isLeased);
  }

  /** Number of segments of all versions and kinds. */
  get segmentCount(): number {
    const counts = [...this.versions.values()].map((each) =>
      [each.sizes, each.vectorSizes, each.pageSizes, each.pictureSizes].reduce((sum, { length }) => sum + length, 0),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** Throws if the version is not published. */
  required(version: number): PublishedVersion {
    const published = this.versions.get(version);
    if (published === undefined) throw new Error(`version ${version} is not published`);
    return published;
  }

  /**
   * Sets the vectors that the list is searched by from the next publication on. A new calibration of the same space
   * takes effect at once.
   */
  adopt(state: ListState): void {
    const { quota, listPath } = this.options;
    quota()?.changed(this.settings.account, basename(listPath));
    const before = this.serving;
    this.serving = servingSpaceOf(state);
    this.parts = state.parts ?? [];
    this.pictures = state.pictures;
    const isRescaled = this.serving?.calibration?.vectorCount !== before?.calibration?.vectorCount;
    if (this.serving === undefined || this.serving.number !== before?.number || !isRescaled) return;
    this.applySettings(this.settings, state.versions);
  }

  add(version: VersionState): void {
    this.versions.set(version.version, this.openVersion(version));
  }

  /** Hides the version from searches; the caller retires what this returns. */
  remove(version: number): PublishedVersion | undefined {
    const published = this.versions.get(version);
    this.versions.delete(version);
    return published;
  }

  /** Reopens every version except those that are being dropped. If one cannot be opened, all stay as they were. */
  reopen(state: ListState, except: ReadonlySet<number>): void {
    const fresh = this.open(state, except);
    const before = [...this.versions.values()];
    this.versions = fresh;
    for (const published of before) published.retire();
  }

  applySettings(settings: SearchSettings, versions: readonly VersionState[]): void {
    this.settings = settings;
    for (const version of versions) this.versions.get(version.version)?.applySettings(this.settingsOf(version));
  }

  /** Settings of the list for searches of the version. */
  settingsOf({ version, definition }: VersionState): VersionSettings {
    const [meaning, pictures] = [this.searchedBy(version), this.picturesSearchedBy(version)];
    const settings: GenerationSettings = {
      ...this.settings,
      version,
      definition,
      listPath: this.options.listPath,
    };
    return {
      records: JSON.stringify(meaning === undefined ? settings : { ...settings, meaning }),
      pictures: pictures === undefined ? '' : JSON.stringify({ ...settings, meaning: pictures }),
    };
  }

  /**
   * Retires all versions. Waits some time for searches to get their records: the files of a deleted list stay for them,
   * but not for ever.
   */
  async close(): Promise<void> {
    const published = [...this.versions.values()];
    this.versions.clear();
    for (const each of published) each.retire();
    await within(LEASES_WAIT_MS, Promise.all(published.map((each) => each.unused())));
  }

  /** Vectors that the version is searched by. */
  searchedBy(version: number): GenerationSettings['meaning'] {
    const space = this.serving;
    if (space === undefined || !space.indexed.includes(version)) return undefined;
    const { model, source, modelVersion, dimensions, calibration } = space;
    if (dimensions === null) return undefined;
    return { model, source, modelVersion, dimensions, ...(calibration === undefined ? {} : { calibration }) };
  }

  /** Vectors that the pictures of the version's records are searched by. */
  picturesSearchedBy(version: number): GenerationSettings['meaning'] {
    const { pictures } = this;
    if (pictures?.indexed.includes(version) !== true) return undefined;
    const { model, modelVersion, dimensions, calibration } = pictures;
    return { model, source: 'embedder', modelVersion, dimensions, calibration };
  }

  private open(state: ListState, except: ReadonlySet<number>): Map<number, PublishedVersion> {
    this.adopt(state);
    const opened = new Map<number, PublishedVersion>();
    const unusable: UnusableVersion[] = [];
    try {
      for (const version of state.versions.filter((candidate) => !except.has(candidate.version))) {
        try {
          opened.set(version.version, this.openVersion(version));
        } catch (error) {
          if (!(error instanceof UnusableSegmentError)) throw error;
          unusable.push(...this.unusableIndexes(version.version));
        }
      }
      if (unusable.length > 0) throw this.unusableIndex(state, unusable);
      return opened;
    } catch (error) {
      for (const published of opened.values()) published.retire();
      throw error;
    }
  }

  private openVersion(version: VersionState): PublishedVersion {
    const { kernel, listPath, damagedSegments: damaged = new Map() } = this.options;
    const store = this.options.store.version(version.version).prepare();
    const settings = this.settingsOf(version);
    const space = this.serving;
    const isIndexed = space?.indexed.includes(version.version) === true;
    return new PublishedVersion({
      kernel,
      listPath,
      version: version.version,
      store,
      settings,
      damaged,
      pages: this.pagesOf(version.version),
      vectors: isIndexed ? spaceStore(this.options.store, version.version, space.number).prepare() : undefined,
      pictures:
        this.picturesSearchedBy(version.version) === undefined
          ? undefined
          : spaceStore(this.options.store, version.version, PICTURE_SPACE).prepare(),
      onUnusableVectors: (err) => {
        // For example after an upgrade to a release with another format.
        const level = err.fault === 'unsupported-format' ? 'warn' : 'error';
        this.options.log[level](
          { list: listPath, version: version.version, err },
          'An index of vectors is made again from those that are kept: until then searches find by words alone',
        );
      },
    });
  }

  /** Manifest of the segments of pages, if there are any. */
  private pagesOf(version: number): SegmentManifest | undefined {
    const isThere = this.parts.some((part) => part.version === version && part.name === PAGES);
    return isThere ? partStore(this.options.store, version, PAGES).prepare() : undefined;
  }

  /** Returns all indexes of a version that have to be rebuilt. Segments that could be opened are closed again. */
  private unusableIndexes(version: number): UnusableVersion[] {
    const { kernel, listPath, store, damagedSegments: damaged = new Map() } = this.options;
    const pages = this.pagesOf(version);
    const indexes = [
      { manifest: store.version(version), part: undefined },
      ...(pages === undefined ? [] : [{ manifest: pages, part: PAGES }]),
    ];
    return indexes.flatMap(({ manifest, part }) => {
      try {
        OpenSegments.open(kernel, { listPath, manifest, damaged }).opened.close();
        return [];
      } catch (error) {
        if (!(error instanceof UnusableSegmentError)) throw error;
        const documents = part === undefined ? store.version(version).recordCount() : liveDocuments(manifest);
        return [{ version, part, documents, segment: error }];
      }
    });
  }

  private unusableIndex(state: ListState, unusable: readonly UnusableVersion[]): UnusableIndexError {
    const { listPath, newSegment, store } = this.options;
    const recordCounts = new Map(state.versions.map(({ version }) => [version, store.version(version).recordCount()]));
    return new UnusableIndexError(listPath, { unusable, state, recordCounts, newSegment });
  }
}

function liveDocuments(manifest: SegmentManifest): number {
  return manifest.segments().reduce((sum, { entry }) => sum + entry.documentCount - entry.deletedCount, 0);
}
