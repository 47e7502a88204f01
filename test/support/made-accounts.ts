/** Accounts of whom nothing matters but that there are some: what is kept for one is made only where there is one. */
import { CollectionStore, type AccountRecord } from '../../src/catalog/index.js';
import { systemClock, type LmdbEnvironment } from '../../src/platform/index.js';

/** Changes that are asked for after the call come after it, whether it is awaited or not. */
export function makeAccounts(environment: LmdbEnvironment, ...names: readonly string[]): Promise<void> {
  const store = CollectionStore.of(environment);
  const accounts = store.collection<AccountRecord>('accounts');
  return store.change((change) => {
    for (const name of names) change.put(accounts, name, { name, region: 'eu', created_utc: systemClock.nowIso() });
  });
}
