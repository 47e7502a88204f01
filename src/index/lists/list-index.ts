/**
 * One open list on the main thread: its queue of commits, the generations that searches use, and the background work
 * (merging, building versions).
 *
 * Order of a write: queue → ingest worker (segment file, one LMDB transaction, on disk) → publication → answer. The
 * state in memory is that of the last published commit; after a worker's death the store tells what happened
 * (`resync`). Main thread only.
 */
import type { Kernel } from '../../../native-bindings/index.js';
import type { Logger } from 'pino';
import type { FieldDefinition } from '../../catalog/index.js';
import {
  ServiceError,
  type Cancellation,
  type Clock,
  type Config,
  type EventSink,
  type MemoryBudget,
  type Metrics,
  type ProgressBoard,
} from '../../platform/index.js';
import { RecordStore, type RecordFormat } from '../../records/index.js';
import {
  buildingVersionOf,
  currentVersionOf,
  isUnwritten,
  missingStore,
  type ListState,
  type VersionState,
} from '../../store/index.js';
import type { FileReader } from '../../extracts/index.js';
import type { ListModels } from '../../vectors/index.js';
import type { BackgroundHost, WritingTaskPart } from '../versions/background-host.js';
import { ListBackground, type ListBackgroundOptions } from './list-background.js';
import { EntryKeeper, type CatalogueEntry } from './entry-keeper.js';
import { checkVersions } from './list-check.js';
import type { ListParts } from './list-measurements.js';
import type { ImportBuffers } from '../import/import-buffers.js';
import { RecordWrites } from './record-writes.js';
import { ListImports } from '../import/list-imports.js';
import type { Commit, IngestExecutor } from '../contract/ingest-tasks.js';
import type { WriteAdmission } from '../admission/write-admission.js';
import { ListQueue } from '../commit/list-queue.js';
import type { VersionLease } from '../versions/published-generation.js';
import { PublishedVersions, type PublishedVersionsOptions } from '../versions/published-versions.js';
import { dropVersion, orphanedVersions } from '../versions/version-dropping.js';
import { CommitPublisher } from '../versions/commit-publisher.js';
import { ListEvents } from '../commit/list-events.js';
import { versionStatus } from '../contract/version-status.js';
import { removeUnknownSegments } from '../segments/segment-files.js';
import type { StorePages } from '../commit/store-pages.js';
import type { MergeTurns } from '../commit/merge-turns.js';
import type {
  GenerationLease,
  GenerationSettings,
  ImportOptions,
  ImportSession,
  ListIndex,
  MeaningStatus,
  ResourcesStatus,
  SearchSettings,
  SyncSession,
  VersionStatus,
  WriteRequest,
  WriteResult,
} from '../contract/types.js';
import type { DamagedSegments } from '../segments/unusable-segments.js';

const RETRY_AFTER_SECONDS = 1;

export interface ListIndexOptions {
  readonly kernel: Kernel;
  readonly executor: IngestExecutor;
  readonly clock: Clock;
  readonly log: Logger;
  readonly config: Pick<Config, 'ingest' | 'limits' | 'versions'>;
  readonly metrics: Pick<Metrics, 'recordsWritten' | 'recordsEmbedded'>;
  /** Source of the lists' models. */
  readonly models: () => ListModels;
  /** Reader of the files that records link to; undefined if nothing reads them. */
  readonly reader: () => FileReader | undefined;
  /** Limit on the number of records. */
  readonly quota: PublishedVersionsOptions['quota'];
  readonly budget: MemoryBudget;
  /** Shared by the imports into all lists. */
  readonly importBuffers: ImportBuffers;
  readonly admission: WriteAdmission;
  /** Shared by the stores of all lists. */
  readonly storePages: StorePages;
  /** Shared by the merges of all lists. */
  readonly mergeTurns: MergeTurns;
  readonly progress: ProgressBoard;
  /** Undefined: nobody listens. */
  readonly events?: EventSink;
  /** Returns the catalogue entry of a list. Undefined: no copy of the entry is kept in the store. */
  readonly entryOf?: (listId: string) => CatalogueEntry | undefined;
  /** How far imports may be ahead of the graphs of vectors. Undefined: the default. */
  readonly pacing?: NonNullable<ListBackgroundOptions['pacing']>;
  readonly quietMs?: NonNullable<ListBackgroundOptions['quietMs']>;
  /**
   * Segments that were found damaged before the list is opened. Undefined: not checked, because they have just been
   * written.
   */
  readonly damagedSegments?: DamagedSegments;
}

