/** API keys in the `system` environment; `Access` documents the guarantees. Main thread only. */
import {
  accountsIn,
  assertAccount,
  CollectionStore,
  type Change,
  type Collection,
  type GroupedBy,
} from '../catalog/index.js';
import {
  pageOf,
  ServiceError,
  uuidv7,
  type Clock,
  type LmdbEnvironment,
  type Page,
  type WantedPage,
} from '../platform/index.js';
import type { Timers } from '../platform/work/index.js';
import { cliCaller, keyCaller } from './caller.js';
import { keyEvent } from './key-event.js';
import { KeyUses } from './key-uses.js';
import { hashBytes, isDigestOf, KEY_CHARACTERS_MAX, keyDigest, keyHash, newKeyText } from './key-secrets.js';
import type { Access, ApiKeyRecord, Caller, KeyScope, NewKey } from './types.js';

/**
 * Maximum number of keys of an account; beyond it, creating one is a conflict unless expired keys can be removed. So
 * many keys mean that somebody forgets to delete them.
 */
export const KEYS_PER_ACCOUNT_MAX = 10_000;
const LAST_CHARACTERS = 4;
/** Number of keys that one change deletes; other changes run in between. */
const DELETED_AT_ONCE_MAX = 1000;
/**
 * Keys are removed to make room only if they expired at least this long ago, so that a clock that is some hours ahead
 * deletes no working key.
 */
const EXPIRED_MS_MIN = 86_400_000;

/** Reads every key's record into memory; the keys themselves are not stored. `timers`: default those of the system. */
export function openAccess(environment: LmdbEnvironment, clock: Clock, timers?: Timers): Promise<Access> {
  const store = CollectionStore.of(environment);
  return Promise.resolve(new StoredAccess(store, clock, new KeyUses(store, clock, timers)));
}

/** An active key, as `authenticate` needs it. */
interface ActiveKey {
  readonly hashBytes: Buffer;
  /** Undefined: never. */
  readonly expiresAtMs: number | undefined;
  readonly caller: Caller;
  /** Id by which uses are counted. */
  readonly id: string;
}

/** An unknown key is compared with this one, so that it takes the same time. */
const NO_KEY: ActiveKey = { hashBytes: hashBytes(keyHash('')), expiresAtMs: undefined, caller: cliCaller, id: '' };

class StoredAccess implements Access {
  readonly cli: Caller = cliCaller;
  readonly #store: CollectionStore;
  readonly #accounts: ReturnType<typeof accountsIn>;
  readonly #clock: Clock;
  readonly #keys: Collection<ApiKeyRecord>;
  readonly #byAccount: GroupedBy<ApiKeyRecord>;
  /** By `keyDigest`. */
  readonly #active = new Map<string, ActiveKey>();

