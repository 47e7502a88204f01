/** Callers: who makes a request, and what they may do. */
import { PermissionSet } from './permissions.js';
import type { ApiKeyRecord, Caller } from './types.js';

/** Returns the caller of a key; created once per key. */
export function keyCaller(key: ApiKeyRecord): Caller {
  const permissions = new PermissionSet(key.permissions);
  return Object.freeze({
    kind: 'key' as const,
    account: key.account,
    key,
    can: (permission: string) => permissions.allows(permission),
  });
}

/** The command line on the same machine, which may do everything in every account. */
export const cliCaller: Caller = Object.freeze({
  kind: 'cli' as const,
  account: undefined,
  key: undefined,
  can: () => true,
});
