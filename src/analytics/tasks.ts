/** Tasks of the analytics worker; all of them can be cloned. */
import type { EventBatch } from './event-batch.js';
import type { ReportFigures } from './report.js';

export interface AppendTask {
  readonly kind: 'append';
  readonly batch: EventBatch;
  readonly nowMs: number;
}
/** Rolls up pending events, and does what is due: closes days, purges a second time. */
export interface RollUpTask {
  readonly kind: 'roll-up';
  readonly nowMs: number;
}
export interface ReportTask {
  readonly kind: 'report';
  readonly identity: string;
  /** Days since the Unix epoch, both inclusive. */
  readonly fromDay: number;
  readonly toDay: number;
  /** Number of most frequent terms. */
  readonly termsMax: number;
  /** Time for reading events that are not rolled up yet; if some remain, the report is `catching_up`. */
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
  /** Bytes of events, over all targets, that are not rolled up yet. */
  readonly backlogBytes: number;
}
export interface RollUpOutcome {
  /** True if the task should be sent again at once: it stopped to let others run. */
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

/** Runs tasks in the analytics worker, in order. Rejects with a ServiceError. */
export interface AnalyticsExecutor {
  run<Task extends AnalyticsTask>(task: Task): Promise<AnalyticsResult<Task>>;
}
