/** What a role may do in its account, as permissions. */
import { isReadPermission } from '../access/index.js';
import type { Role } from './types.js';

/** Who may enter, and with which rights, is for owners alone. */
const OWNERS_AREAS: ReadonlySet<string> = new Set(['account', 'api-key', 'contributor', 'service']);

/** What tells of the machine and of all accounts: for owners of the service's own account, which the first start makes. */
const OF_SERVICE: ReadonlySet<string> = new Set(['service:settings', 'service:state']);

/** Whose contributor somebody is. */
export interface RolePlace {
  readonly role: Role;
  /** The account is the service's own. */
  readonly isOfService: boolean;
}

export function roleAllows({ role, isOfService }: RolePlace, permission: string): boolean {
  if (OF_SERVICE.has(permission)) return role === 'owner' && isOfService;
  if (role === 'owner' || isReadPermission(permission)) return true;
  return role === 'editor' && !OWNERS_AREAS.has(permission.slice(0, permission.indexOf(':')));
}

/** Those of `all` by name, for the console, which shows nobody what they may not do. `['*']`: everything. */
export function permissionNames(place: RolePlace, all: readonly string[]): readonly string[] {
  if (place.role === 'owner' && place.isOfService) return ['*'];
  return all.filter((permission) => roleAllows(place, permission));
}
