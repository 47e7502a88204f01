/** What is kept for an account is made while there is one: what came behind its deletion would stay for good, and the next account of that name would have it. */
import { ServiceError } from '../platform/index.js';
import type { Collection, CollectionStore } from './collection.js';
import type { AccountRecord } from './types.js';

/** Those of the catalogue of the same environment. */
export function accountsIn(store: CollectionStore): Pick<Collection<AccountRecord>, 'has'> {
  return store.collection<AccountRecord>('accounts');
}

/** To be called inside the change that makes something. Throws `account-not-found`. */
export function assertAccount(store: CollectionStore, account: string): void {
  if (accountsIn(store).has(account)) return;
  throw new ServiceError('account-not-found', `There is no account '${account}'.`);
}
