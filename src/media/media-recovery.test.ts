import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openCatalog, type Catalog } from '../catalog/index.js';
import { loadConfig } from '../platform/config.js';
import { openEnvironment, settingsOf, systemClock, type LmdbEnvironment } from '../platform/index.js';
import { createMetrics } from '../platform/metrics.js';
import { createMediaMetrics } from './media-metrics.js';
import { MediaStores } from './media-stores.js';
import { MEDIA_SETTINGS } from './settings.js';

const ACCOUNTS = 20;
const LEFT = 50;
/** So many files that removing them takes much longer than stopping the service. */
const LEFT_OF_ONE = 10_000;
let folder: string;
let environment: LmdbEnvironment;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-media-recovery-'));
  environment = openEnvironment(join(folder, 'system'), { kind: 'system' });
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function storesOf(catalog: Catalog, complaints: string[] = []): MediaStores {
  const stores: MediaStores = new MediaStores({
    settings: settingsOf(loadConfig({ argv: [], env: {}, declared: [MEDIA_SETTINGS] }), MEDIA_SETTINGS),
    dataDir: folder,
    environment,
    catalog,
    clock: systemClock,
    log: pino({ level: 'warn' }, { write: (line: string) => complaints.push(line) }),
    opener: () => {
      throw new Error('no account has another store');
    },
    metrics: createMediaMetrics(createMetrics(), () => stores.used()),
    assertMayGrow: () => Promise.resolve(),
  });
  return stores;
}

/** Creates an account with files left over from uploads before a crash; returns their folder. */
async function accountWithLeft(catalog: Catalog, account: string, count: number): Promise<string> {
  const { name } = await catalog.createAccount(account, 'eu');
  const incoming = join(folder, 'media', name, 'default', 'incoming');
  mkdirSync(incoming, { recursive: true });
  for (let left = 0; left < count; ++left) writeFileSync(join(incoming, `left-${left}`), 'left');
  return incoming;
}

it('MediaStores.recover ends when the service stops, and leaves the rest for the next start', async () => {
  const catalog = await openCatalog(environment, systemClock, { reservedNames: new Set() });
  for (let index = 0; index < ACCOUNTS; ++index) await accountWithLeft(catalog, `account-${index}`, LEFT);
  const complaints: string[] = [];
  const stores = storesOf(catalog, complaints);
  const recovered = stores.recover();
  await stores.close();
  await environment.close();
  await recovered;
  expect(complaints).toEqual([]);
});

it('MediaStores.recover does not delay a stop until all leftovers of an account are removed', async () => {
  const catalog = await openCatalog(environment, systemClock, { reservedNames: new Set() });
  const incoming = await accountWithLeft(catalog, 'large', LEFT_OF_ONE);
  const complaints: string[] = [];
  const stores = storesOf(catalog, complaints);
  const recovered = stores.recover();
  await expect.poll(() => readdirSync(incoming).length, { interval: 1 }).toBeLessThan(LEFT_OF_ONE);
  await stores.close();
  expect(readdirSync(incoming).length).toBeGreaterThan(0);
  await environment.close();
  await recovered;
  expect(complaints).toEqual([]);
});

it('MediaStores.recover is completed by the next start after a stop', async () => {
  const catalog = await openCatalog(environment, systemClock, { reservedNames: new Set() });
  const incoming = await accountWithLeft(catalog, 'large', LEFT);
  const stopped = storesOf(catalog);
  const recovered = stopped.recover();
  await stopped.close();
  await recovered;
  const stores = storesOf(catalog);
  await stores.recover();
  expect(readdirSync(incoming)).toEqual([]);
  await stores.close();
  await environment.close();
});

it('An upload creates no data directory in place of a missing one, and works when it is back', async () => {
  const catalog = await openCatalog(environment, systemClock, { reservedNames: new Set() });
  await catalog.createAccount('first', 'eu');
  const stores = storesOf(catalog);
  const put = async () => {
    const body = (async function* () {
      yield await Promise.resolve(Buffer.from('mine'));
    })();
    const upload = { path: 'file', contentType: 'text/plain', bytes: 4, body, check: () => undefined };
    return stores.open('first', 'default').put({ ...upload, isConditional: false });
  };
  renameSync(folder, `${folder}-away`);
  await expect(put()).rejects.toMatchObject({ code: 'storage-failed' });
  expect(existsSync(folder)).toBe(false);
  renameSync(`${folder}-away`, folder);
  expect(await put()).toMatchObject({ isNew: true });
  // Now the folders of the store are known.
  renameSync(folder, `${folder}-away`);
  await expect(put()).rejects.toMatchObject({ code: 'storage-failed' });
  renameSync(`${folder}-away`, folder);
  await stores.close();
  await environment.close();
});
