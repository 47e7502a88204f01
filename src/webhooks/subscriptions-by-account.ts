/**
 * Subscriptions by id and by account, so that an event or a change of one account costs nothing for the webhooks of
 * others.
 */
import type { Subscription } from './types.js';

const NO_TYPES: readonly string[] = [];
const NONE: ReadonlySet<Subscription> = new Set();

export class SubscriptionsByAccount {
  private readonly byId = new Map<string, Subscription>();
  private readonly byAccount = new Map<string, Set<Subscription>>();
  /** Number of subscriptions per account and event type. */
  private readonly wanting = new Map<string, Map<string, number>>();
  /** Cached results of `wanted`, which is called at each commit. */
  private readonly told = new Map<string, readonly string[]>();

  /** Cached results of `lastMadeMs`. */
  private readonly lastMade = new Map<string, number>();

  get size(): number {
    return this.byId.size;
  }

  get(id: string): Subscription | undefined {
    return this.byId.get(id);
  }

  all(): Iterable<Subscription> {
    return this.byId.values();
  }

  /** Returns the event types that subscriptions of the account want. */
  wanted(account: string): readonly string[] {
    const types = this.wanting.get(account);
    if (types === undefined) return NO_TYPES;
    const told = this.told.get(account) ?? [...types.keys()];
    this.told.set(account, told);
    return told;
  }

  /**
   * Returns when the account's last subscription was created, in milliseconds by the clock of that time; 0 if the
   * account has none.
   */
  lastMadeMs(account: string): number {
    const own = this.byAccount.get(account);
    if (own === undefined) return 0;
    const known = this.lastMade.get(account) ?? Math.max(...Array.from(own, (each) => Date.parse(each.created_utc)));
    this.lastMade.set(account, known);
    return known;
  }

  of(account: string): Iterable<Subscription> {
    return this.byAccount.get(account) ?? NONE;
  }

  countOf(account: string): number {
    return (this.byAccount.get(account) ?? NONE).size;
  }

  /** Adds a subscription, or replaces the one with its id. */
  put(subscription: Subscription): void {
    this.delete(subscription.id);
    this.byId.set(subscription.id, subscription);
    const own = this.byAccount.get(subscription.account) ?? new Set();
    this.byAccount.set(subscription.account, own.add(subscription));
    this.lastMade.delete(subscription.account);
    this.count(subscription, 1);
  }

  delete(id: string): void {
    const known = this.byId.get(id);
    if (known === undefined) return;
    this.byId.delete(id);
    const own = this.byAccount.get(known.account);
    own?.delete(known);
    if (own?.size === 0) this.byAccount.delete(known.account);
    this.lastMade.delete(known.account);
    this.count(known, -1);
  }

  private count({ account, events }: Subscription, change: 1 | -1): void {
    const types = this.wanting.get(account) ?? new Map<string, number>();
    for (const type of new Set(events)) {
      const before = types.get(type);
      const count = (before ?? 0) + change;
      if (before === undefined || count === 0) this.told.delete(account);
      if (count === 0) types.delete(type);
      else types.set(type, count);
    }
    if (types.size === 0) this.wanting.delete(account);
    else this.wanting.set(account, types);
  }
}
