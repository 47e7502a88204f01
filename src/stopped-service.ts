/** What is done to a data directory while no service has it, for commands that no service answers. */
import { join, resolve } from 'node:path';
import { restoreBackup, type Restored } from './backup/index.js';
import { openCatalog } from './catalog/index.js';
import { openDataDirectory } from './data-directory.js';
import { adoptLists, type AdoptionReport } from './index/index.js';
import { openEnvironment, systemClock, type Config } from './platform/index.js';
import { createLogger } from './platform/logger.js';

/** For `gannet restore`: as with `adoptUnknownLists`, nothing else has the data directory. */
export async function restoreData(
  config: Config,
  wanted: { readonly from: string; readonly replace: boolean },
): Promise<Restored> {
  const dataDir = resolve(config.data.dir);
  const log = createLogger(config);
  const release = openDataDirectory(dataDir, log);
  try {
    return await restoreBackup({ ...wanted, dataDir });
  } finally {
    release();
    await log.drain();
  }
}

/** For `gannet doctor --adopt-lists`: nothing else may have the data directory open. Rejects with an `OperatorError` where it has. */
export async function adoptUnknownLists(config: Config): Promise<AdoptionReport> {
  const dataDir = resolve(config.data.dir);
  const log = createLogger(config);
  const release = openDataDirectory(dataDir, log);
  try {
    const environment = openEnvironment(join(dataDir, 'system'), { kind: 'system' });
    try {
      const catalog = await openCatalog(environment, systemClock);
      return await adoptLists({ dataDir, catalog, account: config.account });
    } finally {
      await environment.close();
    }
  } finally {
    release();
    await log.drain();
  }
}
