/** Bulk calls of one list that are in progress. Their number is limited. Main thread only. */
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

/**
 * Maximum size of a commit while small writes, which have to wait for it, are expected: a fifth of a second of
 * processor time.
 */
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
  /** Pace of the list's import commits, which `commit` measures. */
  readonly pace: CommitPace;
  readonly storePages: {
    /** Returns the maximum number of bytes of records in one commit of the list now. */
    batchBytesMax(listPath: string): number;
  };
  readonly commit: (batch: ImportBatch) => Promise<BatchOutcome>;
  readonly removeUnlisted: (
    source: string,
    ...rest: Parameters<SourceSyncOptions['removeUnlisted']>
  ) => ReturnType<SourceSyncOptions['removeUnlisted']>;
  /** Called after an import has ended: its event may still have to be written. */
  readonly settle: (importId: string) => Promise<void>;
}

/** An import whose records belong to a source. */
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

  /** Stops reporting the progress of imports. */
  close(): void {
    this.told.close();
  }

  /** True if an import is in progress. */
  get areUnderWay(): boolean {
    return this.underWay > 0;
  }

  /** Throws `overloaded` if too many imports are in progress. */
  start(
    format: RecordFormat,
    { keepsLinks, nameFrom, patch, ofSource }: ImportOptions & { readonly ofSource?: ImportOfSource },
  ): ImportSession {
    const { kernel, config, budget, importBuffers, admission, pace, storePages, settle, listPath } = this.options;
    admission.admitImport();
    this.underWay += 1;
    // Reported from now on, even while the import waits for its turn.
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
        // Also needed after an import without a final batch: it was aborted, or its last records had filled a batch
        // exactly.
        release();
        return settle(importId);
      },
    });
  }

  /** Queues the batches of one import one after the other, so that a small write waits for one of them at most. */
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

  /** All imports of a list are reported as one job. */
  private get job() {
    return { kind: 'import', subject: basename(this.options.listPath) } as const;
  }

  /** Returns an id that differs from any that the list's state may still contain from before a crash. */
  private newId(): string {
    this.begun += 1;
    return `${this.options.clock.nowMs()}-${this.begun}`;
  }
}
