/**
 * What a caller can reach. An account key reaches everything of its account; a list key only its list; a group key its
 * group and the lists that are members of its current version. Only the command line reaches more than one account.
 */
import { currentMembers, type Catalog } from '../catalog/index.js';
import { didYouMean, ServiceError, type Page } from '../platform/index.js';
import type { ApiKeyRecord, Caller, KeyScope } from './types.js';

export type Reach =
  | { readonly kind: 'account'; readonly account: string }
  | { readonly kind: 'list'; readonly account: string; readonly name: string }
  | { readonly kind: 'group'; readonly account: string; readonly name: string };

/** True if the resource is within the caller's scope, whether it exists or not. */
export function reaches(caller: Caller, to: Reach, catalog: Catalog): boolean {
  if (caller.account === undefined) return true;
  if (caller.account !== to.account) return false;
  const key = caller.key;
  if (key === undefined || key.scope === 'account') return true;
  if (to.kind === 'account') return false;
  if (key.scope === to.kind) return key.scope_target === to.name && isMeant(key, catalog);
  return key.scope === 'group' && to.kind === 'list' && isMeant(key, catalog) && isMember(catalog, key, to.name);
}

/** True if the caller may read the files of the account's media stores, directly or through records that it writes. */
export function reachesFiles(caller: Caller, account: string, catalog: Catalog): boolean {
  return caller.can('media:read') && reaches(caller, { kind: 'account', account }, catalog);
}

/** True for a key of a group, which sees only those lists of its group that it reaches: the present members. */
export function reachesGroupOnly({ key }: Caller): boolean {
  return key?.scope === 'group';
}

/**
 * Throws `out-of-scope` if the caller does not reach the resource, so that a scoped key cannot probe for names;
 * `account-not-found`, `list-not-found` or `group-not-found` if it would, but the resource does not exist. A group key
 * whose group is gone reaches nothing.
 */
export function assertReach(caller: Caller, to: Reach, catalog: Catalog): void {
  const isOwnGroup = to.kind === 'group' && caller.key?.scope === 'group';
  const isGone = isOwnGroup && catalog.group(to.account, to.name) === undefined;
  if (isGone || !reaches(caller, to, catalog)) {
    throw new ServiceError('out-of-scope', `This key does not reach the ${describe(to)}.`);
  }
  if (catalog.account(to.account) === undefined) {
    const meant = nameMeant(caller, { kind: 'account', account: to.account }, catalog);
    throw new ServiceError('account-not-found', `There is no account '${to.account}'.${meant}`);
  }
  if (to.kind === 'list' && catalog.list(to.account, to.name) === undefined) {
    throw new ServiceError('list-not-found', `There is no ${describe(to)}.${nameMeant(caller, to, catalog)}`);
  }
  if (to.kind === 'group' && catalog.group(to.account, to.name) === undefined) {
    throw new ServiceError('group-not-found', `There is no ${describe(to)}.${nameMeant(caller, to, catalog)}`);
  }
}

/** Maximum number of names that a name is compared with, so that a client that mistypes in a loop costs little. */
const COMPARED = { size: 1000 };
const namesOf = ({ entries }: Page<{ readonly name: string }>) => entries.map(({ name }) => name);

/**
 * Returns ` Did you mean 'x'?` for a missing name, to be appended to a sentence; '' if there is no suggestion, or the
 * caller may not see all names.
 */
export function nameMeant(caller: Caller, to: Reach, catalog: Catalog): string {
  const { account, key } = caller;
  if (to.kind === 'account')
    return account === undefined ? didYouMean(to.account, namesOf(catalog.accountPage(COMPARED))) : '';
  if (key !== undefined && key.scope !== 'account') return '';
  if (to.kind === 'list')
    return caller.can('list:read') ? didYouMean(to.name, namesOf(catalog.listPage(to.account, COMPARED))) : '';
  return caller.can('list-group:read') ? didYouMean(to.name, namesOf(catalog.groupPage(to.account, COMPARED))) : '';
}

/** Returns an identifier of the list or group that has this name now; undefined if there is none. */
export function scopeTargetId(catalog: Catalog, account: string, scope: KeyScope, name: string): string | undefined {
  return scope === 'list' ? catalog.list(account, name)?.id : catalog.group(account, name)?.created_utc;
}

/**
 * False if another list or group has taken the name. A target that is gone still belongs to the key, which is then told
 * that.
 */
function isMeant({ account, scope, scope_target, scope_target_id }: ApiKeyRecord, catalog: Catalog): boolean {
  if (scope_target_id === undefined || scope_target === null) return true;
  const present = scopeTargetId(catalog, account, scope, scope_target);
  return present === undefined || present === scope_target_id;
}

function isMember(catalog: Catalog, { account, scope_target: group }: ApiKeyRecord, list: string): boolean {
  const record = group === null ? undefined : catalog.group(account, group);
  const id = catalog.list(account, list)?.id;
  return record !== undefined && id !== undefined && currentMembers(record).some(({ list_id }) => list_id === id);
}

function describe(to: Reach): string {
  return to.kind === 'account' ? `account '${to.account}'` : `${to.kind} '${to.name}' of the account '${to.account}'`;
}
