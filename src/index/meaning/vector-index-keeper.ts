/**
 * Maintains the indexes of a list's vectors: builds one for a version that has none, or a damaged one, from the vectors
 * kept with the records, and merges segments. Commits write segments without a graph, merges build the graphs. Long
 * tasks run beside the writers, one at a time; their commits take a turn in the list's queue. Main thread only.
 */
import { rm } from 'node:fs/promises';
import { ServiceError, within } from '../../platform/index.js';
import type { RecordStore } from '../../records/index.js';
import {
  currentVersionOf,
  PICTURE_SPACE,
  servingSpaceOf,
  vectorSegmentFile,
  type ListState,
  type VectorSpace,
  type VersionState,
} from '../../store/index.js';
import { isOutgrown, spaceStore } from '../../vectors/index.js';
import type { BuiltSegment, Commit } from '../contract/ingest-tasks.js';
import { STOP_WAIT_MS } from '../merge/background-merger.js';
import { chooseForGraph, chooseMerge, chooseQuietMerge } from '../merge/merge-policy.js';
import type { BackgroundHost } from '../versions/background-host.js';
import { BackgroundRounds } from '../versions/background-rounds.js';
import type { PublishedVersion } from '../versions/published-version.js';
import type { VectorSegmentSize, VersionLease } from '../versions/published-generation.js';
import { ImportPacing, type PacingLimits } from './import-pacing.js';

/** Size of the stored vectors in one piece of an index that is being rebuilt. */
const PIECE_BYTES_MAX = 16 * 2 ** 20;
/**
 * Time without a commit after which a list counts as quiet, and segments that the tiers leave apart are merged: each
 * search visits every graph. Longer than for words, because building a large graph takes minutes, in which new vectors
 * have none.
 */
const QUIET_MS = 10_000;
/**
 * Quiet merges rebuild a graph as soon as the smaller segments have a sixteenth of its vectors: even such a small graph
 * costs each search a third of what the large one does (docs/decisions/0272).
 */
const QUIETLY_OUTWEIGHS_TIMES = 16;

export interface VectorIndexKeeperOptions {
  readonly host: BackgroundHost;
  readonly store: RecordStore;
  /** True if all vectors of a space that is being filled exist. */
  readonly isFilled: (space: VectorSpace) => boolean;
  /** Adopts the state of a commit that concerns only the model; what searches are told of it takes effect at once. */
  readonly adopt: (state: ListState) => void;
  /** Undefined: the default limits. */
  readonly pacing?: PacingLimits;
  /** Time without a commit after which the list counts as quiet. Undefined: the default. */
  readonly quietMs?: number;
}

/** A space that is searched by an index: of texts or of pictures. */
type IndexedSpace = Pick<VectorSpace, 'number' | 'dimensions' | 'state'>;

function picturesOf({ pictures }: ListState): IndexedSpace[] {
  return pictures === undefined ? [] : [{ number: PICTURE_SPACE, dimensions: pictures.dimensions, state: 'serving' }];
}

/** Returns the bytes that an unfiltered search reads of segments without a graph. */
function comparedBytesOf(sizes: readonly VectorSegmentSize[]): number {
  return sizes.reduce((sum, { comparedBytes }) => sum + comparedBytes, 0);
}

/** Returns the index of a space within a lease. */
function indexIn(lease: VersionLease, { number }: IndexedSpace) {
  if (lease.pictures?.space === number) return lease.pictures;
  return lease.vectors?.space === number ? { ...lease.vectors, handle: lease.handle } : undefined;
}

const chooseQuietly: typeof chooseForGraph = (sizes, policy) =>
  chooseQuietMerge(sizes, { ...policy, outweighsTimes: QUIETLY_OUTWEIGHS_TIMES });

interface Missing {
  readonly version: VersionState;
  readonly space: IndexedSpace;
}

