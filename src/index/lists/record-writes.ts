/** What writes of records do when their turn has come: one commit, its publication, and an answer to each. Main thread only. */
import { deserialiseError, type Metrics } from '../../platform/index.js';
import type { StorePages } from '../commit/store-pages.js';
import type { WaitingWrite } from '../commit/list-queue.js';
import type { BatchOutcome, Commit, IngestResults } from '../contract/ingest-tasks.js';
import type { ImportBatch } from '../import/import-session.js';
import type { BackgroundHost } from '../versions/background-host.js';
import { internalError, type CommitPublisher } from '../versions/commit-publisher.js';

export interface RecordWritesOptions {
  readonly listPath: string;
  readonly storePages: StorePages;
  readonly metrics: Pick<Metrics, 'recordsWritten'>;
  readonly commits: CommitPublisher;
  readonly withWritingTask: BackgroundHost['withWritingTask'];
  readonly publish: (commit: Commit | undefined) => void;
}

export class RecordWrites {
  constructor(private readonly options: RecordWritesOptions) {}

  /** Small writes that waited together. Settles every one of them; never rejects. */
  async group(writes: readonly WaitingWrite[]): Promise<void> {
    const { commits, publish, withWritingTask } = this.options;
    try {
      const requests = writes.map((write) => write.request);
      this.written(writes.reduce((sum, { bytes }) => sum + bytes, 0));
      const answers = await withWritingTask(async (part) => {
        const result = await commits.run({ kind: 'write-batch', requests, ...part });
        publish(result.commit);
        return result.answers;
      });
      writes.forEach((write, index) => {
        const answer = answers[index];
        if (answer?.ok === true) {
          this.count(answer.result.outcome, 1);
          write.resolve(answer.result);
        } else {
          this.count('failed', 1);
          write.reject(answer === undefined ? internalError(undefined) : deserialiseError(answer.error));
        }
      });
    } catch (error) {
      for (const write of writes) write.reject(error);
    }
  }

  /** A batch of an import. */
  async batch(batch: ImportBatch): Promise<BatchOutcome> {
    const { commits, publish, withWritingTask } = this.options;
    this.written(batch.records.reduce((sum, { bytes }) => sum + bytes.length, 0));
    const outcome = await withWritingTask(async (part) => {
      const result = await commits.run({ kind: 'bulk-batch', ...batch, ...part });
      publish(result.commit);
      return result.outcome;
    });
    for (const kind of ['created', 'updated', 'failed'] as const) this.count(kind, outcome[kind]);
    return outcome;
  }

  /** Deletes what the plan of a search finds, and says how many records that were. */
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

  /** Some of the records that a source does not list any more. */
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
