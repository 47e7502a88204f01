/** What is known of a feed's runs, and how each run changes it (section 3.1 of the service's description). */
import type { Skipped } from '../file/run-records.js';
import type { SyncRunResult } from '../file/sync-run.js';

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

/** What the last good run gave stays as it was. */
export function afterFailure(
  state: FeedState,
  message: string,
  { at, isEmptied = false }: { readonly at: string; readonly isEmptied?: boolean },
): FeedState {
  const failed = { ...state, last_checked: at, error: { message: message.slice(0, MESSAGE_CHARACTERS_MAX), at } };
  return isEmptied && state.emptied_since === undefined ? { ...failed, emptied_since: at } : failed;
}

/** A source that has listed nothing for so long has nothing. */
export function isEmptinessBelieved({ emptied_since: since }: FeedState, nowMs: number): boolean {
  return since !== undefined && nowMs - Date.parse(since) >= EMPTINESS_BELIEVED_AFTER_MS;
}
