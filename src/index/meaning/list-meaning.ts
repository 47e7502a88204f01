/**
 * The vectors of one open list: which model they belong to, which records are still to be embedded, and by whom.
 * Everything is kept in the list's store; a list that never had a model has only this object. Main thread only.
 */
import { basename } from 'node:path';
import { tellableReason, type Job, type Metrics } from '../../platform/index.js';
import {
  RetrySchedule,
  systemTimers,
  WorkRunner,
  type Settlement,
  type WorkFigures,
} from '../../platform/work/index.js';
import type { RecordStore } from '../../records/index.js';
import {
  buildingVersionOf,
  currentVersionOf,
  servingSpaceOf,
  type ListState,
  type VectorSpace,
} from '../../store/index.js';
import {
  embeddingLane,
  embeddingQueue,
  hasEmbeddingQueue,
  spaceStore,
  type AttachedModel,
  type EmbeddingTypes,
  type ListModels,
} from '../../vectors/index.js';
import type { PacingLimits } from './import-pacing.js';
import { VectorIndexKeeper } from './vector-index-keeper.js';
import type { AttachModelTask, Commit, VectorIndexView } from '../contract/ingest-tasks.js';
import type { MeaningStatus, SearchSettings } from '../contract/types.js';
import type { BackgroundHost } from '../versions/background-host.js';
import { nextTryMs } from '../versions/background-rounds.js';
import { BuiltInLearner, learnedModelOf } from './built-in-learner.js';
import { builtInWorker, embeddingWorker } from './embedding-worker.js';
import { LaneErrors } from './lane-errors.js';
import { ModelAttachment, newestSpace } from './model-attachment.js';

/** Number of records whose vectors are looked up in one turn of the list's queue. */
const SCAN_RECORDS_MAX = 5000;
/**
 * Delays of retries. While a model is unavailable, its lane pauses; a record that the model fails to embed is given up
 * after these.
 */
const RETRIES = { soonMs: [1000, 5000, 30_000], laterMs: [300_000, 1_800_000, 7_200_000], jitterPercent: 20 };
const RETRY_PAUSE_MS = 5000;
/** Batches in flight per model: after a crash it is unknown for at most this many whether they were embedded. */
const BATCHES_UNDER_WAY_MAX = 1;
/** While one model replaces another, neither waits for the other. */
const MODELS_AT_WORK_MAX = 2;

export interface ListMeaningOptions {
  readonly host: BackgroundHost;
  readonly store: RecordStore;
  readonly settings: () => SearchSettings;
  readonly models: () => ListModels;
  readonly metrics: Pick<Metrics, 'recordsEmbedded'>;
  /** Adopts the state of a commit that concerns only the model. */
  readonly adopt: (state: ListState) => void;
  /** How far imports may be ahead of graphs. Undefined: the default. */
  readonly pacing?: PacingLimits;
  /**
   * Time without a commit after which segments and graphs of vectors are merged as far as possible. Undefined: the
   * default.
   */
  readonly quietMs?: number;
}

interface Lane {
  readonly version: number;
  readonly space: VectorSpace;
  readonly by: AttachedModel;
}

export class ListMeaning {
  private readonly lanes = new Map<string, Lane>();
  private runner: WorkRunner<EmbeddingTypes> | undefined;
  private scanning: Promise<void> | undefined;
  private pause: NodeJS.Timeout | undefined;
  private job: Job | undefined;
  /** Why the model embeds nothing. */
  private complaint: string | undefined;
  private readonly errors = new LaneErrors();
  private stopped = false;

  private readonly index: VectorIndexKeeper;
  private readonly learner: BuiltInLearner;
  private readonly attachment: ModelAttachment;

  constructor(private readonly options: ListMeaningOptions) {
    const isFilled = (space: VectorSpace) => this.isFilled(space);
    this.index = new VectorIndexKeeper({ ...options, isFilled });
    this.learner = new BuiltInLearner({
      ...options,
      isFilled,
      isWanted: () => this.modelName !== null && this.attachedAs(this.modelName)?.source === 'built-in',
      language: () => options.settings().language,
    });
    this.attachment = new ModelAttachment({
      ...options,
      wanted: () => this.wantedModel(),
      onAttached: () => {
        this.committed();
      },
    });
  }

  /** Call it for each commit of the list, before `committed`. */
  noted(commit: Commit): void {
    this.index.noted(commit);
  }

  /** An index of pictures that could not be opened is rebuilt even if the list never had a model for texts. */
  opened(): void {
    if (this.options.host.state().pictures !== undefined) this.index.committed();
  }

  /**
   * Resolves when the list's state matches the model in its settings, or cannot be changed now; then it is retried in
   * the background.
   */
  async aligned(): Promise<void> {
    if (this.stopped || (this.modelName === null && this.options.host.state().meaning === undefined)) return;
    if (await this.attachment.attached()) this.committed();
  }

