/** How a service stands: whether it serves, whether its disk does, and which of its secrets it can open. */
import { join } from 'node:path';
import { CollectionStore, lostSecrets } from './catalog/index.js';
import { FEATURES } from './features.js';
import type { Services } from './operations/index.js';
import {
  SecretBox,
  setAsideOf,
  StorageProbe,
  type Config,
  type LmdbEnvironment,
  type StorageFaults,
} from './platform/index.js';

/** The box of secrets of a data directory, whose catalogue this is. */
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

export function standingOf(
  state: { readonly ready: boolean },
  dataDir: string,
  faults: StorageFaults,
): Pick<Services, 'ready' | 'storage' | 'databases'> {
  const probe = new StorageProbe(dataDir);
  const folders = ['system', ...FEATURES.flatMap(({ environments = [] }) => environments.map(({ path }) => path))];
  return {
    ready: () => state.ready,
    storage: () => probe.look(),
    databases: () => ({ unreadable: faults.unreadable(), setAside: setAsideOf(dataDir, folders) }),
  };
}