export class VectorIndexKeeper {
  private readonly rounds: BackgroundRounds;
  private readonly pacing: ImportPacing;
  /** The index being built, and the records whose vectors were written since it was begun. */
  private making: { readonly missing: Missing; readonly written: Set<number> } | undefined;
  private notMade: { readonly error: unknown } | undefined;
  /** Number of vectors from which no calibration could be taken. */
  private tooFewOf: number | undefined;
  private untilQuiet: NodeJS.Timeout | undefined;
  private isQuiet = false;
  private mergesQuietly = false;

  constructor(private readonly options: VectorIndexKeeperOptions) {
    this.rounds = new BackgroundRounds({
      host: options.host,
      next: () => this.next(),
      complaint: 'An index of vectors could not be made or merged; tried again soon',
      ended: () => {
        this.making = undefined;
      },
    });
    this.pacing = new ImportPacing({
      comparedBytes: () => Math.max(0, ...this.indexes().map(({ sizes }) => comparedBytesOf(sizes))),
      // A quiet merge builds no graph for the import's vectors, so imports do not wait for it.
      building: () => (this.mergesQuietly ? undefined : this.rounds.underWay),
      limits: options.pacing,
    });
  }

  /** Resolves when an import may write its next batch. */
  roomForImport(): Promise<void> {
    return this.pacing.room();
  }

  /** Lets imports continue from now on. */
  letImportsGo(): void {
    this.pacing.stop();
  }

  /** Call it for each commit of the list, before `committed`. */
  noted({ unindexed = [] }: Commit): void {
    for (const { version, space, records } of unindexed) {
      const { missing, written } = this.making ?? {};
      if (missing?.version.version !== version || missing.space.number !== space) continue;
      for (const recordNumber of records) written?.add(recordNumber);
    }
  }

  /** Call it after each commit: starts what there is to do. */
  committed(): void {
    this.awaitQuiet();
    this.rounds.look();
  }

  private awaitQuiet(): void {
    this.isQuiet = false;
    clearTimeout(this.untilQuiet);
    if (this.rounds.stopped) return;
    this.untilQuiet = setTimeout(() => {
      this.isQuiet = true;
      this.rounds.look();
    }, this.options.quietMs ?? QUIET_MS);
    this.untilQuiet.unref();
  }

  get restsUntilMs(): number {
    return this.rounds.restsUntilMs;
  }

  /**
   * Error of the last attempt to build an index, until one succeeds. Excludes merges, which leave the index usable when
   * they fail.
   */
  get failure(): { readonly error: unknown } | undefined {
    return this.notMade;
  }

  /** Stops without waiting for a merge, which builds graphs for a minute or more, and removes its file when it ends. */
  async stop(): Promise<void> {
    this.letImportsGo();
    clearTimeout(this.untilQuiet);
    this.options.host.mergeTurns.ofQuiet.leave(this.again);
    await within(STOP_WAIT_MS, this.rounds.stop());
  }

  private next(): (() => Promise<void>) | undefined {
    const missing = this.missing();
    if (missing !== undefined) return () => this.tryMake(missing);
    return this.merging(chooseMerge) ?? this.merging(chooseForGraph) ?? this.calibrating() ?? this.mergingQuietly();
  }

  private readonly again = (): void => {
    this.rounds.look();
  };

  /**
   * Merges once per quiet period: a failing merge is not repeated for ever, and a successful one ends with a commit.
   */
  private mergingQuietly(): (() => Promise<void>) | undefined {
    const quietTurns = this.options.host.mergeTurns.ofQuiet;
    const work = this.isQuiet ? this.merging(chooseQuietly) : undefined;
    if (work === undefined || !quietTurns.take(this.again)) return undefined;
    this.isQuiet = false;
    this.mergesQuietly = true;
    return async () => {
      try {
        await work();
      } finally {
        this.mergesQuietly = false;
        quietTurns.ended();
      }
    };
  }

