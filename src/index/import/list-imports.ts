/** The bulk calls of one list that are under way, of which there is a limit. Main thread only. */
import type { RecordFormat } from '../../records/index.js';
import { basename } from 'node:path';
import type { Kernel } from '../../../native-bindings/index.js';
import { PassingJobs, type Clock, type Config, type MemoryBudget, type ProgressBoard } from '../../platform/index.js';
import type { ListAdmission } from '../admission/write-admission.js';
import type { BatchOutcome, ImportBatch } from '../contract/ingest-tasks.js';
import type { ImportOptions, ImportSession, SyncSession } from '../contract/types.js';
import { SourceSync, type SourceSyncOptions } from './source-sync.js';
import type { ImportBuffers } from './import-buffers.js';
import type { CommitPace } from './commit-pace.js';
import { BulkImport } from './import-session.js';

/** Of one commit where small writes are to be expected, which wait for it: a fifth of a second of a processor. */
const BATCH_BYTES_MAX_BESIDE_WRITES = 4 * 2 ** 20;

export interface ListImportsOptions {
  readonly listPath: string;
  readonly progress: ProgressBoard;
  readonly kernel: Kernel;
  readonly clock: Clock;
  readonly config: Pick<Config, 'ingest'>;
  readonly budget: MemoryBudget;
  readonly importBuffers: ImportBuffers;
  readonly admission: ListAdmission;
  /** Of the list's commits of imports, which `commit` takes. */
  readonly pace: CommitPace;
  readonly storePages: {
    /** Bytes of records that one commit of the list takes now. */
    batchBytesMax(listPath: string): number;
  };
  readonly commit: (batch: ImportBatch) => Promise<BatchOutcome>;
  readonly removeUnlisted: (
    source: string,
    ...rest: Parameters<SourceSyncOptions['removeUnlisted']>
  ) => ReturnType<SourceSyncOptions['removeUnlisted']>;
  /** After an import has ended: it may have something left to tell. */
  readonly settle: (importId: string) => Promise<void>;
}

/** An import whose records are those of a source. */
export interface ImportOfSource {
  readonly source: string;
  readonly onBatch: (outcome: BatchOutcome) => void;
}

export class ListImports {
  private begun = 0;
  private underWay = 0;
  private readonly told: PassingJobs;

  constructor(private readonly options: ListImportsOptions) {
    this.told = new PassingJobs(options.progress);
  }

  /** They are no longer told of. */
  close(): void {
    this.told.close();
  }

  /** True where somebody sends records. */
  get areUnderWay(): boolean {
    return this.underWay > 0;
  }

  /** Throws `overloaded` where there are enough already. */
  start(
    format: RecordFormat,
    { keepsLinks, nameFrom, patch, ofSource }: ImportOptions & { readonly ofSource?: ImportOfSource },
  ): ImportSession {
    const { kernel, config, budget, importBuffers, admission, pace, storePages, settle, listPath } = this.options;
    admission.admitImport();
    this.underWay += 1;
    // From now on: whoever watches is told that it waits for its turn.
    const release = this.told.hold(this.job);
    const importId = this.newId();
    const inTurn = this.turns();
    const ofAll = {
      ...(keepsLinks === true ? { keepsLinks } : {}),
      ...(nameFrom === undefined ? {} : { nameFrom }),
      ...(patch === true ? { patch } : {}),
    };
    return new BulkImport({
      kernel,
      format,
      batchRecordsMax: budget.batchRecordsMax,
      batchBytesMax: () =>
        Math.min(
          storePages.batchBytesMax(listPath),
          pace.bytesMax,
          admission.expectsWrites ? BATCH_BYTES_MAX_BESIDE_WRITES : Infinity,
        ),
      splitBytesMax: budget.splitBytesMax,
      buffers: importBuffers,
      errorsMax: config.ingest.bulk_errors_max,
      importId,
      commit: (batch) =>
        inTurn(() =>
          ofSource === undefined
            ? this.commit({ ...batch, ...ofAll }, release)
            : this.commitOfSource(ofSource, batch, release),
        ),
      onDone: () => {
        admission.importEnded();
        this.underWay -= 1;
      },
      settle: () => {
        // Also behind one without a last batch: that was broken off, or whose records were an even number of batches.
        release();
        return settle(importId);
      },
    });
  }

  /** Batches of one import, one after the other: a small write that comes waits for one of them, and not for the next. */
  private turns() {
    let last: Promise<unknown> = Promise.resolve();
    return <Result>(action: () => Promise<Result>): Promise<Result> => {
      const result = last.then(action);
      last = result.catch(() => undefined);
      return result;
    };
  }

  private async commit(batch: ImportBatch, release: () => void): Promise<BatchOutcome> {
    const outcome = await this.options.commit(batch);
    const { created, updated, failed } = outcome;
    this.told.advance(this.job, created + updated + failed);
    if (batch.final) release();
    return outcome;
  }

  private async commitOfSource(
    { source, onBatch }: ImportOfSource,
    batch: ImportBatch,
    release: () => void,
  ): Promise<BatchOutcome> {
    const outcome = await this.commit({ ...batch, source }, release);
    onBatch(outcome);
    return outcome;
  }

  /** As `ListIndex.startSync`. */
  startSync(source: string, format: RecordFormat): SyncSession {
    const { removeUnlisted } = this.options;
    const sync = new SourceSync({
      start: (onBatch) => this.start(format, { ofSource: { source, onBatch } }),
      removeUnlisted: (listed, cursor) => removeUnlisted(source, listed, cursor),
      onEnded: () => {
        this.underWay -= 1;
        release();
      },
    });
    this.underWay += 1;
    const release = this.told.hold(this.job);
    return sync;
  }

  /** One of a list at a time, whatever number of imports it has. */
  private get job() {
    return { kind: 'import', subject: basename(this.options.listPath) } as const;
  }

  /** Unlike any that the list's state may still name from before a crash. */
  private newId(): string {
    this.begun += 1;
    return `${this.options.clock.nowMs()}-${this.begun}`;
  }
}
