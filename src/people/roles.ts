/** What a role may do in its account, as permissions. */
import { isReadPermission, PERMISSIONS, PermissionSet } from '../access/index.js';
import type { Role } from './types.js';

/** Who may enter, and with which rights, is for owners alone. */
const OWNERS_AREAS: ReadonlySet<string> = new Set(['account', 'api-key', 'contributor']);

function isForOwners(permission: string): boolean {
  return OWNERS_AREAS.has(permission.slice(0, permission.indexOf(':')));
}

const NAMED: Readonly<Record<Exclude<Role, 'owner'>, readonly string[]>> = {
  editor: PERMISSIONS.filter((permission) => !isForOwners(permission) || isReadPermission(permission)),
  viewer: PERMISSIONS.filter(isReadPermission),
};

const SETS: Readonly<Record<Role, PermissionSet>> = {
  // No names: everything, also what later releases add.
  owner: new PermissionSet([]),
  editor: new PermissionSet(NAMED.editor),
  viewer: new PermissionSet(NAMED.viewer),
};

export function permissionsOf(role: Role): PermissionSet {
  return SETS[role];
}

/** By name, for the console, which shows nobody what they may not do. `['*']`: everything. */
export function permissionNames(role: Role): readonly string[] {
  return role === 'owner' ? ['*'] : NAMED[role];
}
