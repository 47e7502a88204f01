/**
 * All lists of a data directory: opens, creates, clones and removes them, and closes those that are not used. Main
 * thread only.
 */
import { basename } from 'node:path';
import type { FieldDefinition } from '../../catalog/index.js';
import { ServiceError, isDamage, memoryBudget, ProgressBoard, type MemoryBudget } from '../../platform/index.js';
import type { FileReader } from '../../extracts/index.js';
import { MODELS_WITHOUT_ADDING, type ListModels } from '../../vectors/index.js';
import { WriteAdmission } from '../admission/write-admission.js';
import { ImportBuffers } from '../import/import-buffers.js';
import { listFolder, makeFolder, makeListsFolder, removeFolder, setUnknownAside, wasKnown } from './list-folders.js';
import { StorePages } from '../commit/store-pages.js';
import { hasStore } from '../../store/index.js';
import { linksBelow } from '../resources/list-resources.js';
import { MergeTurns } from '../commit/merge-turns.js';
import { DamageWatch } from './damage-watch.js';
import { readOutline } from './kept-outline.js';
import { ListHandle, type ListOpener } from './list-handle.js';
import type { ListIndexesOptions } from './list-indexes-options.js';
import { OpenListIndex } from './list-index.js';
import { measureParts } from './list-measurements.js';
import { ListRoom, listsOpenMax } from './list-room.js';
import { ListRounds } from './list-rounds.js';
import { DamagedLists } from './damaged-lists.js';
import { deleted, refusalOf, shuttingDown } from './refusals.js';
import { RestRegister, segmentFormats } from './rest-register.js';
import { RestingLists } from './resting-lists.js';
import { UnusableListReindexer } from '../reindex/unusable-list-reindexer.js';
import { ofAccount } from '../contract/ingest-tasks.js';
import { withinQuota, type RecordQuota } from '../contract/record-quota.js';
import type { ListedList, ListIndex, ListIndexes, ListOutline, SearchSettings } from '../contract/types.js';
import { forgetSegmentNumbers } from '../segments/segment-numbers.js';
import { damagedSegments, UnusableIndexError, type DamagedSegments } from '../segments/unusable-segments.js';

export function createListIndexes(options: ListIndexesOptions): ListIndexes {
  return new AllListIndexes(options);
}

class AllListIndexes implements ListIndexes, ListOpener {
  private readonly opening = new Map<string, Promise<ListHandle>>();
  /** Handle of every list that was open since the start. */
  private readonly handles = new Map<string, ListHandle>();
  private readonly resting: RestingLists;
  private readonly register: RestRegister;
  private readonly rounds: ListRounds;
  private readonly budget: MemoryBudget;
  private readonly importBuffers: ImportBuffers;
  private readonly admission: WriteAdmission;
  private readonly storePages: StorePages;
  private readonly mergeTurns = new MergeTurns();
  private readonly progress: ProgressBoard;
  private readonly rebuilder: UnusableListReindexer;
  /** Ids of deleted lists, which must not be opened again. Ids are never reused. */
  private readonly removed = new Set<string>();
  private readonly room: ListRoom;
  private readonly damaged: DamagedLists;
  private readonly watch: DamageWatch;
  private listModels: ListModels = MODELS_WITHOUT_ADDING;
  private fileReader: FileReader | undefined;
  private recordQuota: RecordQuota | undefined;
  private listed: () => Iterable<ListedList> = () => [];
  private closed = false;

  constructor(private readonly options: ListIndexesOptions) {
    this.budget = memoryBudget(options.config);
    this.importBuffers = new ImportBuffers(this.budget.importBufferBytes);
    const { storePagesBytesMax: bytesMax, batchBytesMin, batchBytesMax } = this.budget;
    this.storePages = new StorePages({ bytesMax, batchBytesMin, batchBytesMax });
    this.admission = this.createAdmission();
    this.progress = options.progress ?? new ProgressBoard();
    this.rebuilder = new UnusableListReindexer({ ...options, budget: this.budget, progress: this.progress });
    this.room = options.room ?? new ListRoom();
    makeListsFolder(options.dataDir);
    const { kernel, log, dataDir, clock } = options;
    this.register = new RestRegister({
      dataDir,
      segmentFormat: segmentFormats(kernel),
      onFailure: (error) => {
        log.warn({ err: error }, 'Could not save which lists are closed; the next start checks all lists');
      },
    });
    const openMax = listsOpenMax(options.config);
    this.rounds = new ListRounds({
      log,
      register: this.register,
      openMax,
      isOpen: (listId) => this.resting.open.get(listId) !== undefined,
      open: (listId, settings) => this.openList(listId, settings, undefined),
    });
    this.resting = new RestingLists({
      room: this.room,
      openMax,
      clock,
      log,
      register: this.register,
      onRest: ({ listId, listPath }) => {
        this.opening.delete(listId);
        this.watch.closed(listPath);
        this.countOpen();
      },
      onDue: ({ listId, settings }) => this.rounds.add(listId, settings),
    });
    measureParts(options.metrics, this.resting.open);
    this.damaged = new DamagedLists({
      ...options,
      letGo: (listId) => {
        const opening = this.opening.get(listId);
        this.letGo(listId);
        this.opening.delete(listId);
        return opening;
      },
      rebuilds: this.rebuilder,
    });
    this.watch = new DamageWatch(
      kernel,
      {
        segmentDamaged: (listPath) => this.reopen(basename(listPath)),
        otherUnreadable: (path) => {
          this.damaged.unreadable.metFile(path);
          options.onOtherUnreadable?.(path);
        },
        storeDamaged: (listPath, reason) => {
          const handle = this.handles.get(basename(listPath));
          if (handle === undefined) return;
          this.closeDamaged(handle.listId, handle.settings, reason);
          this.damaged.unreadable.met(handle.listId);
        },
      },
      log,
    );
  }

