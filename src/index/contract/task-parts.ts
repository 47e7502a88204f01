/** What tasks of several kinds are made of, and what several of them answer. */
import type { VersionView } from './index-changes.js';

/** What a task needs to know of those who listen to the list's events; absent where nobody does or ever did. */
export interface EventTask {
  readonly account: string;
  readonly list: string;
  readonly wanted: readonly string[];
  /** Rows of the outbox up to this one are delivered or queued and need not stay: they go with this commit. */
  readonly removableTo: number;
  /** Events took place no earlier, whatever the clock says. */
  readonly notBeforeMs: number;
}

export interface TaskBase {
  /** Folder of the list: `store/` and `segments/` are in it. */
  readonly listPath: string;
}

export interface WritingTask extends TaskBase {
  readonly nowMs: number;
  readonly current: VersionView;
  /** The version being built, when there is one: records below its cursor are written to it as well. */
  readonly building: VersionView | undefined;
  readonly limits: IngestLimits;
  readonly events: EventTask | undefined;
}

export interface IngestLimits {
  readonly recordBytesMax: number;
  /** Records that the commit may add, where there is a limit: `plan-limit` beyond. */
  readonly newRecordsMax?: number;
}

/** A segment file that no manifest names yet. */
export interface BuiltSegment {
  readonly id: number;
  readonly documentCount: number;
  readonly fileBytes: number;
}

export interface ReindexedRecords {
  /** Undefined where no record was left. */
  readonly segment: BuiltSegment | undefined;
  /** Record number to go on at. */
  readonly cursor: number;
  readonly done: boolean;
}