  /** Call it after each commit of the list. */
  committed(): void {
    const { meaning, pictures } = this.options.host.state();
    if (this.stopped) return;
    // The keeper also maintains the index of pictures.
    if (meaning === undefined && pictures !== undefined) this.index.committed();
    if (meaning === undefined && this.modelName === null) return;
    this.learner.committed();
    if (meaning === undefined) return;
    this.attachment.committed();
    this.arrangeLanes(meaning.spaces);
    for (const lane of this.lanes.keys()) this.runner?.wake(lane);
    if (meaning.spaces.some(({ cursor, state }) => cursor !== null && state !== 'resting')) this.scan();
    this.tellProgress();
    this.index.committed();
  }

  status(): MeaningStatus {
    const { host, store } = this.options;
    const state = host.state();
    const space = newestSpace(state);
    if (this.modelName === null || space === undefined) return { ...NO_VECTORS, ...this.withoutSpace() };
    store.refresh();
    const version = currentVersionOf(state).version;
    const vectors = spaceStore(store, version, space.number);
    const embedded = vectors.exists ? vectors.count() : 0;
    const { failed, reasons } = this.figures(version, space);
    const pending = space.source === 'own' ? 0 : Math.max(0, store.version(version).recordCount() - embedded - failed);
    const indexed = this.isIndexed(space, embedded) ? undefined : this.withoutIndex();
    const failure =
      this.complaint ?? this.errors.ofWork((lane) => embeddingQueue(store).figures(lane)) ?? this.notAttached;
    const error = failure ?? indexed?.error ?? mostFrequent(reasons);
    const isOnItsWay = pending > 0 || space.state === 'filling';
    return {
      state: failure !== undefined ? 'failing' : (indexed?.state ?? (isOnItsWay ? 'embedding' : 'ready')),
      embedded,
      pending,
      failed,
      ...(error === undefined ? {} : { error }),
      ...(failed === 0 ? {} : { reasons }),
    };
  }

  /**
   * True if the serving vectors are searched by an index in the current version. An index that could not be opened is
   * rebuilt.
   */
  private isIndexed({ number, state }: VectorSpace, embedded: number): boolean {
    const { host } = this.options;
    if (state !== 'serving' || embedded === 0) return true;
    return host.published(currentVersionOf(host.state()).version)?.isIndexed(number) !== false;
  }

  private withoutIndex(): Pick<MeaningStatus, 'state' | 'error'> {
    const { failure } = this.index;
    if (failure === undefined) return { state: 'embedding', error: INDEX_AGAIN };
    return { state: 'failing', error: `${INDEX_AGAIN} The last attempt failed: ${tellableReason(failure.error)}.` };
  }

  /** Why there are no vectors. */
  private withoutSpace(): Partial<MeaningStatus> {
    if (this.modelName === null) return {};
    const found = this.attachedAs(this.modelName);
    const failure = complaintOf(found) ?? this.notAttached;
    if (failure !== undefined) return { state: 'failing', error: failure };
    if (found?.source !== 'built-in') return { state: 'embedding' };
    const { pending, error } = this.learner.status();
    return error === undefined ? { state: 'embedding', pending } : { error };
  }

  private get notAttached(): string | undefined {
    const { failure } = this.attachment;
    return failure && `The model could not be attached: ${tellableReason(failure.error)}.`;
  }

  /** Queues the records again that could not be embedded; resolves to their number. */
  async retry(): Promise<number> {
    const { host } = this.options;
    const space = newestSpace(host.state());
    if (space?.source !== 'embedder') return 0;
    const lane = embeddingLane(currentVersionOf(host.state()).version, space.number);
    const { listPath, clock } = host;
    const { retried } = await host.exclusive(() =>
      host.runCommit({ kind: 'retry-embeddings', listPath, nowMs: clock.nowMs(), lane }),
    );
    this.errors.clear();
    this.runner?.forgive(lane);
    this.committed();
    return retried;
  }

  /** Resolves when an import may write its next batch: at once unless too many vectors have no graph yet. */
  roomForImport(): Promise<void> {
    return this.index.roomForImport();
  }

  /** Time until which nothing has to be done: 0 if something is in progress, Infinity if nothing is scheduled. */
  get restsUntilMs(): number {
    if (this.scanning !== undefined) return 0;
    const { host } = this.options;
    const scanMs = this.pause === undefined ? Infinity : nextTryMs(host);
    const parts = [this.index, this.learner, this.attachment, this.runner];
    return Math.min(scanMs, ...parts.map((part) => part?.restsUntilMs ?? Infinity));
  }

  /** True if everything that the model has to do for the list is done. */
  get isComplete(): boolean {
    const { state } = this.status();
    return state === 'ready' || state === 'off';
  }

