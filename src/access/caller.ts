/** Callers: who stands behind a request, and what they may do. */
import { PermissionSet } from './permissions.js';
import type { ApiKeyRecord, Caller } from './types.js';

/** The caller of a key; made once a key. */
export function keyCaller(key: ApiKeyRecord): Caller {
  const permissions = new PermissionSet(key.permissions);
  return Object.freeze({
    kind: 'key' as const,
    account: key.account,
    key,
    can: (permission: string) => permissions.allows(permission),
  });
}

/** The command line on the same machine: every account, every operation. */
export const cliCaller: Caller = Object.freeze({
  kind: 'cli' as const,
  account: undefined,
  key: undefined,
  can: () => true,
});
