import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openCatalog } from '../catalog/index.js';
import { loadConfig } from '../platform/config.js';
import { openEnvironment, settingsOf, systemClock, type LmdbEnvironment } from '../platform/index.js';
import { createMetrics } from '../platform/metrics.js';
import { createMediaMetrics } from './media-metrics.js';
import { MediaStores } from './media-stores.js';
import { MEDIA_SETTINGS } from './settings.js';

const ACCOUNTS = 20;
const LEFT = 50;
let folder: string;
let environment: LmdbEnvironment;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-media-recovery-'));
  environment = openEnvironment(join(folder, 'system'), { kind: 'system' });
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

it('is over, or stays for the next start, when the service has stopped', async () => {
  const catalog = await openCatalog(environment, systemClock, { reservedNames: new Set() });
  for (let index = 0; index < ACCOUNTS; ++index) {
    const { name } = await catalog.createAccount(`account-${index}`, 'eu');
    const incoming = join(folder, 'media', name, 'default', 'incoming');
    mkdirSync(incoming, { recursive: true });
    for (let left = 0; left < LEFT; ++left) writeFileSync(join(incoming, `left-${left}`), 'left');
  }
  const complaints: string[] = [];
  const stores = new MediaStores({
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
  const recovered = stores.recover();
  await stores.close();
  await environment.close();
  await recovered;
  expect(complaints).toEqual([]);
});
