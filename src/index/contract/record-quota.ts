/** How many records an account may have, as its lists ask for it. Who knows is given to `ListIndexes.useQuota`. Main thread only. */
import type { ServiceError } from '../../platform/index.js';

/** What a commit may add. */
export interface RecordsTaken {
  readonly recordsMax: number;
  /** What a record beyond is refused with. */
  refusal(): ServiceError;
  /**
   * The commit is published, or there was none; call it in any case. `isShort`: it had more to add. Resolves true where that may be
   * tried again, for the account may have more by now. Never rejects.
   */
  settle(isShort: boolean): Promise<boolean>;
}

export interface RecordQuota {
  /** Something of the list is published. Cheap. */
  changed(account: string, listId: string): void;
  /** The list is gone. */
  removed(listId: string): void;
  /**
   * Before a commit of a list that may add so many records. Undefined: as many as it likes. What others have taken and not settled
   * counts as used; where there might be enough without it, they are waited for. Rejects with `plan-limit` where nothing may be written.
   */
  take(listId: string, records: number): Promise<RecordsTaken> | undefined;
}

/** What an action has done with what it was given; `isShort`: it had more to add. */
export type QuotaUse<Result> = { readonly isShort: true } | { readonly isShort: false; readonly result: Result };

/** Runs the action with as many records as it may add, and again where it was short and the account has more by now. */
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
