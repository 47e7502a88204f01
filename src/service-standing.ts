/** Health of a service: whether it is ready, whether its disk works, and which of its secrets it can open. */
import { join } from 'node:path';
import type { Logger } from 'pino';
import { CollectionStore, lostSecrets } from './catalog/index.js';
import { FEATURES } from './features.js';
import type { Services } from './operations/index.js';
import {
  SecretBox,
  setAsideOf,
  SharedLook,
  StorageProbe,
  type Config,
  type LmdbEnvironment,
  type StorageFaults,
} from './platform/index.js';

/** Creates the secret box of a data directory; `environment` is its catalogue. */
export function secretsOf(dataDir: string, config: Config, environment: LmdbEnvironment): SecretBox {
  const secrets = new SecretBox({ path: join(dataDir, 'secret-keys'), given: config.secrets.keys });
  secrets.lostAreToldBy(() =>
    lostSecrets(
      secrets,
      FEATURES.flatMap(({ sealed }) => sealed ?? []),
      (name) => CollectionStore.of(environment).collection(name).values(),
    ),
  );
  return secrets;
}

/**
 * Seals secrets with the newest key: those stored before there was a box, or sealed with an older key. What cannot be
 * written now is sealed at the next start.
 */
export async function sealSecrets(secrets: SecretBox, log: Logger): Promise<void> {
  try {
    const count = await secrets.resealAll();
    if (count > 0) log.info({ count }, 'Sealed secrets again with the newest key');
  } catch (error) {
    log.warn({ err: error }, 'Could not seal secrets with the newest key; they stay sealed with their old key');
  }
}

export function standingOf(
  state: { readonly ready: boolean },
  dataDir: string,
  faults: StorageFaults,
): Pick<Services, 'ready' | 'storage' | 'databases'> {
  const probe = new StorageProbe(dataDir);
  const folders = ['system', ...FEATURES.flatMap(({ environments = [] }) => environments.map(({ path }) => path))];
  const aside = new SharedLook<readonly string[]>(() => setAsideOf(dataDir, folders), []);
  return {
    ready: () => state.ready,
    storage: () => probe.look(),
    databases: async () => ({ unreadable: faults.unreadable(), setAside: await aside.look() }),
  };
}
