/**
 * What a kind of work is: what is to be done, where it is kept, and what becomes of an attempt. Webhooks' deliveries are one kind.
 *
 * Work lies in *lanes* (one for whoever is asked to do it: a receiver, a model), and each item has a *subject* (a record, a key):
 * items of one subject are done one after the other.
 */

/** The types that belong to one kind. */
export interface WorkTypes {
  /** What is to be done. */
  readonly item: unknown;
  /** What an attempt came to. */
  readonly result: unknown;
  /** What is written down of an attempt, in the transaction of its outcome. */
  readonly note: unknown;
  /** What is kept of an item that was set aside. */
  readonly failure: unknown;
}

export interface WorkKind<T extends WorkTypes> {
  /** Names of its databases in the environment that it shares with what it belongs to. */
  readonly databases: {
    readonly items: string;
    readonly schedule: string;
    readonly setAside: string;
    readonly meta: string;
  };
  readonly keeping: WorkKeeping<T>;
  /** As the database keeps it; anything that msgpack takes. */
  encode(item: T['item']): unknown;
  decode(stored: unknown): T['item'];
  subjectOf(item: T['item']): string;
}

/**
 * `every`: each item is done. `newest`: an item takes the place of an older one of its subject, wherever that is, so that there are
 * at most as many as subjects; and how many wait or failed, and why, is counted as they change.
 */
export type WorkKeeping<T extends WorkTypes> =
  | { readonly kind: 'every' }
  | {
      readonly kind: 'newest';
      readonly databases: { readonly subjects: string; readonly counts: string };
      /** What failures are counted by: a few words of a small set. */
      reasonOf(failure: T['failure']): string;
    };

export interface NewWork<Item> {
  readonly lane: string;
  readonly item: Item;
}

export interface Work<Item> extends NewWork<Item> {
  /** Its place in the queue; what came later has a higher one. */
  readonly number: number;
  /** From when on it was to be done, this time. */
  readonly dueMs: number;
}

/** An item at its place in the schedule. */
export interface ScheduledWork {
  readonly lane: string;
  readonly number: number;
  readonly dueMs: number;
  /** Failed attempts so far. */
  readonly attempts: number;
  readonly subject: string;
}

/** What becomes of an attempt; `scheduled` is the place that the item had. */
export interface Settlement<T extends WorkTypes> {
  readonly scheduled: ScheduledWork;
  readonly note: T['note'];
  readonly next:
    | { readonly kind: 'done' }
    | { readonly kind: 'retried'; readonly dueMs: number; readonly attempts: number }
    | { readonly kind: 'set-aside'; readonly failure: T['failure'] };
}

export type BecameOfWork = Settlement<WorkTypes>['next']['kind'];

/**
 * `failed`: tried again until the schedule ends, then set aside. `refused`: set aside at once, since it can never be done.
 * `unavailable`: nothing is wrong with the item, and the attempt does not count.
 */
export interface WorkOutcome<Result> {
  readonly verdict: 'done' | 'failed' | 'refused' | 'unavailable';
  readonly result: Result;
  /** Whoever was asked wants to be left alone until then (`Retry-After`). */
  readonly notBeforeMs?: number;
}

export interface AttemptedWork<T extends WorkTypes> {
  readonly work: Work<T['item']>;
  readonly result: T['result'];
  /** 1 for the first. */
  readonly attempt: number;
  readonly atMs: number;
}

/** Who does the work of a lane. */
export interface LaneWorker<T extends WorkTypes> {
  /** Who shares the slots with other owners; stays the same. Default: the lane has the same one as all others. */
  readonly owner?: string;
  /** Who is asked, and has only so many slots. */
  readonly receiver: string;
  /** Items that one attempt takes, all of different subjects. */
  readonly batchMax: number;
  /** An outcome for each item. Never rejects. `abort` ends the attempt, which then counts for nothing. */
  perform(work: readonly Work<T['item']>[], abort: AbortSignal): Promise<readonly WorkOutcome<T['result']>[]>;
  note(attempted: AttemptedWork<T>, became: BecameOfWork): T['note'];
  failure(attempted: AttemptedWork<T>, setAsideAtMs: number): T['failure'];
}
