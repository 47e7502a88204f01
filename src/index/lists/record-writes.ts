/**
 * Carries out writes of records when their turn has come: one commit, its publication, and the answers. Main thread
 * only.
 */
import { basename } from 'node:path';
import { deserialiseError, ServiceError, type Metrics } from '../../platform/index.js';
import type { StorePages } from '../commit/store-pages.js';
import type { WaitingWrite } from '../commit/list-queue.js';
import { withinQuota, type RecordQuota, type RecordsTaken } from '../contract/record-quota.js';
import type {
  BatchOutcome,
  Commit,
  ImportBatch,
  IngestLimits,
  IngestResults,
  RawRecords,
} from '../contract/ingest-tasks.js';
import { CommitPace } from '../import/commit-pace.js';
import { bytesOf } from '../import/import-session.js';
import type { BackgroundHost, WritingTaskPart } from '../versions/background-host.js';
import { internalError, type CommitPublisher } from '../versions/commit-publisher.js';

export interface RecordWritesOptions {
  readonly listPath: string;
  readonly storePages: StorePages;
  readonly metrics: Pick<Metrics, 'recordsWritten'>;
  readonly quota: () => RecordQuota | undefined;
  readonly commits: CommitPublisher;
  readonly withWritingTask: BackgroundHost['withWritingTask'];
  readonly publish: (commit: Commit | undefined) => void;
}

export class RecordWrites {
  /** Determines how much of an import one commit takes. */
  readonly importPace = new CommitPace();

  constructor(private readonly options: RecordWritesOptions) {}

  /** Commits small writes that waited together. Settles each of them; never rejects. */
  async group(writes: readonly WaitingWrite[]): Promise<void> {
    let waiting = writes;
    const take = () => {
      // Deletions need no quota.
      if (waiting.every(isDeletion)) return undefined;
      return this.take(waiting.filter(({ request }) => request.kind === 'put').length);
    };
    try {
      await withinQuota(take, async (taken) => {
        waiting = await this.groupWithin(waiting, taken);
        return waiting.length > 0 ? { isShort: true } : { isShort: false, result: undefined };
      });
    } catch (error) {
      const deletions = isPlanLimit(error) ? waiting.filter(isDeletion) : [];
      for (const write of waiting) if (!deletions.includes(write)) this.refuse(write, error);
      if (deletions.length > 0) await this.group(deletions);
    }
  }

  /** Settles the writes that the quota has room for, and returns the others. */
  private async groupWithin(
    writes: readonly WaitingWrite[],
    taken: RecordsTaken | undefined,
  ): Promise<readonly WaitingWrite[]> {
    const { commits, publish, withWritingTask } = this.options;
    const requests = writes.map((write) => write.request);
    this.written(writes.reduce((sum, { bytes }) => sum + bytes, 0));
    const answers = await withWritingTask(async (part) => {
      const result = await commits.run({ kind: 'write-batch', requests, ...part, limits: limitsOf(part, taken) });
      publish(result.commit);
      return result.answers;
    });
    return writes.filter((write, index) => {
      const answer = answers[index];
      if (answer?.ok === true) {
        this.count(answer.result.outcome, 1);
        write.resolve(answer.result);
        return false;
      }
      const error = answer === undefined ? internalError(undefined) : deserialiseError(answer.error);
      if (isPlanLimit(error)) return true;
      this.refuse(write, error);
      return false;
    });
  }

  private refuse(write: WaitingWrite, error: unknown): void {
    this.count('failed', 1);
    write.reject(error);
  }

  private take(records: number): Promise<RecordsTaken> | undefined {
    return this.options.quota()?.take(basename(this.options.listPath), records);
  }

  /** Commits a batch of an import. */
  batch(batch: ImportBatch): Promise<BatchOutcome> {
    this.written(bytesOf(batch));
    return this.importPace.timed(bytesOf(batch), () => this.batchWithinQuota(batch));
  }

  private async batchWithinQuota(batch: ImportBatch): Promise<BatchOutcome> {
    const { commits, publish, withWritingTask } = this.options;
    const count = batch.records.reduce((sum, { ends }) => sum + ends.length, 0);
    const take = () => this.take(count);
    const outcome = await withinQuota(take, (taken) =>
      withWritingTask(async (part) => {
        // A task takes ownership of its records, so a batch that may have to be retried keeps a copy.
        const mayBeShort = taken !== undefined && taken.recordsMax < count;
        const records = mayBeShort ? batch.records.map(copyOf) : batch.records;
        const task = { kind: 'bulk-batch', ...batch, ...part, records, limits: limitsOf(part, taken) } as const;
        try {
          const result = await commits.run(task);
          publish(result.commit);
          return { isShort: false, result: result.outcome } as const;
        } catch (error) {
          if (!mayBeShort || !isPlanLimit(error)) throw error;
          return { isShort: true } as const;
        }
      }),
    );
    for (const kind of ['created', 'updated', 'failed'] as const) this.count(kind, outcome[kind]);
    return outcome;
  }

  /** Deletes the records that a search plan finds; returns their number. */
  async matching(plan: Uint8Array): Promise<number> {
    const { commits, publish, withWritingTask } = this.options;
    const deleted = await withWritingTask(async (part) => {
      const result = await commits.run({ kind: 'delete-matching', plan, ...part });
      publish(result.commit);
      return result.deleted;
    });
    this.count('deleted', deleted);
    return deleted;
  }

  /** Removes some of the records that a source no longer lists. */
  async unlisted(
    source: string,
    listed: Uint8Array,
    cursor: number,
  ): Promise<Omit<IngestResults['remove-unlisted'], 'commit'>> {
    const { commits, publish, withWritingTask } = this.options;
    const outcome = await withWritingTask(async (part) => {
      const result = await commits.run({ kind: 'remove-unlisted', source, listed, cursor, ...part });
      publish(result.commit);
      return result;
    });
    this.count('deleted', outcome.removed);
    return { removed: outcome.removed, cursor: outcome.cursor };
  }

  private count(outcome: 'created' | 'updated' | 'deleted' | 'failed', records: number): void {
    if (records > 0) this.options.metrics.recordsWritten.inc({ outcome }, records);
  }

  private written(bytes: number): void {
    this.options.storePages.written(this.options.listPath, bytes);
  }
}

function limitsOf({ limits }: WritingTaskPart, taken: RecordsTaken | undefined): IngestLimits {
  return taken === undefined ? limits : { ...limits, newRecordsMax: taken.recordsMax };
}

function copyOf({ bytes, ends, lines }: RawRecords): RawRecords {
  // `slice` of a Buffer would not copy.
  return { bytes: new Uint8Array(bytes), ends: new Uint32Array(ends), lines: new Uint32Array(lines) };
}

function isDeletion({ request }: WaitingWrite): boolean {
  return request.kind === 'delete';
}

function isPlanLimit(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'plan-limit';
}