  opened(listId: string): ListIndex | undefined {
    return this.resting.open.used(listId);
  }

  glance(listId: string): ListIndex | undefined {
    return this.resting.open.get(listId);
  }

  outline(listId: string): ListOutline | undefined {
    const rebuilt = this.rebuilder.outline(listId);
    if (rebuilt !== undefined) return rebuilt;
    const handle = this.handles.get(listId);
    // A list that refuses requests must not make a request for all lists of an account fail.
    return handle?.isKnown === true && this.refusal(listId) === undefined ? handle : undefined;
  }

  async outlineAtRest(listId: string, settings: SearchSettings): Promise<ListOutline | undefined> {
    const known = this.outline(listId);
    if (known !== undefined) return known;
    const kept = await readOutline(this.path(listId), this.register.print(listId));
    if (kept !== undefined && this.refusal(listId) === undefined) this.handleOf(listId, settings).wasAtRest(kept);
    return this.outline(listId);
  }

  recordCount(listId: string): number | undefined {
    const outline = this.outline(listId);
    if (outline === undefined) return this.register.records(listId);
    return outline.versions().find(({ version }) => version === outline.currentVersion)?.record_count;
  }

  printAtRest(listId: string): string | undefined {
    return this.opening.has(listId) ? undefined : this.resting.print(listId);
  }

  resume(listed: () => Iterable<ListedList>): Promise<void> {
    this.listed = listed;
    return this.rounds.begin(listed());
  }

  async open(listId: string, settings: SearchSettings): Promise<ListIndex> {
    const handle = await this.rebuilder.asked(listId, this.openList(listId, settings, undefined));
    this.resting.open.used(listId);
    return handle;
  }

  async reindex(listId: string, settings: SearchSettings): Promise<number> {
    this.rebuilder.forgetFailed(listId);
    return (await this.openList(listId, settings, undefined)).reindex();
  }

  create(listId: string, settings: SearchSettings, definition: FieldDefinition): Promise<ListIndex> {
    return this.openList(listId, settings, async (listPath) => {
      const { clock } = this.options;
      await ofAccount(this.options, settings).run({ kind: 'create-list', listPath, nowMs: clock.nowMs(), definition });
    });
  }

  async clone(sourceId: string, targetId: string, settings: SearchSettings): Promise<ListIndex> {
    const source = this.handles.get(sourceId);
    if (source === undefined) throw this.removed.has(sourceId) ? deleted() : new Error(`list ${sourceId} is not open`);
    return this.openList(targetId, settings, async (targetPath) => {
      const { clock } = this.options;
      const { listPath } = source;
      await source.whileUnchanged(() =>
        this.cloneWithin(source, () =>
          ofAccount(this.options, settings).run({ kind: 'clone-list', listPath, targetPath, nowMs: clock.nowMs() }),
        ),
      );
    });
  }

  /** Clones within the quota of the source's account: the copy adds as many records as the source has now. */
  private cloneWithin(source: ListHandle, clone: () => Promise<unknown>): Promise<unknown> {
    const { listId, recordCount: records } = source;
    return withinQuota(
      () => this.recordQuota?.take(listId, records),
      async (taken) => {
        if (taken !== undefined && taken.recordsMax < records) return { isShort: true };
        return { isShort: false, result: await clone() };
      },
    );
  }

  get models(): ListModels {
    return this.listModels;
  }

  useModels(models: ListModels): void {
    this.listModels = models;
    const sync = () => {
      for (const { open } of this.handles.values()) open?.modelsChanged();
      this.rounds.addWithModels(this.listed());
    };
    models.onChange(sync);
    sync();
  }

