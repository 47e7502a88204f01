/** All lists of a data directory: opens, creates, clones and removes them. Main thread only. */
import { mkdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Logger } from 'pino';
import type { Kernel } from '../../../native-bindings/index.js';
import type { FieldDefinition } from '../../catalog/index.js';
import {
  ServiceError,
  isDamage,
  memoryBudget,
  ProgressBoard,
  type BudgetedConfig,
  type Clock,
  type Config,
  type EventSink,
  type MemoryBudget,
  type Metrics,
} from '../../platform/index.js';
import { RecordStore } from '../../records/index.js';
import { hasStore } from '../../store/index.js';
import type { FileReader } from '../../extracts/index.js';
import { MODELS_WITHOUT_ADDING, type ListModels } from '../../vectors/index.js';
import type { CatalogueEntry } from './entry-keeper.js';
import { WriteAdmission } from '../admission/write-admission.js';
import { ImportBuffers } from '../import/import-buffers.js';
import { listFolder, listFolderNames, listsFolder, putListsBack, setListAside } from './list-folders.js';
import { StorePages } from '../commit/store-pages.js';
import type { IngestExecutor } from '../contract/ingest-tasks.js';
import { DamageWatch } from './damage-watch.js';
import { OpenListIndex } from './list-index.js';
import { ListRoom } from './list-room.js';
import { UnusableListReindexer } from '../reindex/unusable-list-reindexer.js';
import { withinQuota, type RecordQuota } from '../contract/record-quota.js';
import type { ListIndex, ListIndexes, ListOutline, SearchSettings } from '../contract/types.js';
import { damagedSegments, UnusableIndexError, type DamagedSegments } from '../segments/unusable-segments.js';

export interface ListIndexesOptions {
  readonly dataDir: string;
  readonly kernel: Kernel;
  readonly executor: IngestExecutor;
  readonly clock: Clock;
  readonly log: Logger;
  readonly config: BudgetedConfig & Pick<Config, 'versions'>;
  readonly metrics: Pick<
    Metrics,
    'recordsWritten' | 'recordsEmbedded' | 'listsOpen' | 'listsRebuilding' | 'poolRefused'
  >;
  /** A list whose index has to be rebuilt is waited for, instead of being refused meanwhile. Default false. */
  readonly waitForRebuild?: boolean;
  /** Who is told what happens to the lists. Absent: nobody. */
  readonly events?: EventSink;
  /** What the catalogue has of a list. Absent: nothing of it is kept beside the records. */
  readonly entryOf?: (listId: string) => CatalogueEntry | undefined;
  /** Of the whole process. Absent: one of its own. */
  readonly room?: ListRoom;
  /** Where rebuilds and builds of versions say how far they are. Absent: one of its own. */
  readonly progress?: ProgressBoard;
}

export function createListIndexes(options: ListIndexesOptions): ListIndexes {
  return new AllListIndexes(options);
}

