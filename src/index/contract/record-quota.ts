/**
 * Limit on an account's records, as its lists see it. `ListIndexes.useQuota` sets the implementation. Main thread only.
 */
import type { ServiceError } from '../../platform/index.js';

/** Share of the quota that a commit has taken. */
export interface RecordsTaken {
  readonly recordsMax: number;
  /** Returns the error for a record beyond `recordsMax`. */
  refusal(): ServiceError;
  /**
   * Ends the use of the share. Call it in any case: after the commit was published, or if there was none. `isShort`:
   * the commit had more records to add. Resolves to true if it may be tried again, because the account may have more
   * room by now. Never rejects.
   */
  settle(isShort: boolean): Promise<boolean>;
}

export interface RecordQuota {
  /** Tells that the list has published a change. Cheap. */
  changed(account: string, listId: string): void;
  /** Tells that the list was removed. */
  removed(listId: string): void;
  /**
   * Takes a share of the quota before a commit that may add up to `records` records. Undefined if there is no limit.
   * Shares that others hold and have not settled count as used; if releasing them might leave enough room, the promise
   * waits for them. Rejects with `plan-limit` if nothing may be written.
   */
  take(listId: string, records: number): Promise<RecordsTaken> | undefined;
}

/** Outcome of an action within a quota; `isShort`: it had more records to add than it was given. */
export type QuotaUse<Result> = { readonly isShort: true } | { readonly isShort: false; readonly result: Result };

/**
 * Runs the action with a share of the quota. Repeats it if the share was too small and the account may have more room
 * by now; otherwise throws the quota's refusal.
 */
export async function withinQuota<Result>(
  taking: () => Promise<RecordsTaken> | undefined,
  action: (taken: RecordsTaken | undefined) => Promise<QuotaUse<Result>>,
): Promise<Result> {
  for (;;) {
    const asked = taking();
    const taken = asked === undefined ? undefined : await asked;
    let use: QuotaUse<Result> | undefined;
    let mayRetry = false;
    try {
      use = await action(taken);
      if (!use.isShort) return use.result;
    } finally {
      mayRetry = (await taken?.settle(use?.isShort === true)) ?? false;
    }
    if (!mayRetry && taken !== undefined) throw taken.refusal();
  }
}
