/**
 * Ensures that data of an account is only created while the account exists: what was created after its deletion would
 * stay for good, and belong to the next account of that name.
 */
import { ServiceError } from '../platform/index.js';
import type { Collection, CollectionStore } from './collection.js';
import type { AccountRecord } from './types.js';

/** Accounts of the catalogue in the same environment. */
export function accountsIn(store: CollectionStore): Pick<Collection<AccountRecord>, 'has'> {
  return store.collection<AccountRecord>('accounts');
}

/** Call it inside the change that creates something. Throws `account-not-found`. */
export function assertAccount(store: CollectionStore, account: string): void {
  if (accountsIn(store).has(account)) return;
  throw new ServiceError('account-not-found', `There is no account '${account}'.`);
}
