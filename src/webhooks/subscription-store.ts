/**
 * The webhooks of all accounts: the collection `webhooks` of `data/system`, in which their secrets are sealed. In
 * memory, secrets are open. Main thread only.
 */
import { assertAccount, CollectionStore, type Collection, type GroupedBy } from '../catalog/index.js';
import {
  pageOf,
  Secret,
  SecretUnreadableError,
  ServiceError,
  uuidv7,
  type Clock,
  type LmdbEnvironment,
  type Page,
  type SecretBox,
  type WantedPage,
} from '../platform/index.js';
import { newSecret } from './signature.js';
import { SubscriptionsByAccount } from './subscriptions-by-account.js';
import type { StoredSubscription, Subscription } from './types.js';
import { WEBHOOK_NOT_FOUND } from './webhook-problems.js';

const HOUR_MS = 3_600_000;

export interface SubscriptionSettings {
  readonly url: string;
  readonly events: readonly string[];
}

interface RemovedSubscription {
  readonly id: string;
}

/** A subscription that was created or changed, or ids of deleted ones. */
export type SubscriptionChange = { readonly put: Subscription } | { readonly removed: readonly string[] };

export interface SubscriptionStoreOptions {
  readonly environment: LmdbEnvironment;
  readonly secrets: SecretBox;
  readonly clock: Clock;
  /** Limit per account. */
  readonly subscriptionsMax: number;
  readonly secretOverlapHours: number;
  /**
   * Called when a change is on disk, before its caller is answered. Resolves when the change applies to everything
   * requested from now on. Never rejects.
   */
  readonly onChange: (change: SubscriptionChange) => Promise<void>;
  /** Called with the webhook's id if a secret cannot be opened. */
  readonly onUnreadable: (id: string, error: SecretUnreadableError) => void;
}

/**
 * A webhook whose secret was just created and is shown: to a key only this once, to the console and the command line
 * also later.
 */
export interface WithSecret {
  readonly subscription: Subscription;
  readonly secret: Secret;
}

export class SubscriptionStore {
  private readonly store: CollectionStore;
  private readonly rows: Collection<StoredSubscription>;
  /** Deleted subscriptions whose deliveries may still be in the queue. */
  private readonly removedOnes: Collection<RemovedSubscription>;
  /** The rows with opened secrets. As up to date as the rows, whatever order promises are settled in. */
  private readonly subscriptions = new SubscriptionsByAccount();
  private readonly byAccount: GroupedBy<StoredSubscription>;

  constructor(private readonly options: SubscriptionStoreOptions) {
    this.store = CollectionStore.of(options.environment);
    this.rows = this.store.collection('webhooks');
    this.removedOnes = this.store.collection('removed-webhooks');
    this.byAccount = this.rows.groupBy(({ account }) => account);
    for (const row of this.rows.values()) this.subscriptions.put(this.opened(row));
    this.rows.follow({
      changed: (before, after) => {
        if (after !== undefined) this.subscriptions.put(this.opened(after));
        else if (before !== undefined) this.subscriptions.delete(before.id);
      },
    });
    options.secrets.keptBy(() => this.reseal());
  }

  all(): readonly Subscription[] {
    return [...this.subscriptions.all()];
  }

  /** Number of webhooks of all accounts. */
  get size(): number {
    return this.subscriptions.size;
  }

  /**
   * Returns the ids of deleted subscriptions, whose deliveries the queue has to remove. It must not remove those of
   * unknown ones, which may belong to a newer catalogue.
   */
  removed(): readonly string[] {
    return Array.from(this.removedOnes.values(), ({ id }) => id);
  }

  /** Forgets these deleted subscriptions, of which the queue has nothing left. */
  async forgotten(ids: readonly string[]): Promise<void> {
    await this.store.change((change) => {
      for (const id of ids) if (this.removedOnes.has(id)) change.remove(this.removedOnes, id);
    });
  }

  /** Returns a page in the order of creation; the cursor is the id. */
  page(account: string, { after, size }: WantedPage): Page<Subscription> {
    return pageOf(this.of(account, after), ({ id }) => id, size);
  }

  private *of(account: string, after: string | undefined): Generator<Subscription> {
    for (const { id } of this.byAccount.of(account, after)) {
      const subscription = this.subscriptions.get(id);
      if (subscription !== undefined) yield subscription;
    }
  }

  get(account: string, id: string): Subscription | undefined {
    const found = this.subscriptions.get(id);
    return found?.account === account ? found : undefined;
  }

  /** Finds a subscription of any account. */
  find(id: string): Subscription | undefined {
    return this.subscriptions.get(id);
  }

  /** Returns the event types that webhooks of the account subscribe to; mostly none. */
  wanted(account: string): readonly string[] {
    return this.subscriptions.wanted(account);
  }

  /** Returns `nowMs`, but not before the account's last webhook was created. */
  eventTime(account: string, nowMs: number): number {
    return Math.max(nowMs, this.subscriptions.lastMadeMs(account));
  }

