/** Nothing is created for an account after its deletion: otherwise, the next account of that name would get it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openEnvironment, systemClock, type LmdbEnvironment } from '../platform/index.js';
import { assertAccount } from './account-assertion.js';
import { openCatalog } from './catalog.js';
import { CollectionStore } from './collection.js';

let folder: string;
let environment: LmdbEnvironment;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-account-'));
  environment = openEnvironment(folder, { kind: 'system' });
});
afterEach(async () => {
  await environment.close();
  rmSync(folder, { recursive: true });
});

it('A change is refused if its account was deleted while it waited, and accepted if it came before the deletion', async () => {
  const catalog = await openCatalog(environment, systemClock);
  await catalog.createAccount('shop', 'eu');
  const store = CollectionStore.of(environment);
  const rows = store.collection<string>('things');
  const make = (key: string) =>
    store.change((change) => {
      assertAccount(store, 'shop');
      change.put(rows, key, key);
    });
  const before = make('before');
  const deleted = catalog.deleteAccount('shop');
  const behind = make('behind');
  await Promise.all([before, deleted]);
  await expect(behind).rejects.toMatchObject({ code: 'account-not-found' });
  expect([...rows.values()]).toEqual(['before']);
});
