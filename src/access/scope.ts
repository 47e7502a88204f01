/**
 * Where a caller reaches. An account key reaches everything of its account; a list key that one list; a group key its
 * group and the lists that are members of its current version. Nobody but the command line reaches two accounts.
 */
import { currentMembers, type Catalog } from '../catalog/index.js';
import { ServiceError } from '../platform/index.js';
import type { Caller } from './types.js';

export type Reach =
  | { readonly kind: 'account'; readonly account: string }
  | { readonly kind: 'list'; readonly account: string; readonly name: string }
  | { readonly kind: 'group'; readonly account: string; readonly name: string };

/** True where the caller's scope holds the resource, whether it exists or not. */
export function reaches(caller: Caller, to: Reach, catalog: Catalog): boolean {
  if (caller.account === undefined) return true;
  if (caller.account !== to.account) return false;
  const key = caller.key;
  if (key === undefined || key.scope === 'account') return true;
  if (to.kind === 'account') return false;
  if (key.scope === to.kind) return key.scope_target === to.name;
  return key.scope === 'group' && to.kind === 'list' && isMember(catalog, to.account, key.scope_target, to.name);
}

/**
 * Throws `out-of-scope` where the caller does not reach the resource, so that a scoped key cannot probe for names, and
 * `account-not-found`, `list-not-found` or `group-not-found` where it would but the resource is missing; a group key
 * whose group is gone reaches nothing any more.
 */
export function assertReach(caller: Caller, to: Reach, catalog: Catalog): void {
  const isOwnGroup = to.kind === 'group' && caller.key?.scope === 'group';
  const isGone = isOwnGroup && catalog.group(to.account, to.name) === undefined;
  if (isGone || !reaches(caller, to, catalog)) {
    throw new ServiceError('out-of-scope', `This key does not reach the ${describe(to)}.`);
  }
  if (catalog.account(to.account) === undefined) {
    throw new ServiceError('account-not-found', `There is no account '${to.account}'.`);
  }
  if (to.kind === 'list' && catalog.list(to.account, to.name) === undefined) {
    throw new ServiceError('list-not-found', `There is no ${describe(to)}.`);
  }
  if (to.kind === 'group' && catalog.group(to.account, to.name) === undefined) {
    throw new ServiceError('group-not-found', `There is no ${describe(to)}.`);
  }
}

function isMember(catalog: Catalog, account: string, group: string | null, list: string): boolean {
  const record = group === null ? undefined : catalog.group(account, group);
  return record !== undefined && currentMembers(record).some((member) => member.list === list);
}

function describe(to: Reach): string {
  return to.kind === 'account' ? `account '${to.account}'` : `${to.kind} '${to.name}' of the account '${to.account}'`;
}