  linksBelow(listId: string, prefix: string): boolean {
    const { open } = this.handles.get(listId) ?? {};
    if (open !== undefined) return open.files.linksBelow(prefix);
    return hasStore(this.path(listId)) && linksBelow(this.path(listId), prefix);
  }

  useReader(reader: FileReader): void {
    const readsMore = this.fileReader === reader;
    this.fileReader = reader;
    for (const { open } of this.handles.values()) open?.files.committed();
    if (readsMore) this.rounds.addWithModels(this.listed());
  }

  useQuota(quota: RecordQuota): void {
    this.recordQuota = quota;
  }

  closeDamaged(listId: string, settings: SearchSettings, reason: unknown): ServiceError {
    return this.damaged.closeList(listId, settings, reason);
  }

  /** Closes a list whose segment has changed on disk, and opens it again, which rebuilds its index if necessary. */
  private reopen(listId: string): void {
    const handle = this.resting.open.get(listId);
    const list = handle?.open;
    if (handle === undefined || list === undefined || this.closed) return;
    const { log } = this.options;
    const { settings } = handle;
    log.error({ account: settings.account, list: settings.list, id: listId }, 'A segment of a list is damaged');
    this.letGo(listId);
    const detail = 'The index of the list is damaged, and is being rebuilt from the records; try again soon.';
    const opening = list
      .close(new ServiceError('not-ready', detail, { retryAfterSeconds: 1 }))
      .then(() => this.prepareAndOpen(handle, undefined));
    this.opening.set(listId, opening);
    opening.catch((error: unknown) => {
      if (this.opening.get(listId) === opening) this.opening.delete(listId);
      if (!(error instanceof ServiceError && error.code === 'not-ready'))
        log.error({ err: error, id: listId }, 'Could not open a list with a damaged segment again');
    });
  }

  private letGo(listId: string): void {
    this.resting.forget(listId);
    this.watch.closed(this.path(listId));
    this.countOpen();
  }

  async remove(listId: string): Promise<void> {
    this.removed.add(listId);
    const handle = this.handles.get(listId);
    handle?.open?.refuse(deleted());
    const forgotten = this.damaged.forget(listId);
    this.watch.closed(this.path(listId));
    await Promise.all([this.rebuilder.stop(listId), forgotten]);
    await this.opening.get(listId)?.catch(() => undefined);
    this.opening.delete(listId);
    this.letGo(listId);
    await this.resting.closed(listId);
    await this.handles.get(listId)?.open?.close(deleted());
    this.handles.delete(listId);
    await this.drainEvents(listId).catch((error: unknown) => {
      if (!isDamage(error)) throw error;
      this.options.log.warn({ err: error, id: listId }, 'Unsent events of a damaged list are deleted with it');
    });
    await removeFolder(this.path(listId));
    forgetSegmentNumbers(this.path(listId));
    this.recordQuota?.removed(listId);
  }

  async discard(listId: string): Promise<void> {
    if (!(await wasKnown(this.path(listId)))) await this.remove(listId);
  }

  setUnknownAside(known: ReadonlySet<string>): void {
    const { dataDir, log, clock } = this.options;
    setUnknownAside(dataDir, new Set([...known, ...this.opening.keys()]), { log, nowMs: clock.nowMs() });
  }

  /**
   * Moves the remaining events out of the list's folder before it is removed. Rejects if that fails; the folder then
   * stays.
   */
  private async drainEvents(listId: string): Promise<void> {
    await this.options.events?.drained({ id: listId, kind: 'list', path: this.path(listId) });
  }

  async close(): Promise<void> {
    this.closed = true;
    this.watch.close();
    await Promise.all([this.damaged.close(), this.rebuilder.close(), this.rounds.stop()]);
    await Promise.allSettled(this.opening.values());
    this.opening.clear();
    await this.resting.close(shuttingDown());
    this.countOpen();
  }

  /** `prepare` fills the folder of a new list; the folder is removed if that fails. */
  private openList(
    listId: string,
    settings: SearchSettings,
    prepare: ((listPath: string) => Promise<void>) | undefined,
  ): Promise<ListHandle> {
    const existing = this.opening.get(listId);
    if (existing !== undefined) return existing;
    const refusal = this.refusal(listId);
    if (refusal !== undefined) return Promise.reject(refusal);
    const opening = this.prepareAndOpen(this.handleOf(listId, settings), prepare).catch((error: unknown) => {
      if (this.opening.get(listId) === opening) this.opening.delete(listId);
      throw error;
    });
    this.opening.set(listId, opening);
    return opening;
  }