class AllListIndexes implements ListIndexes {
  private readonly opening = new Map<string, Promise<OpenListIndex>>();
  private readonly openLists = new Map<string, OpenListIndex>();
  private readonly budget: MemoryBudget;
  private readonly importBuffers: ImportBuffers;
  private readonly admission: WriteAdmission;
  private readonly storePages: StorePages;
  private readonly progress: ProgressBoard;
  private readonly rebuilder: UnusableListReindexer;
  /** Whoever still has the id of a deleted list must not open it again: ids are never used twice. */
  private readonly removed = new Set<string>();
  private readonly room: ListRoom;
  private readonly damaged = new Map<string, ServiceError>();
  private readonly settingsOf = new Map<string, SearchSettings>();
  private readonly watch: DamageWatch;
  private listModels: ListModels = MODELS_WITHOUT_ADDING;
  private fileReader: FileReader | undefined;
  private recordQuota: RecordQuota | undefined;
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
    mkdirSync(listsFolder(options.dataDir), { recursive: true });
    const { kernel, log } = options;
    this.watch = new DamageWatch(
      kernel,
      {
        segmentDamaged: (listPath) => {
          this.reopen(basename(listPath));
        },
        storeDamaged: (listPath, reason) => {
          const settings = this.settingsOf.get(basename(listPath));
          if (settings !== undefined) this.closeDamaged(basename(listPath), settings, reason);
        },
      },
      log,
    );
  }

  opened(listId: string): ListIndex | undefined {
    return this.openLists.get(listId);
  }

  outline(listId: string): ListOutline | undefined {
    return this.openLists.get(listId) ?? this.rebuilder.outline(listId);
  }

  open(listId: string, settings: SearchSettings): Promise<ListIndex> {
    return this.openList(listId, settings, undefined);
  }

  async reindex(listId: string, settings: SearchSettings): Promise<number> {
    this.rebuilder.forgetFailed(listId);
    return (await this.openList(listId, settings, undefined)).reindex();
  }

  create(listId: string, settings: SearchSettings, definition: FieldDefinition): Promise<ListIndex> {
    return this.openList(listId, settings, async (listPath) => {
      const { executor, clock } = this.options;
      await executor.run({ kind: 'create-list', listPath, nowMs: clock.nowMs(), definition });
    });
  }

  async clone(sourceId: string, targetId: string, settings: SearchSettings): Promise<ListIndex> {
    const source = this.openLists.get(sourceId);
    if (source === undefined) throw this.removed.has(sourceId) ? deleted() : new Error(`list ${sourceId} is not open`);
    return this.openList(targetId, settings, async (targetPath) => {
      const { executor, clock } = this.options;
      const { listPath } = source;
      await source.whileUnchanged(() =>
        this.cloneWithin(source, sourceId, () =>
          executor.run({ kind: 'clone-list', listPath, targetPath, nowMs: clock.nowMs() }),
        ),
      );
    });
  }

  /** The copy has as many records more as the source has now. */
  private cloneWithin(source: OpenListIndex, listId: string, clone: () => Promise<unknown>): Promise<unknown> {
    const { currentVersion } = source;
    const records = source.versions().find(({ version }) => version === currentVersion)?.record_count ?? 0;
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
      for (const list of this.openLists.values()) list.modelsChanged();
    };
    models.onChange(sync);
    sync();
  }

  useReader(reader: FileReader): void {
    this.fileReader = reader;
    for (const list of this.openLists.values()) list.files.committed();
  }

  useQuota(quota: RecordQuota): void {
    this.recordQuota = quota;
  }

  closeDamaged(listId: string, settings: SearchSettings, reason: unknown): ServiceError {
    const known = this.damaged.get(listId);
    if (known !== undefined) return known;
    const { account, list } = settings;
    const detail =
      `The store of the list '${list}' is damaged, and the list is closed. Stop the service and restore the folder ` +
      `lists/${listId} of the data directory from a backup, or delete the list and fill a new one; the log says more.`;
    const refusal = new ServiceError('list-damaged', detail, { cause: reason });
    this.damaged.set(listId, refusal);
    this.options.log.error(
      { err: reason, account, list, id: listId },
      'A list is damaged and is closed; the others serve. Restore its folder from a backup, or delete it',
    );
    const opening = this.opening.get(listId);
    this.letGo(listId);
    this.opening.delete(listId);
    opening
      ?.then((index) => index.close(refusal))
      .catch((error: unknown) => {
        this.options.log.warn({ err: error, id: listId }, 'A damaged list could not be closed as others are');
      });
    return refusal;
  }

  /** A segment of it changed under it: it is closed, and made again from the records where that is needed. */
  private reopen(listId: string): void {
    const settings = this.settingsOf.get(listId);
    const list = this.openLists.get(listId);
    if (settings === undefined || list === undefined || this.closed) return;
    const { log } = this.options;
    log.error({ account: settings.account, list: settings.list, id: listId }, 'A segment of a list is damaged');
    this.letGo(listId);
    const detail = "The list's index is damaged and is made again from its records; try again soon.";
    const opening = list
      .close(new ServiceError('not-ready', detail, { retryAfterSeconds: 1 }))
      .then(() => this.prepareAndOpen(listId, settings, undefined));
    this.opening.set(listId, opening);
    opening.catch((error: unknown) => {
      if (this.opening.get(listId) === opening) this.opening.delete(listId);
      if (!(error instanceof ServiceError && error.code === 'not-ready'))
        log.error({ err: error, id: listId }, 'A list with a damaged segment could not be opened again');
    });
  }

  private letGo(listId: string): void {
    this.openLists.delete(listId);
    this.watch.closed(this.path(listId));
    this.countOpen();
  }

  async remove(listId: string): Promise<void> {
    this.removed.add(listId);
    this.openLists.get(listId)?.refuse(deleted());
    this.damaged.delete(listId);
    this.settingsOf.delete(listId);
    this.watch.closed(this.path(listId));
    await this.rebuilder.stop(listId);
    const list = await this.opening.get(listId)?.catch(() => undefined);
    this.openLists.delete(listId);
    this.opening.delete(listId);
    this.countOpen();
    await list?.close(deleted());
    await this.drainEvents(listId).catch((error: unknown) => {
      if (!isDamage(error)) throw error;
      this.options.log.warn({ err: error, id: listId }, 'What a damaged list had still to tell is deleted with it');
    });
    await rm(this.path(listId), { recursive: true, force: true, maxRetries: 3 });
    this.recordQuota?.removed(listId);
  }

  async discard(listId: string): Promise<void> {
    if (await wasKnown(this.path(listId))) return;
    await this.remove(listId);
  }

  setUnknownAside(known: ReadonlySet<string>): void {
    const { dataDir, log, clock } = this.options;
    for (const id of putListsBack(dataDir, known))
      log.warn({ id }, 'A list that had been moved aside is back in its place');
    for (const listId of listFolderNames(dataDir)) {
      if (known.has(listId) || this.opening.has(listId)) continue;
      const from = this.path(listId);
      try {
        const path = setListAside(dataDir, listId, clock.nowMs());
        log.warn(
          { from, path },
          'A list that the catalogue does not know was moved aside: gannet doctor --adopt-lists',
        );
      } catch (error) {
        // A folder that cannot be moved, as where a file system begins, stays as it is and is not opened.
        log.warn({ from, err: error }, 'A list that the catalogue does not know cannot be moved aside');
      }
    }
  }

  /** What the list has still to tell leaves its folder before that goes. Rejects where it cannot: the folder stays then. */
  private async drainEvents(listId: string): Promise<void> {
    await this.options.events?.drained({ id: listId, kind: 'list', path: this.path(listId) });
  }

  async close(): Promise<void> {
    this.closed = true;
    this.watch.close();
    await this.rebuilder.close();
    const reason = new ServiceError('shutting-down', 'The service is stopping; try again soon.');
    await Promise.allSettled(Array.from(this.opening.values(), async (opening) => (await opening).close(reason)));
    this.opening.clear();
    this.openLists.clear();
    this.countOpen();
  }

  /** `prepare` fills the folder of a new list; it is removed again when that fails. */
  private openList(
    listId: string,
    settings: SearchSettings,
    prepare: ((listPath: string) => Promise<void>) | undefined,
  ): Promise<OpenListIndex> {
    const existing = this.opening.get(listId);
    if (existing !== undefined) return existing;
    if (this.closed)
      return Promise.reject(new ServiceError('shutting-down', 'The service is stopping; try again soon.'));
    if (this.removed.has(listId)) return Promise.reject(deleted());
    const refusal = this.damaged.get(listId) ?? this.rebuilder.refusal(listId);
    if (refusal !== undefined) return Promise.reject(refusal);
    const opening: Promise<OpenListIndex> = this.prepareAndOpen(listId, settings, prepare).catch((error: unknown) => {
      if (this.opening.get(listId) === opening) this.opening.delete(listId);
      throw error;
    });
    this.opening.set(listId, opening);
    return opening;
  }

  private async prepareAndOpen(
    listId: string,
    settings: SearchSettings,
    prepare: ((listPath: string) => Promise<void>) | undefined,
  ): Promise<OpenListIndex> {
    const listPath = this.path(listId);
    let damaged: DamagedSegments | undefined;
    if (prepare === undefined) {
      this.room.takeExisting(listPath);
      damaged = await damagedSegments(this.options.kernel, listPath);
      // Meanwhile.
      if (this.closed) throw new ServiceError('shutting-down', 'The service is stopping; try again soon.');
      if (this.removed.has(listId)) throw deleted();
    } else {
      this.room.takeNew();
      // Fails where the folder exists: an id is never used twice.
      mkdirSync(listPath);
      try {
        await prepare(listPath);
      } catch (error) {
        rmSync(listPath, { recursive: true, force: true });
        throw error;
      }
    }
    try {
      return this.openPrepared(listId, settings, damaged);
    } catch (error) {
      if (isDamage(error)) throw this.closeDamaged(listId, settings, error);
      if (!(error instanceof UnusableIndexError)) throw error;
      return this.rebuild(listId, settings, error);
    }
  }

  private openPrepared(listId: string, settings: SearchSettings, damaged?: DamagedSegments): OpenListIndex {
    const { budget, importBuffers, admission, storePages, progress } = this;
    const models = () => this.listModels;
    const quota = () => this.recordQuota;
    const reader = () => this.fileReader;
    const shared = { ...this.options, models, quota, reader, budget, importBuffers, admission, storePages, progress };
    const options = damaged === undefined ? shared : { ...shared, damagedSegments: damaged };
    const list = new OpenListIndex(this.path(listId), settings, options);
    this.openLists.set(listId, list);
    this.settingsOf.set(listId, settings);
    this.watch.opened(this.path(listId));
    this.countOpen();
    return list;
  }

  /** The list once it is open again, with `waitForRebuild`; else rejects at once and opens it in the background. */
  private rebuild(listId: string, settings: SearchSettings, found: UnusableIndexError): Promise<OpenListIndex> {
    const open = () => {
      const list = this.openPrepared(listId, settings);
      this.opening.set(listId, Promise.resolve(list));
      return list;
    };
    const opened = this.rebuilder.start({ listId, listPath: this.path(listId), settings, found, open });
    if (this.options.waitForRebuild === true) return opened;
    // What came of it is logged, and `refusal` tells whoever asks.
    opened.catch(() => undefined);
    return Promise.reject(this.rebuilder.refusal(listId) ?? found);
  }

  private createAdmission(): WriteAdmission {
    const { config, executor, metrics } = this.options;
    return new WriteAdmission({
      tasksWaitingMax: config.ingest.queue_max,
      tasksWaiting: () => executor.waiting,
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
    this.options.metrics.listsOpen.set(this.openLists.size);
  }
}

/** True where the store says that the list came into the catalogue. */
async function wasKnown(listPath: string): Promise<boolean> {
  if (!hasStore(listPath)) return false;
  const store = new RecordStore(listPath);
  try {
    return store.keptEntry() !== undefined;
  } finally {
    await store.close();
  }
}

function deleted(): ServiceError {
  return new ServiceError('list-not-found', 'The list has been deleted.');
}
