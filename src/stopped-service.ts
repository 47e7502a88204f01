/** Commands that work on a data directory while no service has it open. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  assertMovable,
  BACKUPS,
  markRestored,
  restoreBackup,
  RESTORING,
  toldFinished,
  type AssertKnown,
  type FinishedRestore,
  type Restored,
} from './backup/index.js';
import { openCatalog } from './catalog/index.js';
import { assertListsKnown, openDataDirectory } from './data-directory.js';
import { adoptLists, missingSegments, type AdoptionReport } from './index/index.js';
import type { Services } from './operations/index.js';
import { openEnvironment, OperatorError, systemClock, type Config } from './platform/index.js';
import { createLogger } from './platform/logger.js';

export interface WantedRestore {
  /** A folder, or `media:STORE[/FOLDERS][/NAME]`. */
  readonly from: string;
  /** Name of the account whose media store it is. */
  readonly account: string;
  readonly replace: boolean;
}

/**
 * Restores a backup, for `gannet restore`. Nothing else may have the data directory open, as for `adoptUnknownLists`.
 * `start` opens the data directory without listening; it is called for a media store, whose address and credentials are
 * stored there.
 */
export async function restoreStopped(
  config: Config,
  { from, account, replace }: WantedRestore,
  {
    start,
    assertKnown: assertOthersKnown,
  }: {
    readonly start: () => Promise<{ readonly services: Pick<Services, 'part'>; close(): Promise<void> }>;
    /** Checks the formats of everything but the lists. */
    readonly assertKnown: AssertKnown;
  },
): Promise<Restored> {
  const dataDir = resolve(config.data.dir);
  const assertKnown = (copy: string) => {
    assertOthersKnown(copy);
    assertListsKnown(copy);
  };
  if (!from.startsWith('media:')) {
    return withDataDirectory(config, (earlier) => restoreBackup({ from, replace, dataDir, assertKnown, earlier }));
  }
  if (!existsSync(dataDir)) {
    throw new OperatorError(
      `There is no data directory ${dataDir}, so the media store is unknown. Add the store first: gannet media-store add`,
    );
  }
  // First completes an interrupted restore: what it was restoring may contain the media store.
  const earlier = await withDataDirectory(config, (restored) => Promise.resolve(restored));
  const service = await start();
  let summary;
  try {
    service.services.part(BACKUPS).place(from, account);
    if (!replace) {
      throw new OperatorError(
        `${dataDir} is not empty: it has the settings of the media store. Use --replace to restore all the same: the current data moves to a folder in the data directory, and nothing is deleted.`,
      );
    }
    assertMovable(dataDir);
    ({ summary } = await service.services.part(BACKUPS).fetch(from, account, join(dataDir, RESTORING)));
    await markRestored(dataDir, assertKnown);
  } catch (error) {
    // The interrupted restore has replaced the data, and the media store may only have been in the data before it.
    if (earlier === undefined || !(error instanceof Error)) throw error;
    throw new OperatorError(`${toldFinished(dataDir, earlier)}. ${error.message}`);
  } finally {
    await service.close();
  }
  const { made_utc, lists, bytes } = summary;
  const restored = await withDataDirectory(config, (finished) => Promise.resolve(finished));
  const [before, before_earlier] = [restored, earlier].map((each) => each?.aside ?? null) as [
    string | null,
    string | null,
  ];
  return { data_dir: dataDir, made_utc, lists, bytes, before, before_earlier };
}

/**
 * Runs `action` while no other process can open the data directory. `action` gets the interrupted restore that opening
 * the directory has completed, if any.
 */
async function withDataDirectory<Result>(
  config: Config,
  action: (restored: FinishedRestore | undefined) => Promise<Result>,
): Promise<Result> {
  const log = createLogger(config, { stacks: false });
  const { release, restored } = openDataDirectory(resolve(config.data.dir), { log, serves: false });
  try {
    return await action(restored);
  } finally {
    release();
    await log.drain();
  }
}

/**
 * Adopts lists that the catalogue does not know, for `gannet doctor --adopt-lists`. Rejects with an `OperatorError` if
 * another process has the data directory open.
 */
export function adoptUnknownLists(config: Config): Promise<AdoptionReport> {
  const dataDir = resolve(config.data.dir);
  return withDataDirectory(config, async () => {
    const environment = openEnvironment(join(dataDir, 'system'), { kind: 'system' });
    try {
      const catalog = await openCatalog(environment, systemClock);
      return await adoptLists({ dataDir, catalog, account: config.account });
    } finally {
      await environment.close();
    }
  });
}

/**
 * Returns the paths of missing segment files that lists need, for `gannet doctor --data`. Rejects with an
 * `OperatorError` if another process has the data directory open.
 */
export function findMissingSegments(config: Config): Promise<string[]> {
  return withDataDirectory(config, () => missingSegments(resolve(config.data.dir)));
}