  /** Returns the indexes of all versions that searches use. */
  private indexes() {
    const { host } = this.options;
    const state = host.state();
    const spaces = [servingSpaceOf(state) ?? [], picturesOf(state)].flat();
    return state.versions.flatMap((version) => {
      const published = host.published(version.version);
      if (published === undefined) return [];
      const indexed = spaces.filter(({ number }) => published.isIndexed(number));
      return indexed.map((space) => ({ version, published, space, sizes: published.sizesOfVectors(space.number) }));
    });
  }

  private merging(choose: typeof chooseForGraph): (() => Promise<void>) | undefined {
    for (const { version, published, space, sizes } of this.indexes()) {
      const ids = choose(sizes, this.policy(space));
      if (ids.length > 0)
        return () => published.withLease(version.definition, (lease) => this.merge(lease, space, ids));
    }
    return undefined;
  }

  private calibrating(): (() => Promise<void>) | undefined {
    const space = servingSpaceOf(this.options.host.state());
    return space === undefined ? undefined : this.calibration(space);
  }

  /** Calibrates the cosines by the current version. Comes after merges, because it searches the vectors. */
  private calibration(space: VectorSpace): (() => Promise<void>) | undefined {
    const { host } = this.options;
    const { version, definition } = currentVersionOf(host.state());
    const published = host.published(version);
    if (published?.isIndexed(space.number) !== true) return undefined;
    const count = published.vectorSizes.reduce((sum, each) => sum + each.documentCount - each.deletedCount, 0);
    if (!isOutgrown(space.calibration, count) || count === this.tooFewOf) return undefined;
    return () => published.withLease(definition, (lease) => this.calibrate(lease, space, count));
  }

  private async calibrate(lease: VersionLease, space: VectorSpace, count: number): Promise<void> {
    const { host, adopt } = this.options;
    const { listPath } = host;
    const segments = lease.vectors?.segments ?? [];
    const part = { listPath, version: lease.version, space: space.number };
    const calibration = await host.run({ kind: 'calibrate', ...part, generation: lease.handle, segments });
    if (calibration === undefined || !isOutgrown(space.calibration, calibration.vectorCount)) {
      // Too few of the vectors have a live record; calibration is retried when their number changes.
      this.tooFewOf = count;
      return;
    }
    await host.exclusive(async () => {
      if (this.rounds.stopped) return;
      adopt(await host.runCommit({ kind: 'commit-calibration', listPath, space: space.number, calibration }));
    });
  }

  private policy({ dimensions }: IndexedSpace) {
    const { host } = this.options;
    const { merge_fan_in: fanIn, merge_records_max: recordsMax } = host.config.ingest;
    const vectorBytes = host.kernel.vectorBuildBytes(recordsMax, dimensions ?? 1) / recordsMax;
    return { fanIn, documentsMax: Math.min(recordsMax, Math.floor(host.budget.mergeBytesMax / vectorBytes)) };
  }

  private mergeBytesOf(version: number, { number, dimensions }: IndexedSpace, ids: readonly number[]): number {
    const { host } = this.options;
    const sizes = host.published(version)?.sizesOfVectors(number) ?? [];
    const count = sizes
      .filter(({ id }) => ids.includes(id))
      .reduce((sum, { documentCount, deletedCount }) => sum + documentCount - deletedCount, 0);
    return host.kernel.vectorBuildBytes(count, dimensions ?? 1);
  }

  // ---- an index that is missing

  /**
   * Returns the next missing index: of the serving space in every version that has vectors, or of a space that is about
   * to serve.
   */
  private missing(): Missing | undefined {
    const { host, store, isFilled } = this.options;
    const state = host.state();
    for (const space of [...(state.meaning?.spaces ?? []), ...picturesOf(state)]) {
      if (space.state === 'resting' || (space.state === 'filling' && !isFilled(space as VectorSpace))) continue;
      const versions = space.state === 'serving' ? state.versions : [currentVersionOf(state)];
      for (const version of versions) {
        const published = host.published(version.version);
        if (published === undefined || published.isIndexed(space.number)) continue;
        if (spaceStore(store, version.version, space.number).exists) return { version, space };
      }
    }
    return undefined;
  }

