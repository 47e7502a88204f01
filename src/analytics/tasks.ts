/** What the analytics worker can be asked for; all of it can be cloned. */
import type { EventBatch } from './event-batch.js';
import type { ReportFigures } from './report.js';

export interface AppendTask {
  readonly kind: 'append';
  readonly batch: EventBatch;
  readonly nowMs: number;
}
/** Adds to the roll-ups what waits for it, and does what is due: closes days, purges a second time. */
export interface RollUpTask {
  readonly kind: 'roll-up';
  readonly nowMs: number;
}
export interface ReportTask {
  readonly kind: 'report';
  readonly identity: string;
  /** Days since the Unix epoch, both included. */
  readonly fromDay: number;
  readonly toDay: number;
  /** Of the most frequent terms, so many. */
  readonly termsMax: number;
  /** For reading events that are in no roll-up yet; what is left then makes the report `catching_up`. */
  readonly rawReadMsMax: number;
}
/** Deletes everything of a list or group, now and again later. */
export interface ForgetTask {
  readonly kind: 'forget';
  readonly identity: string;
  readonly nowMs: number;
}

export type AnalyticsTask = AppendTask | RollUpTask | ReportTask | ForgetTask;

export interface AppendOutcome {
  /** Bytes of events, over all targets, that are in no roll-up yet. */
  readonly backlogBytes: number;
}
export interface RollUpOutcome {
  /** True where the task should be sent again at once: it stopped to let others take a turn. */
  readonly hasMore: boolean;
  readonly eventsRolledUp: number;
}

export type AnalyticsResult<Task extends AnalyticsTask> = Task extends AppendTask
  ? AppendOutcome
  : Task extends RollUpTask
    ? RollUpOutcome
    : Task extends ReportTask
      ? ReportFigures
      : undefined;

/** Runs tasks in the analytics worker, in the order in which they are given. Rejects with a ServiceError. */
export interface AnalyticsExecutor {
  run<Task extends AnalyticsTask>(task: Task): Promise<AnalyticsResult<Task>>;
}
