/**
 * Compares what accounts have with the limits of their plans. Near a limit, the plan's successor takes its place. If
 * there is none, writes beyond the limit are refused with `plan-limit`, while searches continue. Main thread only.
 */
import type { Logger } from 'pino';
import type { SearchCounter } from '../access/index.js';
import type { Change, ListQuota } from '../catalog/index.js';
import type { RecordQuota, RecordsTaken } from '../index/index.js';
import { ServiceError } from '../platform/index.js';
import type { ListStorage } from './list-storage.js';
import type { RecordLedger } from './record-ledger.js';
import { RecordTurns } from './record-turns.js';
import type { SearchCounts } from './search-counts.js';
import type { Subscriptions } from './subscriptions.js';
import { LIMITS, type Limit, type Plan } from './types.js';

/** Limits beyond which no write may make the account larger. */
const CLOSING_LIMITS = ['storage_bytes', 'searches_a_month'] as const;
/** Limits whose usage others count. */
export type Metered = 'lists' | 'feeds' | 'storage_bytes';

const LIMIT_TEXTS: Readonly<Record<Limit, string>> = {
  records: 'records',
  storage_bytes: 'bytes on disk',
  searches_a_month: 'searches a month',
  lists: 'lists',
  feeds: 'feeds',
};

export interface PlansOptions {
  readonly subscriptions: Subscriptions;
  readonly ledger: RecordLedger;
  readonly storage: ListStorage;
  readonly searches: SearchCounts;
  /** Percentage of a limit from which an account is upgraded. */
  readonly upgradePercent: number;
  readonly log: Logger;
}

export class Plans implements RecordQuota, ListQuota, SearchCounter {
  readonly subscriptions: Subscriptions;
  readonly #options: PlansOptions;
  readonly #turns = new RecordTurns();
  readonly #meters: { readonly limit: Metered; readonly used: (account: string) => number }[] = [];
  /** Accounts that will be checked next turn. */
  readonly #waiting = new Set<string>();
  readonly #considering = new Set<Promise<void>>();

  constructor(options: PlansOptions) {
    this.#options = options;
    this.subscriptions = options.subscriptions;
  }

  /**
   * Registers a counter. `used` returns what an account has, in addition to what other counters of the same limit
   * return.
   */
  meter(limit: Metered, used: (account: string) => number): void {
    this.#meters.push({ limit, used });
  }

  searched(account: string): void {
    this.#options.searches.searched(account);
  }

  changed(account: string, listId: string): void {
    this.#options.ledger.changed(account, listId);
    this.#options.storage.changed(listId);
    this.#considerLater(account);
  }

  removed(listId: string): void {
    this.#options.ledger.removed(listId);
    this.#options.storage.changed(listId);
  }

  async used(account: string, limit: Limit): Promise<number> {
    const { ledger, storage, searches } = this.#options;
    switch (limit) {
      case 'records':
        return ledger.records(account);
      case 'searches_a_month':
        return searches.searches(account);
      case 'storage_bytes':
        return (await storage.bytesOf(ledger.listsOf(account))) + this.#metered(account, limit);
      case 'lists':
      case 'feeds':
        return this.#metered(account, limit);
    }
  }

  take(listId: string, records: number): Promise<RecordsTaken> | undefined {
    const account = this.#options.ledger.accountOf(listId);
    if (account === undefined) return undefined;
    const { limits } = this.subscriptions.planOf(account);
    const isLimited = limits.records !== undefined || CLOSING_LIMITS.some((limit) => limits[limit] !== undefined);
    return isLimited ? this.#take(account, records) : undefined;
  }

  /** Rejects with `plan-limit` if the account may not grow in any way. */
  async assertWritable(account: string): Promise<void> {
    for (const limit of CLOSING_LIMITS) {
      for (;;) {
        const plan = this.subscriptions.planOf(account);
        const allowed = plan.limits[limit];
        if (allowed === undefined || (await this.used(account, limit)) < allowed) break;
        if (!(await this.subscriptions.upgraded(account, plan))) throw refusal(plan, limit);
      }
    }
  }

  admitList(change: Change, account: string, lists: () => number): void {
    this.#admit(change, account, 'lists', lists);
  }