  /** Aborts what is in progress; it stays in the queue on disk. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.index.letImportsGo();
    clearTimeout(this.pause);
    this.job?.stop();
    await this.runner?.close(0);
    await this.scanning;
    await this.index.stop();
    await this.learner.stop();
    await this.attachment.stop();
  }

  private get modelName(): string | null {
    return this.options.settings().model ?? null;
  }

  /** Undefined if the name refers to no model now; the state then stays as it is. */
  private wantedModel(): AttachModelTask['model'] | undefined {
    const model = this.modelName;
    if (model === null) return null;
    const found = this.attachedAs(model);
    this.complaint = complaintOf(found);
    if (found?.source === 'own') {
      return { model, source: 'own', modelVersion: `own:${model}`, dimensions: found.dimensions };
    }
    if (found?.source === 'built-in') return learnedModelOf(this.options.host.state());
    if (found?.source !== 'embedder') return undefined;
    const { version, dimensions } = found.embedder;
    return { model, source: 'embedder', modelVersion: version, dimensions };
  }

  private attachedAs(model: string): AttachedModel | undefined {
    const { host, models, settings } = this.options;
    return models().attached({ account: settings().account, id: basename(host.listPath), model });
  }

  // ---- lanes

  /** Arranges one lane for each version that is written and each space whose model is available. */
  private arrangeLanes(spaces: readonly VectorSpace[]): void {
    const state = this.options.host.state();
    const versions = [currentVersionOf(state).version, buildingVersionOf(state)?.version];
    const wanted = new Map<string, Lane>();
    for (const space of spaces) {
      if (space.source !== 'embedder' || space.state === 'resting') continue;
      const by = this.attachedAs(space.model);
      if (by === undefined || !makes(by, space)) continue;
      for (const version of versions) {
        if (version === undefined) continue;
        wanted.set(embeddingLane(version, space.number), { version, space, by });
      }
    }
    for (const [lane, { by }] of this.lanes) {
      if (isSame(wanted.get(lane)?.by, by)) continue;
      this.lanes.delete(lane);
      this.errors.end(lane);
      void this.runner?.remove(lane);
    }
    for (const [lane, each] of wanted) {
      if (this.lanes.has(lane)) continue;
      this.lanes.set(lane, each);
      this.startedRunner().add(lane, this.workerOf(each, this.errors.begin(lane)));
    }
  }

  private startedRunner(): WorkRunner<EmbeddingTypes> {
    const { host, store } = this.options;
    return (this.runner ??= new WorkRunner({
      queue: embeddingQueue(store),
      timers: systemTimers,
      schedule: new RetrySchedule(RETRIES),
      perReceiverMax: BATCHES_UNDER_WAY_MAX,
      totalMax: BATCHES_UNDER_WAY_MAX * MODELS_AT_WORK_MAX,
      writing: 'each',
      write: (settlements) => this.write(settlements),
      onWriteFailure: (error) => {
        host.log.warn({ list: host.listPath, err: error }, 'Could not write vectors; will retry');
      },
    }));
  }

  private workerOf({ version, space, by }: Lane, onOutcome: (error: string | undefined) => void) {
    const { host } = this.options;
    const task = { listPath: host.listPath, version, space: space.number };
    if (by.source !== 'embedder') {
      return builtInWorker({
        model: space.modelVersion,
        embed: (recordNumbers) => host.run({ kind: 'embed-records', ...task, recordNumbers }),
        onMissing: () => {
          this.learner.lost(space);
        },
        onOutcome,
      });
    }
    const { embedder } = by;
    const render = (recordNumbers: readonly number[]) => host.run({ kind: 'render-texts', ...task, recordNumbers });
    return embeddingWorker({ model: space.model, embedder, render, onOutcome });
  }

  private async write(settlements: readonly Settlement<EmbeddingTypes>[]): Promise<void> {
    for (const lane of new Set(settlements.map(({ scheduled }) => scheduled.lane))) {
      const known = this.lanes.get(lane);
      if (known === undefined) continue;
      const own = settlements.filter(({ scheduled }) => scheduled.lane === lane);
      await this.writeLane(known, own);
    }
  }

  private writeLane({ version, space }: Lane, settlements: readonly Settlement<EmbeddingTypes>[]): Promise<void> {
    const { host, metrics } = this.options;
    const { listPath, clock } = host;
    return host.exclusive(async () => {
      const task = { listPath, nowMs: clock.nowMs(), version, space: space.number, settlements };
      const commit = await this.withIndex(version, async (index) => {
        const result = await host.runCommit({ kind: 'commit-vectors', ...task, index });
        host.publishCommit(result.commit);
        return result.commit;
      });
      if (commit === undefined) return;
      for (const { note, next } of settlements) {
        const outcome = next.kind === 'done' ? note.result.kind : next.kind;
        metrics.recordsEmbedded.inc({ outcome });
      }
    });
  }

