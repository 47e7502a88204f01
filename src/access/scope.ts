/**
 * Where a caller reaches. An account key reaches everything of its account; a list key that one list; a group key its
 * group and the lists that are members of its current version. Nobody but the command line reaches two accounts.
 */
import { currentMembers, type Catalog } from '../catalog/index.js';
import { didYouMean, ServiceError, type Page } from '../platform/index.js';
import type { ApiKeyRecord, Caller, KeyScope } from './types.js';

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
  if (key.scope === to.kind) return key.scope_target === to.name && isMeant(key, catalog);
  return key.scope === 'group' && to.kind === 'list' && isMeant(key, catalog) && isMember(catalog, key, to.name);
}

/** True for a caller who may read the files of the account's media stores, himself or through what he writes. */
export function reachesFiles(caller: Caller, account: string, catalog: Catalog): boolean {
  return caller.can('media:read') && reaches(caller, { kind: 'account', account }, catalog);
}

/** True for a key of a group: of its group it sees what it reaches, the lists that are members now. */
export function reachesGroupOnly({ key }: Caller): boolean {
  return key?.scope === 'group';
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

/** A name is compared with so many others at most: whoever mistypes in a loop costs others little. */
const COMPARED = { size: 1000 };
const namesOf = ({ entries }: Page<{ readonly name: string }>) => entries.map(({ name }) => name);

/** ` Did you mean 'x'?` of what is not there, or nothing, to be put behind a sentence: for who may see all names alone. */
export function nameMeant(caller: Caller, to: Reach, catalog: Catalog): string {
  const { account, key } = caller;
  if (to.kind === 'account')
    return account === undefined ? didYouMean(to.account, namesOf(catalog.accountPage(COMPARED))) : '';
  if (key !== undefined && key.scope !== 'account') return '';
  if (to.kind === 'list')
    return caller.can('list:read') ? didYouMean(to.name, namesOf(catalog.listPage(to.account, COMPARED))) : '';
  return caller.can('list-group:read') ? didYouMean(to.name, namesOf(catalog.groupPage(to.account, COMPARED))) : '';
}

/** Names the list or group that has this name now; undefined where there is none. */
export function scopeTargetId(catalog: Catalog, account: string, scope: KeyScope, name: string): string | undefined {
  return scope === 'list' ? catalog.list(account, name)?.id : catalog.group(account, name)?.created_utc;
}

/** False where another list or group has taken the name. A target that is gone is still the key's own: it is told so. */
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
