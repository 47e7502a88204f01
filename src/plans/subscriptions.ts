/** Plans of accounts. Main thread only. */
import { CollectionStore, type Catalog, type Change, type Collection } from '../catalog/index.js';
import type { Trouble } from '../operations/index.js';
import { ServiceError, type Clock, type LmdbEnvironment } from '../platform/index.js';
import { UNLIMITED, type Plan, type SubscriptionRecord } from './types.js';

export interface Subscription {
  readonly plan: Plan;
  /** Null if the account has had the plan from the beginning. */
  readonly since_utc: string | null;
}

export interface SubscriptionsOptions {
  readonly environment: LmdbEnvironment;
  readonly plans: ReadonlyMap<string, Plan>;
  readonly catalog: Pick<Catalog, 'account'>;
  readonly clock: Clock;
}

export class Subscriptions {
  readonly #options: SubscriptionsOptions;
  readonly #store: CollectionStore;
  readonly #rows: Collection<SubscriptionRecord>;

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
    this.#store = CollectionStore.of(options.environment);
    this.#rows = this.#store.collection('subscriptions');
  }

  /** Names of plans that accounts have but the settings do not offer; these accounts have no limits. */
  get unknownPlans(): readonly string[] {
    return [...this.#accountsOfUnknownPlans().keys()];
  }

  /** One for each plan that the settings do not offer, such as one that was renamed there. */
  troubles(): Trouble[] {
    return [...this.#accountsOfUnknownPlans()].map(([name, accounts]) => {
      const whose = accounts === 1 ? 'An account has' : `${accounts} accounts have`;
      const detail = `${whose} this plan, which plans.offered does not have: there are no limits. Offer it again, or set another plan.`;
      return { kind: 'plan', account: '', name, detail, since_utc: null };
    });
  }

  /** Numbers of accounts by plan. */
  #accountsOfUnknownPlans(): ReadonlyMap<string, number> {
    const accounts = new Map<string, number>();
    for (const { plan } of this.#rows.values())
      if (!this.#options.plans.has(plan)) accounts.set(plan, (accounts.get(plan) ?? 0) + 1);
    return accounts;
  }

  of(account: string): Subscription {
    const row = this.#rows.get(account);
    if (row === undefined) return { plan: UNLIMITED, since_utc: null };
    const { plan, since_utc } = row;
    return { plan: this.#options.plans.get(plan) ?? { ...UNLIMITED, name: plan }, since_utc };
  }

  planOf(account: string): Plan {
    return this.#rows.has(account) ? this.of(account).plan : UNLIMITED;
  }

  successorOf({ successor }: Plan): Plan | undefined {
    return successor === undefined ? undefined : this.#options.plans.get(successor);
  }

  /** Rejects with `unprocessable` if there is no such plan, and `account-not-found`. */
  set(account: string, name: string): Promise<Subscription> {
    return this.#store.change((change) => {
      this.put(change, account, name);
      return { plan: this.#options.plans.get(name) ?? UNLIMITED, since_utc: this.#options.clock.nowIso() };
    });
  }

  /** Like `set`, inside a change. */
  put(change: Change, account: string, name: string): void {
    if (this.#options.catalog.account(account) === undefined) {
      throw new ServiceError('account-not-found', `There is no account '${account}'.`);
    }
    this.putNew(change, account, name);
  }

  /** As `put`, for an account that the same change creates. */
  putNew(change: Change, account: string, name: string): void {
    const { plans, clock } = this.#options;
    if (name === UNLIMITED.name) {
      if (this.#rows.has(account)) change.remove(this.#rows, account);
      return;
    }
    if (!plans.has(name)) {
      const names = [UNLIMITED.name, ...plans.keys()].join(', ');
      const detail = `There is no plan '${name}'. The plans are ${names}.`;
      throw new ServiceError('unprocessable', detail, { errors: [{ pointer: '/plan', detail }] });
    }
    change.put(this.#rows, account, { account, plan: name, since_utc: clock.nowIso() });
  }

  /** Inside a change: upgrades from plan to plan, with an event for each step. `from` is the account's current plan. */
  upgrade(change: Change, account: string, from: Plan, to: Plan): void {
    for (let plan = from; plan.name !== to.name;) {
      const next = this.successorOf(plan);
      if (next === undefined) throw new Error(`the plan '${to.name}' does not follow '${from.name}'`);
      const data = { from_plan: plan.name, to_plan: next.name };
      change.emit(account, { type: 'subscription.auto-upgraded', id: account, list: '', data });
      plan = next;
    }
    this.put(change, account, to.name);
  }

  /** True if the account is now on a plan other than `from`, even if another caller upgraded it. */
  upgraded(account: string, from: Plan): Promise<boolean> {
    const next = this.successorOf(from);
    return this.#store.change((change) => {
      if (this.planOf(account).name !== from.name) return true;
      if (next === undefined) return false;
      this.upgrade(change, account, from, next);
      return true;
    });
  }

  /** Removes the plan of a deleted account. */
  forget(account: string): Promise<void> {
    return this.#store.change((change) => {
      if (this.#rows.has(account)) change.remove(this.#rows, account);
    });
  }
}