  /** Undefined if the version was dropped, and its work with it. */
  private async withIndex<Result>(
    version: number,
    action: (index: VectorIndexView | undefined) => Promise<Result>,
  ): Promise<Result | undefined> {
    const { host } = this.options;
    const known = host.state().versions.find((each) => each.version === version);
    if (known === undefined) return undefined;
    return host
      .published(version)
      ?.withLease(known.definition, (lease) => action(lease.view(() => host.newSegment()).vectors));
  }

  /**
   * True if everything that can be embedded is. For vectors that come with records: true if there are as many as in the
   * serving space.
   */
  private isFilled(space: VectorSpace): boolean {
    const { host, store } = this.options;
    const { version } = currentVersionOf(host.state());
    if (space.cursor !== null) return false;
    if (space.source === 'embedder') return this.figures(version, space).pending === 0;
    const serving = servingSpaceOf(host.state());
    store.refresh();
    const countOf = (each: VectorSpace) => {
      const vectors = spaceStore(store, version, each.number);
      return vectors.exists ? vectors.count() : 0;
    };
    return serving === undefined || countOf(space) >= countOf(serving);
  }

  private figures(version: number, space: VectorSpace): WorkFigures {
    const { store } = this.options;
    if (space.source === 'own' || !hasEmbeddingQueue(store)) return NOTHING_TO_DO;
    return embeddingQueue(store).figures(embeddingLane(version, space.number));
  }

  // ---- records that were there before the model

  private scan(): void {
    if (this.stopped || this.scanning !== undefined || this.pause !== undefined) return;
    this.scanning = this.scanAll()
      .catch((error: unknown) => {
        if (this.stopped) return;
        const { host } = this.options;
        host.log.warn({ list: host.listPath, err: error }, 'Could not queue records for embedding; will retry soon');
        this.pause = setTimeout(() => {
          this.pause = undefined;
          this.scan();
        }, RETRY_PAUSE_MS);
        this.pause.unref();
      })
      .finally(() => {
        this.scanning = undefined;
      });
  }

  private async scanAll(): Promise<void> {
    const { host } = this.options;
    while (!this.stopped) {
      const spaces = host.state().meaning?.spaces ?? [];
      const space = spaces.find(({ cursor, state }) => cursor !== null && state !== 'resting');
      if (space === undefined) {
        // If all records have their vectors already, as with a model that was attached before, no other commit triggers
        // this.
        this.index.committed();
        return;
      }
      await host.exclusive(async () => {
        const task = { listPath: host.listPath, nowMs: host.clock.nowMs(), space: space.number };
        const { state } = await host.runCommit({ kind: 'queue-embeddings', ...task, recordsMax: SCAN_RECORDS_MAX });
        this.options.adopt(state);
      });
      for (const lane of this.lanes.keys()) this.runner?.wake(lane);
    }
  }

  /** Reports a job while records are waiting. */
  private tellProgress(): void {
    const { host } = this.options;
    const space = newestSpace(host.state());
    if (space?.source !== 'embedder') return;
    const { embedded, failed, pending } = this.status();
    if (pending === 0) {
      this.job?.finish();
      this.job = undefined;
      return;
    }
    if (this.job === undefined) {
      const doneBefore = embedded + failed;
      const subject = basename(host.listPath);
      this.job = host.progress.begin({ kind: 'embedding', subject, total: doneBefore + pending, doneBefore });
      this.job.start();
    }
    this.job.advance(Math.max(0, embedded + failed - this.job.read().done));
  }
}

const NO_VECTORS = { state: 'off', embedded: 0, pending: 0, failed: 0 } as const;
const INDEX_AGAIN =
  'The vectors that are kept are put into an index again: until that is done, searches find by words alone.';
const UNKNOWN_MODEL = 'There is no such model.';
const NOTHING_TO_DO: WorkFigures = { pending: 0, failed: 0, reasons: {} };

/** Why the model embeds nothing. */
function complaintOf(found: AttachedModel | undefined): string | undefined {
  if (found === undefined) return UNKNOWN_MODEL;
  return found.source === 'unavailable' ? found.detail : undefined;
}

/** True if the model makes the vectors of the space. */
function makes(by: AttachedModel, { modelVersion }: VectorSpace): boolean {
  return by.source === 'built-in' || (by.source === 'embedder' && by.embedder.version === modelVersion);
}

function isSame(left: AttachedModel | undefined, right: AttachedModel): boolean {
  if (left?.source === 'embedder' && right.source === 'embedder') return left.embedder === right.embedder;
  return left?.source === right.source;
}

function mostFrequent(reasons: Readonly<Record<string, number>>): string | undefined {
  return Object.entries(reasons).sort(([, left], [, right]) => right - left)[0]?.[0];
}
