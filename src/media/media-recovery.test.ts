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
/** Removing them takes much longer than being told that the service stops. */
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

/** Makes an account of whose uploads a crash left so many; returns where they lie. */
async function accountWithLeft(catalog: Catalog, account: string, count: number): Promise<string> {
  const { name } = await catalog.createAccount(account, 'eu');
  const incoming = join(folder, 'media', name, 'default', 'incoming');
  mkdirSync(incoming, { recursive: true });
  for (let left = 0; left < count; ++left) writeFileSync(join(incoming, `left-${left}`), 'left');
  return incoming;
}

it('is over, or stays for the next start, when the service has stopped', async () => {
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

it('keeps no stop waiting for all that was left of one account', async () => {
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

it('is done by the next start where a stop came first', async () => {
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

it('makes no data directory in the place of one that is gone, and takes the file when it is back', async () => {
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
  // Now that the folders of the store are known.
  renameSync(folder, `${folder}-away`);
  await expect(put()).rejects.toMatchObject({ code: 'storage-failed' });
  renameSync(`${folder}-away`, folder);
  await stores.close();
  await environment.close();
});