export class OpenListIndex implements ListIndex {
  private state: ListState;
  private readonly store: RecordStore;
  private readonly published: PublishedVersions;
  private readonly queue: ListQueue;
  private readonly background: ListBackground;
  private readonly entry: EntryKeeper;
  private readonly newSegment: () => number;
  /** Versions that are being dropped: the state may still name them, but they are no longer visible. */
  private readonly dropping = new Set<number>();
  private readonly imports: ListImports;
  private readonly events: ListEvents;
  private readonly commits: CommitPublisher;
  private readonly writes: RecordWrites;
  /** Error with which everything is refused; undefined while the list is open. */
  private closedWith: ServiceError | undefined;
  private closing: Promise<void> | undefined;

  /**
   * Recovers from a crash, opens the segments and publishes every version. Throws UnusableIndexError if segments have
   * to be rebuilt from the records, and other errors if the list is damaged beyond that.
   */
  constructor(
    readonly listPath: string,
    private settings: SearchSettings,
    private readonly options: ListIndexOptions,
  ) {
    this.store = new RecordStore(listPath);
    try {
      const state = this.store.state();
      if (state === undefined) throw missingStore(listPath);
      this.state = state;
      const newSegment = removeUnknownSegments(listPath, this.store, state);
      this.newSegment = newSegment;
      this.published = new PublishedVersions({ ...options, listPath, store: this.store, settings, newSegment }, state);
    } catch (error) {
      void this.store.close();
      throw error;
    }
    this.events = new ListEvents({
      listPath,
      sink: options.events,
      state: () => this.state,
      names: () => this.settings,
      commitImports: (untold) => this.commitImports(untold),
      onLater: (err) => options.log.warn({ list: listPath, err }, 'a bulk call is told to webhooks later'),
    });
    this.commits = new CommitPublisher({
      ...options,
      listPath,
      store: this.store,
      published: this.published,
      state: () => this.state,
      adopt: (state) => this.adopt(state),
      dropping: this.dropping,
    });
    this.writes = this.writesOf(options);
    const admission = options.admission.forList(settings.account);
    this.queue = new ListQueue({
      admission,
      groupBytesMax: () => options.storePages.batchBytesMax(listPath),
      commitGroup: (writes) => this.writes.group(writes),
    });
    this.imports = new ListImports({
      ...options,
      admission,
      pace: this.writes.importPace,
      listPath,
      commit: (batch) => this.background.whenRoom(() => this.queue.exclusive(() => this.writes.batch(batch))),
      removeUnlisted: (...unlisted) => this.queue.exclusive(() => this.writes.unlisted(...unlisted)),
      settle: (importId) => this.events.reportImports([importId]),
    });
    this.background = new ListBackground({
      ...options,
      host: this.backgroundHost(),
      store: this.store,
      settings: () => this.settings,
      adopt: (state) => this.adopt(state),
    });
    this.entry = new EntryKeeper({
      log: options.log,
      listPath,
      current: () => options.entryOf?.(this.events.source.id),
      kept: this.store.keptEntry(),
      write: (entry) => this.queue.exclusive(() => options.executor.run({ kind: 'keep-entry', listPath, ...entry })),
    });
    this.background.opened();
    this.events.resume();
    void this.entry.keep();
    this.modelsChanged();
  }

  get files(): ListBackground['files'] {
    return this.background.files;
  }

  get currentVersion(): number {
    return this.state.currentVersion;
  }

  versions(): readonly VersionStatus[] {
    this.requireOpen();
    // A version that is being dropped is no longer published.
    return this.state.versions.flatMap((version) => {
      const published = this.published.get(version.version);
      return published === undefined ? [] : [versionStatus(version, published.recordCount)];
    });
  }

  lease(version = this.state.currentVersion): GenerationLease {
    this.requireOpen();
    const found = this.readyVersion(version);
    const published = this.published.get(version);
    if (found === undefined || published === undefined) {
      throw new ServiceError(
        'version-not-found',
        `The list '${this.settings.list}' has no version ${version}; its current version is ${this.currentVersion}.`,
      );
    }
    return published.lease(found.definition);
  }

  searchedBy(version: number): GenerationSettings['meaning'] {
    return this.published.searchedBy(version);
  }

  picturesSearchedBy(version: number): GenerationSettings['meaning'] {
    return this.published.picturesSearchedBy(version);
  }

  sequence(version: number): number | undefined {
    if (this.closedWith !== undefined || this.readyVersion(version) === undefined) return undefined;
    return this.published.get(version)?.sequence;
  }

