/** Keys, scopes and permissions. */
import type { Page, WantedPage } from '../platform/index.js';
import type { KeyUses } from './key-uses.js';

export type KeyScope = 'account' | 'list' | 'group';

export interface ApiKeyRecord {
  readonly id: string;
  readonly account: string;
  readonly name: string;
  readonly scope: KeyScope;
  readonly scope_target: string | null;
  /**
   * Identifies the list or group that was meant: the list's id, or the group's creation time. Another one that takes
   * the name is not reached. Absent in keys of earlier releases, which apply to whatever has the name.
   */
  readonly scope_target_id?: string;
  readonly region: string;
  /** Empty: full access. */
  readonly permissions: readonly string[];
  readonly expires_at: string | null;
  readonly created_utc: string;
  /** Hexadecimal SHA-256 of the whole key. The key itself is never stored. */
  readonly hash: string;
  /** Last four characters of the key, for display. */
  readonly last_four: string;
}

/**
 * Kind of caller. `cli` is the command line on the same machine (control socket, file permissions), which may do
 * everything.
 */
export type CallerKind = 'key' | 'console' | 'cli';

export interface PersonSession {
  readonly id: string;
  readonly personId: string;
  /** Token that requests of this session must have if they change anything. */
  csrfToken(): string;
}

export interface Caller {
  readonly kind: CallerKind;
  /** Undefined for the command line, which reaches every account. */
  readonly account: string | undefined;
  readonly key: ApiKeyRecord | undefined;
  /** Session of a person in the console. */
  readonly session?: PersonSession;
  /** True if the caller has the permission (`list:read`); `['list:*']`, `['*']` and an empty set are supported. */
  can(permission: string): boolean;
}

export interface NewKey {
  readonly account: string;
  readonly name: string;
  readonly scope: KeyScope;
  readonly scope_target: string | null;
  readonly scope_target_id?: string;
  readonly region: string;
  readonly permissions: readonly string[];
  readonly expires_at: string | null;
}

export interface Access {
  /**
   * Returns the caller for the value of `X-API-Key`. Throws `invalid-key`, with the same message for a key that is
   * missing, unknown, expired or revoked; the comparison takes constant time.
   */
  authenticate(header: string | undefined): Caller;
  /** Returns false once the key was deleted or has expired. For what goes on long after the key was looked at. */
  isInForce(key: ApiKeyRecord): boolean;
  readonly cli: Caller;
  /** Times of the last uses of keys; must be closed before the environment. */
  readonly uses: KeyUses;
  /** Resolves when the key is on disk. `secret` is the whole key, which is available only here. */
  createKey(key: NewKey): Promise<{ readonly record: ApiKeyRecord; readonly secret: string }>;
  keys(account: string): readonly ApiKeyRecord[];
  /** Returns a page of the keys in the order of their creation; the cursor is the id. */
  keyPage(account: string, page: WantedPage): Page<ApiKeyRecord>;
  deleteKey(account: string, id: string): Promise<boolean>;
  /** Removes all keys of an account that was deleted. */
  deleteKeysOfAccount(account: string): Promise<void>;
  /** Removes the keys whose scope target was deleted. */
  deleteKeysOf(account: string, scope: KeyScope, target: string): Promise<readonly ApiKeyRecord[]>;
}
