/**
 * Prepares the data directory before anything in it is opened: creates it, locks it, and refuses one that must not be
 * used.
 */
import { accessSync, constants, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { kernel } from '../native-bindings/index.js';
import { finishRestore, toldFinished, type FinishedRestore } from './backup/index.js';
import { hasLists, listStores } from './index/index.js';
import {
  closeEntries,
  dataDirectoryFault,
  DataDirectoryInUseError,
  keepFilesToOwner,
  lockHolder,
  makeSyncedFolderNow,
  OperatorError,
  ownerBesideRoot,
  systemReason,
  toldUnreachable,
  type ServiceLogger,
} from './platform/index.js';
import { assertStoreKnown } from './store/index.js';

export interface OpenDataDirectory {
  readonly release: () => void;
  /** The interrupted restore that was completed by opening the directory; undefined if there was none. */
  readonly restored: FinishedRestore | undefined;
}

export interface OpeningOptions {
  readonly log: Pick<ServiceLogger, 'warn'>;
  /** True for a service, false for a single command. */
  readonly serves: boolean;
}

/**
 * Creates the data directory, closes it to other users and locks it against other processes. Throws an `OperatorError`:
 * a `DataDirectoryInUseError` if another process has the lock.
 */
export function openDataDirectory(dataDir: string, { log, serves }: OpeningOptions): OpenDataDirectory {
  keepFilesToOwner();
  if (!serves) assertOwnData(dataDir);
  try {
    makeSyncedFolderNow(dataDir);
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const reason = dataDirectoryFault(dataDir) ?? systemReason(error);
    throw new OperatorError(`The data directory ${dataDir} cannot be used: ${reason}.`);
  }
  // Comes before the lock is taken, so that no other user can take the lock from now on.
  closeToOthers(dataDir, log);
  const path = join(dataDir, 'lock');
  const lock = lockIn(dataDir, path);
  if (lock !== null) {
    const restored = finishRestore(dataDir);
    if (restored !== undefined) log.warn(restored, toldFinished(dataDir, restored));
    return { restored, release: () => lock.release() };
  }
  const holder = lockHolder(path);
  const who = holder === undefined ? '' : ` (process ${holder.pid} of the user with id ${holder.user})`;
  throw new DataDirectoryInUseError(
    `The data directory ${dataDir} is in use by another process${who}. Stop that process, or choose another data directory.`,
  );
}

/**
 * Returns null if another process has the lock. Throws an `OperatorError` if the lock file cannot be written, for
 * instance after a disk error, or cannot be locked.
 */
function lockIn(dataDir: string, path: string): ReturnType<typeof kernel.lockFile> {
  try {
    return kernel.lockFile(path);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    // Some network and FUSE file systems do not support locks.
    const remedy = reason.startsWith('cannot lock')
      ? ' Its file system must support locks: choose a directory on a local disk.'
      : '';
    throw new OperatorError(`The data directory ${dataDir} cannot be used: ${reason}.${remedy}`);
  }
}

/**
 * Throws if a command runs as root on the data directory of another user: the files that root creates could not be
 * opened by the service of that user. A service that runs as root is not checked, and may go on doing so.
 */
function assertOwnData(dataDir: string): void {
  const owner = ownerBesideRoot(dataDir);
  if (owner === undefined) return;
  throw new OperatorError(
    `The data directory ${dataDir} belongs to the user with id ${owner}, whose service could not open files that root creates in it. ` +
      `Run the command as that user (sudo -u '#${owner}' …), who must be able to read its input files, or chown the directory.`,
  );
}

function closeToOthers(dataDir: string, log: Pick<ServiceLogger, 'warn'>): void {
  const { closed, foreign, unreachable } = closeEntries(dataDir);
  if (unreachable.length > 0) {
    throw new OperatorError(`The data directory ${dataDir} cannot be used: ${toldUnreachable(unreachable)}.`);
  }
  // The first entry is the folder itself. If only that was open, it was new, and nothing in it could have been read.
  if (closed.length > 1) {
    const [first] = closed;
    log.warn({ count: closed.length, first: first?.path }, 'Restricted files that other users could access');
  }
  const [first] = foreign;
  if (first === undefined) return;
  log.warn(
    { count: foreign.length, first: first.path, owner: first.owner },
    'Other users can access files in the data directory that belong to another user: restrict them with chown and chmod',
  );
}

/** Throws an `OperatorError` if there are lists but no catalogue, before an empty catalogue is created. */
export function assertCatalogueStored(dataDir: string): void {
  const file = statSync(join(dataDir, 'system', 'data.mdb'), { throwIfNoEntry: false });
  if ((file?.size ?? 0) === 0) assertNoLists(dataDir, file === undefined ? 'is missing' : 'is empty');
}

/**
 * Throws an `OperatorError` if there are lists but the catalogue has no account, as a newly created catalogue has none.
 */
export function assertCatalogueFilled(dataDir: string, accounts: number): void {
  if (accounts === 0) assertNoLists(dataDir, 'has no account');
}

/**
 * Throws an `OperatorError` for the first list whose format this release does not know. Used for a copy that nobody has
 * open; a start checks each list when it opens it, and serves the other lists.
 */
export function assertListsKnown(dataDir: string): void {
  for (const path of listStores(dataDir)) {
    assertStoreKnown(path);
    // Checking the list has created this file. With many lists, these files would take more space than the lists.
    rmSync(join(path, 'lock.mdb'), { force: true });
  }
}

function assertNoLists(dataDir: string, fault: string): void {
  if (!hasLists(dataDir)) return;
  throw new OperatorError(
    `The catalogue ${join(dataDir, 'system')} ${fault}, but there are lists. ` +
      'Restore system/ from a backup, or run `gannet doctor --adopt-lists` to rebuild the catalogue from the lists.',
  );
}