  private readyVersion(version: number): VersionState | undefined {
    return this.state.versions.find((candidate) => candidate.version === version && candidate.state === 'ready');
  }

  /** Refuses calls from now on, before `close`. What was accepted continues. */
  refuse(reason: ServiceError): void {
    this.closedWith ??= reason;
  }

  /** True if calls are refused. */
  get isRefused(): boolean {
    return this.closedWith !== undefined;
  }

  /** Throws if the list was closed (deleted, or the service stops) while the caller held it. */
  private requireOpen(): void {
    if (this.closedWith !== undefined) throw this.closedWith;
  }

  write(request: WriteRequest): Promise<WriteResult> {
    return this.queue.write(request);
  }

  startImport(format: RecordFormat, options: ImportOptions = {}): ImportSession {
    this.requireOpen();
    return this.imports.start(format, options);
  }

  startSync(source: string, format: RecordFormat): SyncSession {
    this.requireOpen();
    return this.imports.startSync(source, format);
  }

  deleteMatching(
    plan: Uint8Array | ((definition: FieldDefinition) => Uint8Array),
    signal?: Cancellation,
  ): Promise<number> {
    const version = this.currentVersion;
    // Finished bytes may be a view of a writer's buffer that is reused while this waits.
    const given = typeof plan === 'function' ? plan : plan.slice();
    return this.queue.exclusiveWrite(typeof given === 'function' ? 0 : given.length, async () => {
      // A client that left while it waited no longer wants the deletion. A deletion that has begun is finished.
      if (signal?.aborted === true) throw signal.reason;
      if (typeof given !== 'function' && version !== this.currentVersion) {
        const detail = 'The list moved to its next version during the request; try again.';
        throw new ServiceError('overloaded', detail, { retryAfterSeconds: RETRY_AFTER_SECONDS });
      }
      return this.writes.matching(
        typeof given === 'function' ? given(currentVersionOf(this.state).definition).slice() : given,
      );
    });
  }

  changeDefinition(definition: FieldDefinition, renames: Readonly<Record<string, string>> = {}): Promise<number> {
    return this.background.changeDefinition(definition, renames);
  }

  async applySettings(settings: SearchSettings): Promise<void> {
    this.requireOpen();
    this.settings = settings;
    this.published.applySettings(settings, this.state.versions);
    await this.background.meaning.aligned();
    await this.background.files.aligned();
  }

  /** Call it when the name of the list's model may refer to another model. */
  modelsChanged(): void {
    this.background.files.committed();
    void this.background.meaning.aligned();
  }

  meaning(): MeaningStatus {
    this.requireOpen();
    return this.background.meaning.status();
  }

  resources(): ResourcesStatus | undefined {
    return this.files.status();
  }

  retryEmbeddings(): Promise<number> {
    this.requireOpen();
    return this.background.meaning.retry();
  }

  keepEntry(): Promise<void> {
    return this.entry.keep();
  }

  check(): Promise<readonly string[]> {
    const { listPath } = this;
    return this.queue.exclusive(() =>
      checkVersions({ ...this.options, listPath, state: this.state, published: this.published }),
    );
  }

  reindex(): Promise<number> {
    return this.background.reindex();
  }

  /** Runs an action that reads the list's files and store, while nothing is written. */
  whileUnchanged<Result>(action: () => Promise<Result>): Promise<Result> {
    return this.queue.exclusive(action);
  }

  endIfUnwritten(reason: ServiceError, end: () => Promise<void>): Promise<boolean> {
    return this.queue.last(reason, () => !this.imports.areUnderWay && isUnwritten(this.state), end);
  }

  /**
   * Time until which nothing has to be done unless somebody asks: 0 if something is in progress, Infinity if nothing is
   * scheduled.
   */
  get restsUntilMs(): number {
    const isAtWork =
      this.closedWith !== undefined || !this.queue.isIdle || this.imports.areUnderWay || this.published.areLeased;
    return isAtWork ? 0 : this.background.restsUntilMs;
  }

  /** Numbers of the list's segments and versions. */
  get parts(): ListParts {
    const building = buildingVersionOf(this.state) === undefined ? 0 : 1;
    return { segments: this.published.segmentCount, versions: this.state.versions.length, building };
  }

  /** True if a start need not open the list: all work is done, and its events have reached the sink. */
  get isComplete(): boolean {
    const { state, dropping, background, entry, events } = this;
    const isWhole = buildingVersionOf(state) === undefined && dropping.size === 0;
    return isWhole && this.restsUntilMs > 0 && background.isComplete && entry.isUpToDate && events.areTold;
  }