  constructor(
    store: CollectionStore,
    clock: Clock,
    readonly uses: KeyUses,
  ) {
    this.#store = store;
    this.#accounts = accountsIn(store);
    this.#clock = clock;
    this.#keys = store.collection('api-keys');
    this.#byAccount = this.#keys.groupBy(({ account }) => account);
    for (const record of this.#keys.values()) this.#activate(record);
    // With the change itself: after it, another change may already have deleted the key again.
    this.#keys.follow({
      changed: (before, after) => {
        if (before === undefined && after !== undefined) this.#activate(after);
      },
    });
  }

  authenticate(header: string | undefined): Caller {
    const text = header !== undefined && header.length <= KEY_CHARACTERS_MAX ? header : '';
    const digest = keyDigest(text);
    const key = this.#active.get(digest) ?? NO_KEY;
    const isSame = isDigestOf(digest, key.hashBytes);
    if (!isSame || key === NO_KEY || this.#isExpired(key) || this.#isOfNobody(key)) throw invalidKey();
    this.uses.used(key);
    return key.caller;
  }

  isInForce(record: ApiKeyRecord): boolean {
    const key = this.#active.get(digestOf(record));
    return key !== undefined && !this.#isExpired(key) && !this.#isOfNobody(key);
  }

  async createKey(key: NewKey): Promise<{ readonly record: ApiKeyRecord; readonly secret: string }> {
    const secret = newKeyText(key.region);
    const record = await this.#store.change((change) => {
      assertAccount(this.#store, key.account);
      this.#makeRoom(change, key.account);
      const id = uuidv7();
      const created = change.put<ApiKeyRecord>(this.#keys, id, {
        id,
        ...key,
        created_utc: this.#clock.nowIso(),
        hash: keyHash(secret),
        last_four: secret.slice(-LAST_CHARACTERS),
      });
      change.emit(created.account, keyEvent('api-key.created', created));
      return created;
    });
    return { record, secret };
  }

  keys(account: string): readonly ApiKeyRecord[] {
    return [...this.#byAccount.of(account)];
  }

  keyPage(account: string, { after, size }: WantedPage): Page<ApiKeyRecord> {
    return pageOf(this.#byAccount.of(account, after), ({ id }) => id, size);
  }

  async deleteKey(account: string, id: string): Promise<boolean> {
    const deleted = await this.#delete(() => {
      const key = this.#keys.get(id);
      return key?.account === account ? [key] : [];
    });
    return deleted.length > 0;
  }

  /** Deletes some keys at a time. None of them works any more, because the account is gone. */
  async deleteKeysOfAccount(account: string): Promise<void> {
    while (this.#byAccount.countOf(account) > 0)
      await this.#delete(() => this.keys(account).slice(0, DELETED_AT_ONCE_MAX));
  }

  deleteKeysOf(account: string, scope: KeyScope, target: string): Promise<readonly ApiKeyRecord[]> {
    return this.#delete(() => this.keys(account).filter((key) => key.scope === scope && key.scope_target === target));
  }

  /**
   * Makes room for another key, inside a change: if the account has the maximum number of keys, removes some that
   * expired a day ago or earlier. Throws `conflict` if there are none.
   */
  #makeRoom(change: Change, account: string): void {
    if (this.#byAccount.countOf(account) < KEYS_PER_ACCOUNT_MAX) return;
    const dayAgo = new Date(this.#clock.nowMs() - EXPIRED_MS_MIN).toISOString();
    const expired = this.keys(account).filter(({ expires_at: at }) => at !== null && at <= dayAgo);
    if (expired.length === 0) {
      const detail = `The account already has ${KEYS_PER_ACCOUNT_MAX} keys, the most that it can have, and none of them expired more than a day ago. Delete a key first.`;
      throw new ServiceError('conflict', detail);
    }
    for (const key of expired.slice(0, DELETED_AT_ONCE_MAX)) this.#revoke(change, key);
  }

  #revoke(change: Change, key: ApiKeyRecord): void {
    this.#active.delete(digestOf(key));
    change.remove(this.#keys, key.id);
    this.uses.remove(change, key);
    change.emit(key.account, keyEvent('api-key.deleted', key));
  }

  /**
   * Keys stop working before their deletion is on disk, because a revocation must not wait. `found` is called when all
   * earlier changes are done.
   */
  async #delete(found: () => readonly ApiKeyRecord[]): Promise<readonly ApiKeyRecord[]> {
    const revoked: ApiKeyRecord[] = [];
    try {
      return await this.#store.change((change) => {
        revoked.push(...found());
        for (const key of revoked) this.#revoke(change, key);
        return revoked;
      });
    } catch (error) {
      for (const key of revoked) this.#activate(key);
      throw error;
    }
  }

  #isExpired({ expiresAtMs }: ActiveKey): boolean {
    return expiresAtMs !== undefined && this.#clock.nowMs() >= expiresAtMs;
  }

  /** True if the account is gone: a crash or a full disk may have left some of its keys. */
  #isOfNobody({ caller: { account } }: ActiveKey): boolean {
    return account === undefined || !this.#accounts.has(account);
  }

  #activate(record: ApiKeyRecord): void {
    const expiresAtMs = record.expires_at === null ? undefined : Date.parse(record.expires_at);
    const { id, hash } = record;
    const key: ActiveKey = { hashBytes: hashBytes(hash), expiresAtMs, caller: keyCaller(record), id };
    this.#active.set(digestOf(record), key);
  }
}

function digestOf({ hash }: ApiKeyRecord): string {
  return hashBytes(hash).toString('latin1');
}

/** Returns the same error for every key that does not work. */
function invalidKey(): ServiceError {
  return new ServiceError(
    'invalid-key',
    'Send a valid API key in the X-API-Key header (at /mcp also as a bearer token). The key is missing, mistyped, expired or deleted.',
  );
}