  refusal(listId: string): ServiceError | undefined {
    if (this.closed) return shuttingDown();
    if (this.removed.has(listId)) return deleted();
    return this.damaged.refusal(listId) ?? this.rebuilder.refusal(listId);
  }

  private handleOf(listId: string, settings: SearchSettings): ListHandle {
    const known = this.handles.get(listId);
    const handle = known ?? new ListHandle(listId, this.path(listId), settings, this);
    handle.settings = settings;
    this.handles.set(listId, handle);
    return handle;
  }

  private async prepareAndOpen(
    handle: ListHandle,
    prepare: ((listPath: string) => Promise<void>) | undefined,
  ): Promise<ListHandle> {
    const { listId, listPath } = handle;
    await this.resting.closed(listId);
    const take = () => {
      if (prepare === undefined) this.room.takeExisting(listPath);
      else this.room.takeNew();
    };
    return this.resting.withRoom(take, async () => {
      if (prepare !== undefined) await makeFolder(listPath, this.listed, prepare);
      const damaged = prepare === undefined ? await damagedSegments(this.options.kernel, listPath) : undefined;
      // Meanwhile the list may have been deleted or found damaged, or the service may be stopping.
      const refusal = this.refusal(listId);
      if (refusal !== undefined) throw refusal;
      return this.openOrRebuild(handle, damaged);
    });
  }

  openNow(handle: ListHandle): OpenListIndex {
    const { listId, listPath } = handle;
    const refusal = this.refusal(listId);
    if (refusal !== undefined) throw refusal;
    this.room.takeExisting(listPath);
    const opened = this.openOrRebuild(handle);
    if (!this.opening.has(listId)) this.opening.set(listId, Promise.resolve(handle));
    // Nobody waits for this promise: its error is thrown below, or logged.
    if (opened instanceof Promise) opened.catch(() => undefined);
    else if (opened.open !== undefined) return opened.open;
    throw this.refusal(listId) ?? deleted();
  }

  /** Returns the list synchronously if nothing has to be rebuilt. */
  private openOrRebuild(handle: ListHandle, damaged?: DamagedSegments): ListHandle | Promise<ListHandle> {
    try {
      return this.openPrepared(handle, damaged);
    } catch (error) {
      if (isDamage(error)) throw this.closeDamaged(handle.listId, handle.settings, error);
      if (!(error instanceof UnusableIndexError)) throw refusalOf(error, handle, this.options.log);
      return this.rebuild(handle, error);
    }
  }

  private openPrepared(handle: ListHandle, damaged?: DamagedSegments): ListHandle {
    const { listId, listPath, settings } = handle;
    if (this.resting.open.get(listId) === handle) return handle;
    const { budget, importBuffers, admission, storePages, mergeTurns, progress } = this;
    const models = () => this.listModels;
    const quota = () => this.recordQuota;
    const reader = () => this.fileReader;
    const ofAll = { budget, importBuffers, admission, storePages, mergeTurns, progress, models, quota, reader };
    const damage = damaged === undefined ? {} : { damagedSegments: damaged };
    const options = { ...this.options, ...ofAll, executor: ofAccount(this.options, settings), ...damage };
    handle.opened(new OpenListIndex(listPath, settings, options));
    this.resting.opened(handle);
    this.watch.opened(listPath);
    this.options.metrics.listOpenings.inc();
    this.countOpen();
    return handle;
  }

  /** Opens the list when its index is rebuilt. Resolves then if `waitForRebuild` is set; otherwise rejects at once. */
  private rebuild(handle: ListHandle, found: UnusableIndexError): Promise<ListHandle> {
    const { listId, listPath, settings } = handle;
    const open = () => {
      this.openPrepared(handle);
      this.opening.set(listId, Promise.resolve(handle));
      return handle;
    };
    const opened = this.rebuilder.start({ listId, listPath, settings, found, open });
    if (this.options.waitForRebuild === true) return opened;
    // The outcome is logged, and `refusal` reports it.
    opened.catch(() => undefined);
    return Promise.reject(this.rebuilder.refusal(listId) ?? found);
  }

  private createAdmission(): WriteAdmission {
    const { config, executor, metrics } = this.options;
    return new WriteAdmission({
      tasksWaitingMax: config.ingest.queue_max,
      tasks: executor,
      writesWaitingMax: config.ingest.writes_waiting_max,
      waitingBytesMax: this.budget.waitingWriteBytesMax,
      onTooManyTasks: () => {
        metrics.poolRefused.inc({ pool: 'ingest' });
      },
    });
  }

  private path(listId: string): string {
    return listFolder(this.options.dataDir, listId);
  }

  private countOpen(): void {
    this.options.metrics.listsOpen.set(this.resting.open.size);
  }
}