  /**
   * Finishes what was accepted, then releases everything; later calls are refused with `reason`. A merge may still be
   * running afterwards.
   */
  close(reason: ServiceError): Promise<void> {
    this.refuse(reason);
    return (this.closing ??= this.ended(reason).then(() => this.store.close()));
  }

  /**
   * As `close`, but leaves the store open and resolves with it, for a caller that maps it again. A later `close` does
   * not close the store.
   */
  closeAllBut(reason: ServiceError): Promise<RecordStore> {
    this.refuse(reason);
    return (this.closing ??= this.ended(reason)).then(() => this.store);
  }

  private async ended(reason: ServiceError): Promise<void> {
    this.imports.close();
    await this.background.stop(reason);
    await this.queue.close(reason).then(() => this.background.stopped());
    await this.published.close();
    this.options.storePages.closed(this.listPath);
  }

  // ---- commits

  /**
   * Runs the action with what every writing task needs: the current version and the one being built. Both are leased
   * until the action has ended, even if a setting, a merge or the end of a version replaces them meanwhile. Call it in
   * a turn of the queue.
   */
  private withWritingTask<Result>(action: (part: WritingTaskPart) => Promise<Result>): Promise<Result> {
    const building = buildingVersionOf(this.state);
    const part = (current: VersionLease, next: VersionLease | undefined): WritingTaskPart => ({
      listPath: this.listPath,
      nowMs: this.options.clock.nowMs(),
      current: current.view(this.newSegment),
      building: next?.view(this.newSegment),
      limits: { recordBytesMax: this.options.config.limits.record_bytes_max },
      events: this.events.task(),
    });
    return this.withLease(currentVersionOf(this.state), (current) =>
      building === undefined
        ? action(part(current, undefined))
        : this.withLease(building, (next) => action(part(current, next))),
    );
  }

  private withLease<Result>(
    { version, definition }: VersionState,
    action: (lease: VersionLease) => Promise<Result>,
  ): Promise<Result> {
    return this.published.required(version).withLease(definition, action);
  }

  /** Takes over the state of a commit, and notifies the sink of its events. */
  private adopt(state: ListState): void {
    const before = this.state;
    this.state = state;
    this.published.adopt(state);
    this.events.committed(before, state);
  }

  readonly removeToldRows = () => this.commitImports(() => []);

  private commitImports(untold: () => readonly string[]): Promise<void> {
    return this.queue.exclusive(async () => {
      const events = this.events.task();
      if (events === undefined) return;
      const task = { listPath: this.listPath, nowMs: this.options.clock.nowMs(), importIds: untold(), events };
      this.adopt(await this.commits.run({ kind: 'report-imports', ...task }));
    });
  }

  private publishCommit(commit: Commit | undefined): void {
    if (commit !== undefined) this.background.published(commit, () => this.commits.publish(commit));
  }

  private writesOf(options: ListIndexOptions): RecordWrites {
    return new RecordWrites({
      ...options,
      listPath: this.listPath,
      commits: this.commits,
      withWritingTask: (action) => this.withWritingTask(action),
      publish: (commit) => this.publishCommit(commit),
    });
  }

  // ---- background work

  /** What merging and building may do with this list. */
  private backgroundHost(): BackgroundHost {
    return {
      ...this.options,
      listPath: this.listPath,
      state: () => this.state,
      published: (version) => this.published.get(version),
      newSegment: this.newSegment,
      exclusive: (action) => this.queue.exclusive(action),
      between: (action) => this.queue.between(action),
      run: (task, options) => this.options.executor.run(task, options),
      runCommit: (task) => this.commits.run(task),
      publishCommit: (commit) => this.publishCommit(commit),
      reopen: (state) => {
        this.published.reopen(state, this.dropping);
        this.adopt(state);
        this.background.reopened();
      },
      eventTask: () => this.events.task(),
      withWritingTask: (action) => this.withWritingTask(action),
      addVersion: (state, version) => this.commits.addVersion(state, version),
      dropVersion: (version) =>
        dropVersion(
          {
            listPath: this.listPath,
            store: this.store,
            published: this.published,
            commits: this.commits,
            dropping: this.dropping,
            exclusive: (action) => this.queue.exclusive(action),
            adopt: (next) => this.adopt(next),
          },
          version,
        ),
      orphanedVersions: () => orphanedVersions(this.store, this.state),
    };
  }
}