  /** Inside the change that adds a feed to those that `feeds` counts. Throws `plan-limit`. */
  admitFeed(change: Change, account: string, feeds: () => number): void {
    this.#admit(change, account, 'feeds', feeds);
  }

  /** Upgrades the account's plan if its usage requires it. Resolves when that is done; never rejects. */
  consider(account: string): Promise<void> {
    return this.#consider(account).catch((error: unknown) => {
      this.#options.log.warn({ account, err: error }, 'Could not upgrade a plan; will retry with the next change');
    });
  }

  /** Resolves when no check is in progress. */
  async settled(): Promise<void> {
    while (this.#considering.size > 0) await Promise.all(this.#considering);
  }

  /** Removes everything stored for a deleted account. */
  async forget(account: string): Promise<void> {
    this.#options.ledger.forget(account);
    await this.#options.searches.forget(account);
    await this.subscriptions.forget(account);
  }

  async #take(account: string, records: number): Promise<RecordsTaken> {
    await this.assertWritable(account);
    const free = () =>
      (this.subscriptions.planOf(account).limits.records ?? Infinity) - this.#options.ledger.records(account);
    const turn = await this.#turns.take(account, records, free);
    const plan = this.subscriptions.planOf(account);
    return {
      recordsMax: turn.records,
      refusal: () => refusal(plan, 'records'),
      settle: async (isShort) => {
        turn.end();
        return isShort && (await this.subscriptions.upgraded(account, plan).catch(() => false));
      },
    };
  }

  #admit(change: Change, account: string, limit: 'lists' | 'feeds', count: () => number): void {
    const plan = this.subscriptions.planOf(account);
    const searches = plan.limits.searches_a_month ?? Infinity;
    if (this.#options.searches.searches(account) >= searches && plan.successor === undefined) {
      throw refusal(plan, 'searches_a_month');
    }
    if (plan.limits[limit] === undefined) return;
    const wanted = count() + 1;
    let fitting = plan;
    for (let next: Plan | undefined = plan; next !== undefined;) {
      fitting = next;
      next = this.#isNear(fitting, limit, wanted) ? this.subscriptions.successorOf(fitting) : undefined;
    }
    if (wanted > (fitting.limits[limit] ?? Infinity)) throw refusal(fitting, limit);
    if (fitting !== plan) this.subscriptions.upgrade(change, account, plan, fitting);
  }

  #metered(account: string, limit: Metered): number {
    const own = this.#meters.filter((meter) => meter.limit === limit);
    return own.reduce((sum, { used }) => sum + used(account), 0);
  }

  #isNear(plan: Plan, limit: Limit, used: number): boolean {
    const allowed = plan.limits[limit];
    // A plan may allow 0; then a usage of 0 is not near the limit.
    return allowed !== undefined && used > 0 && used * 100 >= allowed * this.#options.upgradePercent;
  }

  /** Checks the account in the next turn, if its plan has a successor. */
  #considerLater(account: string): void {
    if (this.#waiting.has(account) || this.subscriptions.planOf(account).successor === undefined) return;
    this.#waiting.add(account);
    const considering = nextTurn().then(() => {
      this.#waiting.delete(account);
      return this.consider(account);
    });
    this.#considering.add(considering);
    void considering.then(() => this.#considering.delete(considering));
  }

  async #consider(account: string): Promise<void> {
    for (let mayFollow = true; mayFollow;) {
      const plan = this.subscriptions.planOf(account);
      if (plan.successor === undefined) return;
      mayFollow = (await this.#isNearAny(account, plan)) && (await this.subscriptions.upgraded(account, plan));
    }
  }

  async #isNearAny(account: string, plan: Plan): Promise<boolean> {
    for (const limit of LIMITS) {
      if (plan.limits[limit] !== undefined && this.#isNear(plan, limit, await this.used(account, limit))) return true;
    }
    return false;
  }
}

function refusal({ name, limits }: Plan, limit: Limit): ServiceError {
  const allowed = (limits[limit] ?? 0).toLocaleString('en');
  return new ServiceError(
    'plan-limit',
    `The account's plan '${name}' has room for ${allowed} ${LIMIT_TEXTS[limit]}. Remove what is not needed any more, or have the account put on a larger plan; searches go on.`,
  );
}

/** Waits for the next turn of the event loop, so that changes of one turn are checked together. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
