/** Creates accounts for tests of data that require an account to exist. */
import { CollectionStore, type AccountRecord } from '../../src/catalog/index.js';
import { systemClock, type LmdbEnvironment } from '../../src/platform/index.js';

/** Changes requested after this call are made after it, even if it is not awaited. */
export function makeAccounts(environment: LmdbEnvironment, ...names: readonly string[]): Promise<void> {
  const store = CollectionStore.of(environment);
  const accounts = store.collection<AccountRecord>('accounts');
  return store.change((change) => {
    for (const name of names) change.put(accounts, name, { name, region: 'eu', created_utc: systemClock.nowIso() });
  });
}
