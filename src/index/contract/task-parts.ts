/** Parts that several kinds of tasks and results share. */
import type { VersionView } from './index-changes.js';

/** What a task needs to know to write events; undefined if nobody listens to the list's events or ever did. */
export interface EventTask {
  readonly account: string;
  readonly list: string;
  readonly wanted: readonly string[];
  /** Rows of the outbox up to this number are delivered or queued elsewhere; the commit removes some of them. */
  readonly removableTo: number;
  /** Lower bound of the time of events, whatever the clock says. */
  readonly notBeforeMs: number;
}

export interface TaskBase {
  /** Folder of the list, which contains `store/` and `segments/`. */
  readonly listPath: string;
}

export interface WritingTask extends TaskBase {
  readonly nowMs: number;
  readonly current: VersionView;
  /** The version being built, if any: records below its cursor are written to it as well. */
  readonly building: VersionView | undefined;
  readonly limits: IngestLimits;
  readonly events: EventTask | undefined;
}

export interface IngestLimits {
  readonly recordBytesMax: number;
  /** Number of records that the commit may add: `plan-limit` beyond. Undefined: no limit. */
  readonly newRecordsMax?: number;
}

/** A segment file that is not in a manifest yet. */
export interface BuiltSegment {
  readonly id: number;
  readonly documentCount: number;
  readonly fileBytes: number;
}

export interface ReindexedRecords {
  /** Undefined if no record was left. */
  readonly segment: BuiltSegment | undefined;
  /** Record number to continue at. */
  readonly cursor: number;
  readonly done: boolean;
}
