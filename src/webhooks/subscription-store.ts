/** The webhooks of all accounts: the collection `webhooks` of `data/system`. Main thread only. */
import { CollectionStore, type Collection } from '../catalog/index.js';
import { ServiceError, uuidv7, type Clock, type EventType, type LmdbEnvironment } from '../platform/index.js';
import { newSecret } from './signature.js';
import type { Subscription } from './types.js';

const HOUR_MS = 3_600_000;

export interface SubscriptionSettings {
  readonly url: string;
  readonly events: readonly EventType[];
}

interface RemovedSubscription {
  readonly id: string;
}

export interface SubscriptionStoreOptions {
  readonly environment: LmdbEnvironment;
  readonly clock: Clock;
  /** Of one account. */
  readonly subscriptionsMax: number;
  readonly secretOverlapHours: number;
  /** Called when a change is on disk, before whoever asked for it is answered. */
  readonly onChange: (all: readonly Subscription[]) => void;
}

export class SubscriptionStore {
  private readonly store: CollectionStore;
  private readonly subscriptions: Collection<Subscription>;
  /** Deleted ones whose deliveries may still be in the queue. */
  private readonly removedOnes: Collection<RemovedSubscription>;
  /** By account. */
  private readonly wantedTypes = new Map<string, readonly EventType[]>();

  constructor(private readonly options: SubscriptionStoreOptions) {
    this.store = CollectionStore.of(options.environment);
    this.subscriptions = this.store.collection('webhooks');
    this.removedOnes = this.store.collection('removed-webhooks');
    this.countWanted();
  }

  all(): readonly Subscription[] {
    return [...this.subscriptions.values()];
  }

  /** Ids of deleted ones that the queue is to forget: only these, for one that is not known may be of a newer catalogue. */
  removed(): readonly string[] {
    return Array.from(this.removedOnes.values(), ({ id }) => id);
  }

  /** The queue has nothing of these any more. */
  async forgotten(ids: readonly string[]): Promise<void> {
    await this.store.change((change) => {
      for (const id of ids) if (this.removedOnes.has(id)) change.remove(this.removedOnes, id);
    });
  }

  /** In the order in which they were made. */
  of(account: string): readonly Subscription[] {
    const own = this.all().filter((each) => each.account === account);
    return own.sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  get(account: string, id: string): Subscription | undefined {
    const found = this.subscriptions.get(id);
    return found?.account === account ? found : undefined;
  }

  /** The types that any webhook of the account wants; mostly none. */
  wanted(account: string): readonly EventType[] {
    return this.wantedTypes.get(account) ?? [];
  }

  /** Rejects with `conflict` where the account has too many. The secret is in the result. */
  async create(account: string, settings: SubscriptionSettings): Promise<Subscription> {
    const { clock, subscriptionsMax } = this.options;
    const created = await this.store.change((change) => {
      if (this.of(account).length >= subscriptionsMax) {
        throw new ServiceError('conflict', `The account has ${subscriptionsMax} webhooks: delete one first.`);
      }
      const now = clock.nowIso();
      const subscription: Subscription = {
        id: uuidv7(),
        account,
        ...settings,
        secret: newSecret(),
        previous_secret: null,
        previous_secret_until: null,
        created_utc: now,
        modified_utc: now,
      };
      change.put(this.subscriptions, subscription.id, subscription);
      return subscription;
    });
    this.changed();
    return created;
  }

  /** Rejects with `webhook-not-found`. */
  update(account: string, id: string, settings: Partial<SubscriptionSettings>): Promise<Subscription> {
    return this.replace(account, id, (before) => ({ ...before, ...settings }));
  }

  /** Gives it a new secret; the one before signs beside it for some hours. Rejects with `webhook-not-found`. */
  rotateSecret(account: string, id: string): Promise<Subscription> {
    const { clock, secretOverlapHours } = this.options;
    return this.replace(account, id, (before) => ({
      ...before,
      secret: newSecret(),
      previous_secret: before.secret,
      previous_secret_until: new Date(clock.nowMs() + secretOverlapHours * HOUR_MS).toISOString(),
    }));
  }

  /** Rejects with `webhook-not-found`. */
  async delete(account: string, id: string): Promise<void> {
    await this.store.change((change) => {
      this.required(account, id);
      change.remove(this.subscriptions, id);
      change.put(this.removedOnes, id, { id });
    });
    this.changed();
  }

  /** Throws `webhook-not-found`. */
  required(account: string, id: string): Subscription {
    const found = this.get(account, id);
    if (found !== undefined) return found;
    throw new ServiceError('webhook-not-found', `The account '${account}' has no webhook with this id.`);
  }

  private async replace(
    account: string,
    id: string,
    next: (before: Subscription) => Subscription,
  ): Promise<Subscription> {
    const replaced = await this.store.change((change) => {
      const subscription = { ...next(this.required(account, id)), modified_utc: this.options.clock.nowIso() };
      change.put(this.subscriptions, id, subscription);
      return subscription;
    });
    this.changed();
    return replaced;
  }

  private changed(): void {
    this.countWanted();
    this.options.onChange(this.all());
  }

  private countWanted(): void {
    const types = new Map<string, Set<EventType>>();
    for (const { account, events } of this.subscriptions.values()) {
      const wanted = types.get(account) ?? new Set();
      for (const type of events) wanted.add(type);
      types.set(account, wanted);
    }
    this.wantedTypes.clear();
    for (const [account, wanted] of types) this.wantedTypes.set(account, [...wanted]);
  }
}
