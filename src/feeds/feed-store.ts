/** The feeds of all accounts, kept in `data/system`, where their secrets are sealed. Used on the main thread only. */
import {
  assertAccount,
  CollectionStore,
  compositeKey,
  type Change,
  type Collection,
  type GroupedBy,
} from '../catalog/index.js';
import {
  assertName,
  pageOf,
  SecretUnreadableError,
  ServiceError,
  uuidv7,
  type Clock,
  type LmdbEnvironment,
  type Page,
  type Secret,
  type SecretBox,
  type WantedPage,
} from '../platform/index.js';
import type { Plans } from '../plans/index.js';
import { FEED_NOT_FOUND } from './feed-problems.js';
import { NEW_FEED } from './runs/feed-state.js';
import type { FeedRow } from './types.js';

/** Names that no feed may have because they are parts of the interface's paths. */
const RESERVED: ReadonlySet<string> = new Set(['connect', 'web']);

export interface NewFeed extends Pick<FeedRow, 'account' | 'name' | 'provider' | 'media_store' | 'interval_minutes'> {
  readonly secret: Secret | undefined;
}

export class FeedStore {
  private readonly store: CollectionStore;
  private readonly rows: Collection<FeedRow>;
  private readonly byAccount: GroupedBy<FeedRow>;
  /** Up to date as soon as a change is on disk, before the next change looks at it. */
  private readonly byId: (id: string) => FeedRow | undefined;

  constructor(
    environment: LmdbEnvironment,
    private readonly secrets: SecretBox,
    private readonly options: {
      readonly clock: Clock;
      readonly feedsMax: number;
      readonly plans: Pick<Plans, 'admitFeed'>;
    },
  ) {
    this.store = CollectionStore.of(environment);
    this.rows = this.store.collection('feeds');
    this.byAccount = this.rows.groupBy(({ account }) => account);
    this.byId = this.rows.lookUpBy(({ id }) => id);
    secrets.keptBy(() => this.reseal());
  }

  all(): IterableIterator<FeedRow> {
    return this.rows.values();
  }

  get(id: string): FeedRow | undefined {
    return this.byId(id);
  }

  named(account: string, name: string): FeedRow | undefined {
    return this.rows.get(compositeKey(account, name));
  }

  /** Returns the feed of the account with this name. Throws `feed-not-found`. */
  required(account: string, name: string): FeedRow {
    const row = this.named(account, name);
    if (row !== undefined) return row;
    const names = () => this.of(account).map((feed) => feed.name);
    throw new ServiceError(FEED_NOT_FOUND, `The account '${account}' has no feed '${name}'.`, {
      meant: { given: name, permission: 'feed:read', names },
    });
  }

  of(account: string): FeedRow[] {
    return [...this.byAccount.of(account)];
  }

  /** Returns a page of the account's feeds in the order of their names. The cursor is the name. */
  page(account: string, { after, size }: WantedPage): Page<FeedRow> {
    return pageOf(this.rows.from(`${account}/`, after), ({ name }) => name, size);
  }

  count(account: string): number {
    return this.byAccount.countOf(account);
  }

  /**
   * Throws `invalid-name` for a name that no feed can have, `name-exists` for one that is taken, and `conflict` if the
   * account has too many feeds.
   */
  assertFree(account: string, name: string): void {
    assertName('feed', name);
    if (RESERVED.has(name)) {
      const detail = `'${name}' is reserved and cannot be the name of a feed.`;
      throw new ServiceError('invalid-name', detail, { errors: [{ pointer: '/name', detail }] });
    }
    if (this.named(account, name) !== undefined)
      throw new ServiceError('name-exists', `The account already has a feed '${name}'.`);
    if (this.count(account) >= this.options.feedsMax)
      throw new ServiceError(
        'conflict',
        `The account already has ${this.options.feedsMax} feeds, the most that it can have: delete one first.`,
      );
  }

  /**
   * Keeps a new feed together with whatever `also` changes. `also` throws if something that the feed needs has been
   * deleted meanwhile; the method then rejects with that error.
   */
  async create(
    { secret, ...given }: NewFeed,
    also: (change: Change, row: FeedRow) => void = () => undefined,
  ): Promise<FeedRow> {
    const id = uuidv7();
    const row: FeedRow = {
      id,
      ...given,
      leaving: null,
      secret: secret === undefined ? null : this.sealed({ id }, secret),
      state: NEW_FEED,
      next_sync: null,
      created_utc: this.options.clock.nowIso(),
    };
    await this.store.change((change) => {
      assertAccount(this.store, given.account);
      this.assertFree(given.account, given.name);
      this.options.plans.admitFeed(change, given.account, () => this.count(given.account));
      change.put(this.rows, keyOf(row), row);
      also(change, row);
    });
    return row;
  }

  /**
   * Changes the row of a feed together with whatever `also` changes, in one step. Resolves with undefined if the feed
   * has been deleted meanwhile.
   */
  change(
    id: string,
    next: (before: FeedRow) => Partial<FeedRow>,
    also?: (change: Change) => void,
  ): Promise<FeedRow | undefined> {
    return this.store.change((change) => {
      const before = this.byId(id);
      if (before === undefined) return undefined;
      const row = { ...before, ...next(before) };
      change.put(this.rows, keyOf(row), row);
      also?.(change);
      return row;
    });
  }

  /** Deletes all of these feeds in one step. */
  delete(...feeds: readonly FeedRow[]): Promise<void> {
    return this.store.change((change) => {
      for (const { id } of feeds) {
        const row = this.byId(id);
        if (row !== undefined) change.remove(this.rows, keyOf(row));
      }
    });
  }

  /** Returns the secret as it is kept in the row of the feed. */
  sealed({ id }: Pick<FeedRow, 'id'>, secret: Secret): string {
    return this.secrets.seal(secret, placeOf(id));
  }

  /** Returns the secret of the feed, or undefined if it has none. Throws a SecretUnreadableError. */
  secretOf({ id, secret }: FeedRow): Secret | undefined {
    return secret === null ? undefined : this.secrets.open(secret, placeOf(id));
  }

  /**
   * Seals with the current key the secrets that are sealed with an older one. Secrets that cannot be opened stay as
   * they are, because their key may come back.
   */
  private reseal(): Promise<number> {
    return this.store.change((change) => {
      const rows = [...this.rows.values()].flatMap((row): FeedRow[] => {
        const secret = row.secret === null || this.secrets.isCurrent(row.secret) ? undefined : this.opened(row);
        return secret === undefined ? [] : [{ ...row, secret: this.sealed(row, secret) }];
      });
      for (const row of rows) change.put(this.rows, keyOf(row), row);
      return rows.length;
    });
  }

  private opened(row: FeedRow): Secret | undefined {
    try {
      return this.secretOf(row);
    } catch (error) {
      if (error instanceof SecretUnreadableError) return undefined;
      throw error;
    }
  }
}

function keyOf({ account, name }: FeedRow): string {
  return compositeKey(account, name);
}

function placeOf(id: string): string {
  return `feed/${id}`;
}
