/**
 * A kind of work: what is to be done, where it is stored, and what becomes of an attempt. Webhook deliveries are one
 * kind.
 *
 * Work lies in *lanes* (one for whoever is asked to do it: a receiver, a model), and each item has a *subject* (a
 * record, a key): items of one subject are done one after the other.
 */

/** The types of one kind. */
export interface WorkTypes {
  /** What is to be done. */
  readonly item: unknown;
  /** The result of an attempt. */
  readonly result: unknown;
  /** What is recorded of an attempt, in the transaction of its outcome. */
  readonly note: unknown;
  /** What is stored of an item that was set aside. */
  readonly failure: unknown;
}

export interface WorkKind<T extends WorkTypes> {
  /** Names of its databases in the environment that it shares with its owner. */
  readonly databases: {
    readonly items: string;
    readonly schedule: string;
    readonly setAside: string;
    readonly meta: string;
  };
  readonly keeping: WorkKeeping<T>;
  /** Encodes an item for the database, as anything that msgpack accepts. */
  encode(item: T['item']): unknown;
  decode(stored: unknown): T['item'];
  subjectOf(item: T['item']): string;
}

/**
 * `every`: each item is done. `newest`: an item replaces an older one of its subject, whether that waits or is set
 * aside, so there are at most as many items as subjects; and items that wait or failed are counted, by reason.
 */
export type WorkKeeping<T extends WorkTypes> =
  | { readonly kind: 'every' }
  | {
      readonly kind: 'newest';
      readonly databases: { readonly subjects: string; readonly counts: string };
      /** Reason by which failures are counted: a few words out of a small set. */
      reasonOf(failure: T['failure']): string;
    };

export interface NewWork<Item> {
  readonly lane: string;
  readonly item: Item;
}

export interface Work<Item> extends NewWork<Item> {
  /** Number in the queue; later items have higher ones. */
  readonly number: number;
  /** Time from which it was to be done, in this attempt. */
  readonly dueMs: number;
}

/** An item's entry in the schedule. */
export interface ScheduledWork {
  readonly lane: string;
  readonly number: number;
  readonly dueMs: number;
  /** Number of failed attempts so far. */
  readonly attempts: number;
  readonly subject: string;
}

/** The outcome of an attempt; `scheduled` is the entry that the item had. */
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
 * `failed`: retried until the schedule ends, then set aside. `refused`: set aside at once, since it can never be done.
 * `unavailable`: nothing is wrong with the item, and the attempt does not count.
 */
export interface WorkOutcome<Result> {
  readonly verdict: 'done' | 'failed' | 'refused' | 'unavailable';
  readonly result: Result;
  /** The receiver wants no further attempt before this time (`Retry-After`). */
  readonly notBeforeMs?: number;
}

export interface AttemptedWork<T extends WorkTypes> {
  readonly work: Work<T['item']>;
  readonly result: T['result'];
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly atMs: number;
}

/** Does the work of a lane. */
export interface LaneWorker<T extends WorkTypes> {
  /**
   * Owner with which its slots are shared fairly among others; must not change. Default: one owner for all such lanes.
   */
  readonly owner?: string;
  /** Who is asked; each receiver has a limited number of slots. */
  readonly receiver: string;
  /** Maximum of items per attempt, all of different subjects. */
  readonly batchMax: number;
  /**
   * Attempts the work; resolves with an outcome per item. Never rejects. `abort` ends the attempt, whose outcome is
   * then ignored.
   */
  perform(work: readonly Work<T['item']>[], abort: AbortSignal): Promise<readonly WorkOutcome<T['result']>[]>;
  note(attempted: AttemptedWork<T>, became: BecameOfWork): T['note'];
  failure(attempted: AttemptedWork<T>, setAsideAtMs: number): T['failure'];
}
