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
   * Which list or group of that name was meant: the list's id, or when the group was made. Another one that takes the name is
   * not reached. Absent in keys of earlier releases, which hold for the name.
   */
  readonly scope_target_id?: string;
  readonly region: string;
  /** Empty: full access. */
  readonly permissions: readonly string[];
  readonly expires_at: string | null;
  readonly created_utc: string;
  /** Hexadecimal SHA-256 of the whole key. The key itself is never stored. */
  readonly hash: string;
  /** The last four characters of the key, for people. */
  readonly last_four: string;
}

/** Who makes a call. `cli` is the command line on the same machine (control socket, file permissions); it may do anything. */
export type CallerKind = 'key' | 'console' | 'cli';

export interface PersonSession {
  readonly id: string;
  readonly personId: string;
  /** What requests of this session that change anything have to carry. */
  csrfToken(): string;
}

export interface Caller {
  readonly kind: CallerKind;
  /** Undefined for the command line, which reaches every account. */
  readonly account: string | undefined;
  readonly key: ApiKeyRecord | undefined;
  /** Of a person in the console. */
  readonly session?: PersonSession;
  /** True where this caller has the permission (`list:read`); `['list:*']`, `['*']` and an empty set are honoured. */
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
   * The caller behind the value of `X-API-Key`. Throws `invalid-key` with one same answer for a key that is missing,
   * unknown, expired or revoked; the comparison takes constant time.
   */
  authenticate(header: string | undefined): Caller;
  readonly cli: Caller;
  /** When keys were used last; to be closed before the environment is. */
  readonly uses: KeyUses;
  /** Resolves when the key is on disk; `secret` is the whole key, known only here. */
  createKey(key: NewKey): Promise<{ readonly record: ApiKeyRecord; readonly secret: string }>;
  keys(account: string): readonly ApiKeyRecord[];
  /** Some of them in the order in which they were made; the cursor is the id. */
  keyPage(account: string, page: WantedPage): Page<ApiKeyRecord>;
  deleteKey(account: string, id: string): Promise<boolean>;
  /** Removes all keys of an account that is gone. */
  deleteKeysOfAccount(account: string): Promise<void>;
  /** Removes the keys whose scope target is gone. */
  deleteKeysOf(account: string, scope: KeyScope, target: string): Promise<readonly ApiKeyRecord[]>;
}
