/** What a role may do in its account, as permissions. */
import { isReadPermission } from '../access/index.js';
import type { Role } from './types.js';

/** Who may enter, and with which rights, is for owners alone. */
const OWNERS_AREAS: ReadonlySet<string> = new Set(['account', 'api-key', 'contributor', 'service']);

export function roleAllows(role: Role, permission: string): boolean {
  if (role === 'owner' || isReadPermission(permission)) return true;
  return role === 'editor' && !OWNERS_AREAS.has(permission.slice(0, permission.indexOf(':')));
}

/** Those of `all` by name, for the console, which shows nobody what they may not do. `['*']`: everything. */
export function permissionNames(role: Role, all: readonly string[]): readonly string[] {
  return role === 'owner' ? ['*'] : all.filter((permission) => roleAllows(role, permission));
}
