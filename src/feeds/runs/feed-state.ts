/** What is known of a feed's runs, and how each run changes it (section 3.1 of the service's description). */
import type { Skipped } from '../file/run-records.js';
import type { SyncRunResult } from '../file/sync-run.js';
import { seenFor } from './time-seen.js';

export type FeedStatus = 'Waiting for first sync' | 'Syncing' | 'Synced' | 'Failed';

export interface LastRun {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly unchanged: number;
  readonly skipped: readonly Skipped[];
  readonly requests: number;
  readonly bytes: number;
  readonly took_ms: number;
}

/** What is kept of a feed between runs. That one is running is not kept: after a stop nothing runs. */
export interface FeedState {
  /** When the last attempt was made, whatever became of it. ISO 8601. */
  readonly last_checked: string | null;
  readonly last_synced: string | null;
  /** Of the last attempt, where it failed. */
  readonly error: { readonly message: string; readonly at: string } | null;
  readonly record_count: number;
  readonly last_run: LastRun | null;
  /** Runs since everything was read anew. */
  readonly runs_since_fresh: number;
  /** Since when the source has listed nothing where it had records. ISO 8601; missing where it lists some, or none was ever read. */
  readonly emptied_since?: string;
  /** For how long that was seen; none where an earlier release began to count. */
  readonly emptied_ms?: number;
}

export const NEW_FEED: FeedState = {
  last_checked: null,
  last_synced: null,
  error: null,
  record_count: 0,
  last_run: null,
  runs_since_fresh: 0,
};

/** Of so many runs one reads everything anew, for servers that say of what changed that it did not. */
const FRESH_EVERY_RUNS = 24;
const MESSAGE_CHARACTERS_MAX = 1000;
const EMPTINESS_BELIEVED_AFTER_MS = 86_400_000;

export function statusOf(state: FeedState, isRunning: boolean): FeedStatus {
  if (isRunning) return 'Syncing';
  if (state.error !== null) return 'Failed';
  return state.last_synced === null ? 'Waiting for first sync' : 'Synced';
}

export function isFreshRunDue(state: FeedState): boolean {
  return state.runs_since_fresh + 1 >= FRESH_EVERY_RUNS;
}

export function afterSuccess(
  state: FeedState,
  result: SyncRunResult,
  run: { readonly at: string; readonly wasFresh: boolean },
): FeedState {
  const { added, changed, removed, unchanged, skipped, requests, bytes, took_ms, record_count } = result;
  return {
    last_checked: run.at,
    last_synced: run.at,
    error: null,
    record_count,
    last_run: { added, changed, removed, unchanged, skipped, requests, bytes, took_ms },
    runs_since_fresh: run.wasFresh ? 0 : state.runs_since_fresh + 1,
  };
}

export interface FailedAttempt {
  readonly at: string;
  readonly isEmptied?: boolean;
  /** Attempts of this feed are not further apart, by a clock that is right. */
  readonly apartMsMax: number;
}

/** What the last good run gave stays as it was. */
export function afterFailure(state: FeedState, message: string, attempt: FailedAttempt): FeedState {
  const { at, isEmptied = false, apartMsMax } = attempt;
  const failed = { ...state, last_checked: at, error: { message: message.slice(0, MESSAGE_CHARACTERS_MAX), at } };
  if (state.emptied_since !== undefined)
    return { ...failed, emptied_ms: emptiedFor(state, Date.parse(at), apartMsMax) };
  return isEmptied ? { ...failed, emptied_since: at, emptied_ms: 0 } : failed;
}

/** A source that was seen to list nothing for so long has nothing. */
export function isEmptinessBelieved(state: FeedState, nowMs: number, apartMsMax: number): boolean {
  return state.emptied_since !== undefined && emptiedFor(state, nowMs, apartMsMax) >= EMPTINESS_BELIEVED_AFTER_MS;
}

function emptiedFor({ emptied_ms: ms = 0, last_checked }: FeedState, nowMs: number, apartMsMax: number): number {
  return last_checked === null ? ms : seenFor({ ms, lastUtc: last_checked }, nowMs, apartMsMax);
}