  /** Rejects with `conflict` if the account has too many webhooks. */
  async create(account: string, settings: SubscriptionSettings): Promise<WithSecret> {
    const { clock, subscriptionsMax } = this.options;
    const secret = newSecret();
    const created = await this.store.change((change) => {
      assertAccount(this.store, account);
      if (this.subscriptions.countOf(account) >= subscriptionsMax) {
        throw new ServiceError(
          'conflict',
          `The account already has ${subscriptionsMax} webhooks, the most that it can have: delete one first.`,
        );
      }
      const now = clock.nowIso();
      const id = uuidv7();
      const row: StoredSubscription = {
        id,
        account,
        ...settings,
        secret: this.sealed(id, secret),
        previous_secret: null,
        previous_secret_until: null,
        created_utc: now,
        modified_utc: now,
      };
      change.put(this.rows, id, row);
      return row;
    });
    return { subscription: await this.changed(created), secret };
  }

  /** Rejects with `webhook-not-found`. */
  update(account: string, id: string, settings: Partial<SubscriptionSettings>): Promise<Subscription> {
    return this.replace(account, id, (before) => ({ ...before, ...settings }));
  }

  /** Creates a new secret; the previous one also signs for some hours. Rejects with `webhook-not-found`. */
  async rotateSecret(account: string, id: string): Promise<WithSecret> {
    const { clock, secretOverlapHours } = this.options;
    const secret = newSecret();
    const until = new Date(clock.nowMs() + secretOverlapHours * HOUR_MS).toISOString();
    const subscription = await this.replace(account, id, (before) => {
      // A secret that cannot be opened signs nothing.
      const signs = this.subscriptions.get(id)?.secret !== null;
      const previous = signs
        ? { previous_secret: before.secret, previous_secret_until: until }
        : { previous_secret: null, previous_secret_until: null };
      return { ...before, secret: this.sealed(id, secret), ...previous };
    });
    return { subscription, secret };
  }

  /** Rejects with `webhook-not-found`. */
  async delete(account: string, id: string): Promise<void> {
    await this.store.change((change) => {
      this.required(account, id);
      change.remove(this.rows, id);
      change.put(this.removedOnes, id, { id });
    });
    this.gone([id]);
  }

  /** Deletes all webhooks of an account that is gone. */
  async deleteOf(account: string): Promise<void> {
    const ids = await this.store.change((change) => {
      const found = Array.from(this.subscriptions.of(account), ({ id }) => id);
      for (const id of found) {
        change.remove(this.rows, id);
        change.put(this.removedOnes, id, { id });
      }
      return found;
    });
    if (ids.length > 0) this.gone(ids);
  }

  /** Throws `webhook-not-found`. */
  required(account: string, id: string): Subscription {
    const found = this.get(account, id);
    if (found !== undefined) return found;
    throw new ServiceError(WEBHOOK_NOT_FOUND, `The account '${account}' has no webhook with this id.`);
  }

  private async replace(
    account: string,
    id: string,
    next: (before: StoredSubscription) => StoredSubscription,
  ): Promise<Subscription> {
    const replaced = await this.store.change((change) => {
      const before = this.rows.get(this.required(account, id).id) as StoredSubscription;
      const row = { ...next(before), modified_utc: this.options.clock.nowIso() };
      change.put(this.rows, id, row);
      return row;
    });
    return this.changed(replaced);
  }

  private async changed(row: StoredSubscription): Promise<Subscription> {
    const subscription = this.subscriptions.get(row.id) ?? this.opened(row);
    await this.options.onChange({ put: subscription });
    return subscription;
  }

  private gone(removed: readonly string[]): void {
    void this.options.onChange({ removed });
  }

  // ---- secrets

  private sealed(id: string, secret: Secret): string {
    return this.options.secrets.seal(secret, placeOf(id));
  }

  private opened(row: StoredSubscription): Subscription {
    const { id, secret, previous_secret: previous } = row;
    return {
      ...row,
      secret: this.open(id, secret),
      previous_secret: previous === null ? null : this.open(id, previous),
    };
  }

  private open(id: string, kept: string): Secret | null {
    const { secrets, onUnreadable } = this.options;
    // Stored before there was a secret box.
    if (!secrets.isSealed(kept)) return new Secret(kept);
    try {
      return secrets.open(kept, placeOf(id));
    } catch (error) {
      if (!(error instanceof SecretUnreadableError)) throw error;
      onUnreadable(id, error);
      return null;
    }
  }

  /** Seals secrets with the newest key. Those that cannot be opened stay as they are, since their key may come back. */
  private reseal(): Promise<number> {
    return this.store.change((change) => {
      const { secrets } = this.options;
      let count = 0;
      const resealed = (id: string, kept: string | null, secret: Secret | null): string | null => {
        if (kept === null || secret === null || secrets.isCurrent(kept)) return kept;
        count += 1;
        return this.sealed(id, secret);
      };
      for (const row of this.rows.values()) {
        const { id, secret, previous_secret: previous } = row;
        const open = this.subscriptions.get(id);
        const before = count;
        const next = {
          secret: resealed(id, secret, open?.secret ?? null) ?? secret,
          previous_secret: resealed(id, previous, open?.previous_secret ?? null),
        };
        if (count > before) change.put(this.rows, id, { ...row, ...next });
      }
      return count;
    });
  }
}

function placeOf(id: string): string {
  return `webhook/${id}`;
}
