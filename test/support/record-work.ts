/**
 * A second kind of work besides deliveries of webhooks: each version of a record leaves work in the environment of its
 * list, as embedding does. Only the newest version of a record counts; the result is written in the transaction that
 * settles the work.
 */
import type { Database } from 'lmdb';
import { openEnvironment, type LmdbEnvironment } from '../../src/platform/index.js';
import {
  RetrySchedule,
  WorkQueue,
  WorkRunner,
  type LaneWorker,
  type Timers,
  type Work,
  type WorkKind,
  type WorkOutcome,
} from '../../src/platform/work/index.js';

export interface Version {
  readonly record: string;
  readonly version: number;
  readonly text: string;
}

export interface EmbeddingTypes {
  readonly item: Version;
  readonly result: string;
  /** The vector, or null if there is none. */
  readonly note: { readonly of: Version; readonly vector: string | null };
  readonly failure: { readonly record: string; readonly reason: string; readonly attempts: number };
}

export const EMBEDDING: WorkKind<EmbeddingTypes> = {
  databases: { items: 'embed-items', schedule: 'embed-schedule', setAside: 'embed-set-aside', meta: 'embed-meta' },
  keeping: {
    kind: 'newest',
    databases: { subjects: 'embed-subjects', counts: 'embed-counts' },
    reasonOf: ({ reason }) => reason,
  },
  encode: ({ record, version, text }) => [record, version, text],
  decode(stored) {
    const [record, version, text] = stored as [string, number, string];
    return { record, version, text };
  },
  subjectOf: ({ record }) => record,
};

export const LANE = 'model';
/** Embeds texts. A result of another kind is the reason for a failure. */
export type Model = (versions: readonly Version[], abort: AbortSignal) => Promise<readonly WorkOutcome<string>[]>;

export const vectorOf = ({ text }: Version): string => `vector of ${text}`;

export class EmbeddedList {
  readonly environment: LmdbEnvironment;
  readonly queue: WorkQueue<EmbeddingTypes>;
  readonly failures: unknown[] = [];
  /** True to make writing of outcomes fail. */
  isFull = false;
  private readonly versions: Database<[version: number, text: string], string>;
  private readonly vectors: Database<[version: number, vector: string], string>;
  private readonly runner: WorkRunner<EmbeddingTypes>;

  constructor(
    path: string,
    private readonly timers: Timers,
  ) {
    this.environment = openEnvironment(path, { kind: 'list' });
    this.versions = this.environment.database('versions');
    this.vectors = this.environment.database('vectors');
    this.queue = new WorkQueue(this.environment, EMBEDDING);
    this.runner = new WorkRunner({
      queue: this.queue,
      timers,
      schedule: new RetrySchedule({ soonMs: [1000, 4000], laterMs: [60_000], jitterPercent: 0 }),
      perReceiverMax: 2,
      totalMax: 4,
      writing: 'each',
      write: (settlements) =>
        this.environment.transaction(() => {
          if (this.isFull) throw new Error('the disk is full');
          for (const { note } of this.queue.settle(settlements)) {
            if (note.vector !== null) void this.vectors.putSync(note.of.record, [note.of.version, note.vector]);
          }
        }),
      onWriteFailure: (error) => this.failures.push(error),
    });
  }

  /** Commits records together with their work. Null deletes a record. */
  async write(records: Readonly<Record<string, string | null>>): Promise<void> {
    await this.environment.transaction(() => {
      for (const [record, text] of Object.entries(records)) {
        const version = (this.versions.get(record)?.[0] ?? 0) + 1;
        if (text === null) {
          this.versions.removeSync(record);
          this.vectors.removeSync(record);
          this.queue.withdraw(LANE, record);
          continue;
        }
        void this.versions.putSync(record, [version, text]);
        this.queue.put([{ lane: LANE, item: { record, version, text } }], this.timers.nowMs());
      }
    });
    this.runner.wake(LANE);
  }

  embedWith(model: Model, batchMax = 4): void {
    const worker: LaneWorker<EmbeddingTypes> = {
      receiver: 'model',
      batchMax,
      perform: (work: readonly Work<Version>[], abort) =>
        model(
          work.map(({ item }) => item),
          abort,
        ),
      note: ({ work, result }, became) => ({ of: work.item, vector: became === 'done' ? result : null }),
      failure: ({ work, result, attempt }) => ({ record: work.item.record, reason: result, attempts: attempt }),
    };
    this.runner.add(LANE, worker);
  }

  /** Retries failed records, like `POST /list/embed-retry`. */
  async retry(): Promise<number> {
    const replayed = await this.queue.replay(LANE, () => true, this.timers.nowMs());
    this.runner.wake(LANE);
    return replayed;
  }

  /** Returns version and vector of each record. */
  embedded(): Record<string, readonly [number, string]> {
    this.environment.root.resetReadTxn();
    return Object.fromEntries(Array.from(this.vectors.getRange(), ({ key, value }) => [key, value]));
  }

  flushed(): Promise<void> {
    return this.runner.flushed();
  }

  async close(): Promise<void> {
    await this.runner.close(0);
    await this.environment.close();
  }
}
