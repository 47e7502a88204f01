/** Permissions of roles in an account. */
import { isReadPermission } from '../access/index.js';
import type { Role } from './types.js';

/** Areas of who may enter, and with which rights: for owners only. */
const OWNERS_AREAS: ReadonlySet<string> = new Set(['account', 'api-key', 'contributor', 'service']);

/**
 * Information about the machine and all accounts: only for owners of the service's own account, which the first start
 * creates.
 */
const OF_SERVICE: ReadonlySet<string> = new Set(['service:settings', 'service:state']);

/** Role of a person in an account. */
export interface RolePlace {
  readonly role: Role;
  /** True if the account is the service's own. */
  readonly isOfService: boolean;
}

export function roleAllows({ role, isOfService }: RolePlace, permission: string): boolean {
  if (OF_SERVICE.has(permission)) return role === 'owner' && isOfService;
  if (role === 'owner' || isReadPermission(permission)) return true;
  return role === 'editor' && !OWNERS_AREAS.has(permission.slice(0, permission.indexOf(':')));
}

/** Returns the allowed permissions of `all`, for the console, which hides what people may not do. `['*']` for all. */
export function permissionNames(place: RolePlace, all: readonly string[]): readonly string[] {
  if (place.role === 'owner' && place.isOfService) return ['*'];
  return all.filter((permission) => roleAllows(place, permission));
}