  private async tryMake(missing: Missing): Promise<void> {
    try {
      await this.make(missing);
      this.notMade = undefined;
    } catch (error) {
      this.notMade = { error };
      throw error;
    }
  }

  private async make(missing: Missing): Promise<void> {
    const { host } = this.options;
    const { version, space } = missing;
    const published = await host.exclusive(() => {
      this.making = { missing, written: new Set() };
      return Promise.resolve(host.published(version.version));
    });
    const segments: BuiltSegment[] = [];
    const task = { listPath: host.listPath, version: version.version, space: space.number };
    try {
      let cursor = 0;
      for (let done = false; !done;) {
        if (this.rounds.stopped) throw new Error('the list is closed');
        const bytesMax = Math.min(PIECE_BYTES_MAX, host.budget.batchBytesMax);
        const piece = await host.run({
          kind: 'build-vectors',
          ...task,
          cursor,
          bytesMax,
          newSegment: host.newSegment(),
        });
        ({ cursor, done } = piece);
        if (piece.segment !== undefined) segments.push(piece.segment);
      }
    } catch (error) {
      await this.removeFiles(segments);
      throw error;
    }
    await this.putInForce(segments, () => host.exclusive(() => this.commitMade(missing, published, segments)));
  }

  /** Returns false if the version was reopened meanwhile: what was written then is not known. */
  private async commitMade(
    { version, space }: Missing,
    published: PublishedVersion | undefined,
    segments: readonly BuiltSegment[],
  ): Promise<boolean> {
    const { host } = this.options;
    if (this.rounds.stopped || published === undefined || host.published(version.version) !== published) return false;
    const written = [...(this.making?.written ?? [])];
    const task = { listPath: host.listPath, version: version.version, space: space.number, segments, written };
    host.reopen(await host.runCommit({ kind: 'commit-vector-index', ...task, newSegment: host.newSegment() }));
    return true;
  }

  /** Removes the files if they do not come into force, even if the list was closed meanwhile. */
  private async putInForce(segments: readonly BuiltSegment[], commit: () => Promise<boolean | undefined>) {
    const isCommitted = await commit().catch(async (error: unknown) => {
      // After `internal-error` the commit may be on disk; files that are in no manifest are removed when the list is
      // next opened.
      if (error instanceof ServiceError && error.code !== 'internal-error') await this.removeFiles(segments);
      throw error;
    });
    if (isCommitted !== true) await this.removeFiles(segments);
  }

  private async removeFiles(segments: readonly BuiltSegment[]): Promise<void> {
    const { listPath } = this.options.host;
    await Promise.all(segments.map(({ id }) => rm(vectorSegmentFile(listPath, id), { force: true })));
  }

  // ---- merging

  private async merge(lease: VersionLease, space: IndexedSpace, ids: readonly number[]): Promise<void> {
    const { host } = this.options;
    const before = indexIn(lease, space);
    if (before === undefined) return;
    const sources = before.segments.filter(({ id }) => ids.includes(id));
    const { listPath } = host;
    const merged = await host.run({
      kind: 'merge-vectors',
      listPath,
      generation: before.handle,
      sources,
      newSegment: host.newSegment(),
      holdsBytes: this.mergeBytesOf(lease.version, space, ids),
      isQuiet: this.mergesQuietly,
    });
    const made = merged === undefined ? [] : [merged];
    await this.putInForce(made, () =>
      host.exclusive(async () =>
        host.published(lease.version)?.withLease(lease.definition, async (now) => {
          const index = indexIn(now, space);
          const open = new Set(index?.segments.map(({ id }) => id));
          if (this.rounds.stopped || index === undefined || !ids.every((id) => open.has(id))) return false;
          const task = { listPath, version: lease.version, space: space.number, sources, merged };
          const result = await host.runCommit({
            kind: 'commit-vector-merge',
            ...task,
            before: before.handle,
            now: index.handle,
          });
          host.publishCommit(result.commit);
          return true;
        }),
      ),
    );
  }
}
