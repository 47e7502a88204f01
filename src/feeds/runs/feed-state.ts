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

/**
 * What is kept of a feed between runs. Whether a run is under way is not kept, because nothing runs after a restart.
 */
export interface FeedState {
  /** When the last attempt was made, whether it succeeded or not. ISO 8601. */
  readonly last_checked: string | null;
  readonly last_synced: string | null;
  /** The error of the last attempt if it failed. */
  readonly error: { readonly message: string; readonly at: string } | null;
  readonly record_count: number;
  readonly last_run: LastRun | null;
  /** Number of runs since everything was last read anew. */
  readonly runs_since_fresh: number;
  /**
   * Since when the source has had an empty listing although it had records before. ISO 8601. Missing if the listing has
   * records or none was ever read.
   */
  readonly emptied_since?: string;
  /** For how long this has been observed. Missing if an earlier release began to count. */
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

/**
 * One of this many runs reads everything anew, because some servers say of changed things that they have not changed.
 */
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
  /** Maximum time between two attempts of this feed if the clock is right. */
  readonly apartMsMax: number;
}

/** Returns the state after a failed attempt. The results of the last successful run are kept. */
export function afterFailure(state: FeedState, message: string, attempt: FailedAttempt): FeedState {
  const { at, isEmptied = false, apartMsMax } = attempt;
  const failed = { ...state, last_checked: at, error: { message: message.slice(0, MESSAGE_CHARACTERS_MAX), at } };
  if (state.emptied_since !== undefined)
    return { ...failed, emptied_ms: emptiedFor(state, Date.parse(at), apartMsMax) };
  return isEmptied ? { ...failed, emptied_since: at, emptied_ms: 0 } : failed;
}

/** Returns true if the listing of the source has been seen to be empty for so long that this is believed. */
export function isEmptinessBelieved(state: FeedState, nowMs: number, apartMsMax: number): boolean {
  return state.emptied_since !== undefined && emptiedFor(state, nowMs, apartMsMax) >= EMPTINESS_BELIEVED_AFTER_MS;
}

function emptiedFor({ emptied_ms: ms = 0, last_checked }: FeedState, nowMs: number, apartMsMax: number): number {
  return last_checked === null ? ms : seenFor({ ms, lastUtc: last_checked }, nowMs, apartMsMax);
}
