/** The data directory before anything in it is opened: made, locked, and looked at for what a start must not go over. */
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
  /** The restore that was cut short and came to its end here. */
  readonly restored: FinishedRestore | undefined;
}

export interface OpeningOptions {
  readonly log: Pick<ServiceLogger, 'warn'>;
  /** Whether it is a service that opens it, and no single command. */
  readonly serves: boolean;
}

/** Makes the data directory, closes it to other users and keeps other processes out of it. Throws an `OperatorError`: a `DataDirectoryInUseError` where one has it. */
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
  // Before the lock is asked for, so that no other user can take it from now on.
  closeToOthers(dataDir, log);
  const path = join(dataDir, 'lock');
  const lock = lockIn(dataDir, path);
  if (lock !== null) {
    const restored = finishRestore(dataDir);
    if (restored !== undefined) log.warn(restored, toldFinished(dataDir, restored));
    return { restored, release: () => lock.release() };
  }
  const holder = lockHolder(path);
  const who = holder === undefined ? '' : ` (number ${holder.pid}, of the user with the id ${holder.user})`;
  throw new DataDirectoryInUseError(
    `The data directory ${dataDir} is in use by another process${who}: stop that one first, or choose another directory.`,
  );
}

/** Null where another process has it. Throws an `OperatorError` where its file cannot be written, as on a disk that has met an error. */
function lockIn(dataDir: string, path: string): ReturnType<typeof kernel.lockFile> {
  try {
    return kernel.lockFile(path);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    // Some servers of files, and some file systems of programs.
    const remedy = reason.startsWith('cannot lock')
      ? ' Its file system has to know locks: choose a directory on a disk of this machine.'
      : '';
    throw new OperatorError(`The data directory ${dataDir} cannot be used: ${reason}.${remedy}`);
  }
}

/** Root may do everything, and what it makes nobody else can open. A service that runs as root goes on doing so. */
function assertOwnData(dataDir: string): void {
  const owner = ownerBesideRoot(dataDir);
  if (owner === undefined) return;
  throw new OperatorError(
    `The data directory ${dataDir} belongs to the user with the id ${owner}, whose service could not open what root makes in it: ` +
      `run this as that user (sudo -u '#${owner}' …), who has to be able to read what it takes; or chown the directory.`,
  );
}

function closeToOthers(dataDir: string, log: Pick<ServiceLogger, 'warn'>): void {
  const { closed, foreign, unreachable } = closeEntries(dataDir);
  if (unreachable.length > 0) {
    throw new OperatorError(`The data directory ${dataDir} cannot be used: ${toldUnreachable(unreachable)}.`);
  }
  // The folder itself comes first; with nothing but that open, nothing in it was there to be read.
  if (closed.length > 1) {
    const [first] = closed;
    log.warn({ count: closed.length, first: first?.path }, 'Files that other users could reach are closed to them now');
  }
  const [first] = foreign;
  if (first === undefined) return;
  log.warn(
    { count: foreign.length, first: first.path, owner: first.owner },
    'Other users can reach files of the data directory that belong to somebody else: chown and chmod them',
  );
}

/** Throws an `OperatorError` where there are lists and nothing that says whose they are: before an empty catalogue is made. */
export function assertCatalogueStored(dataDir: string): void {
  const file = statSync(join(dataDir, 'system', 'data.mdb'), { throwIfNoEntry: false });
  if ((file?.size ?? 0) === 0) assertNoLists(dataDir, file === undefined ? 'is missing' : 'is empty');
}

/** The same for a catalogue without an account, as one that was made a moment ago. */
export function assertCatalogueFilled(dataDir: string, accounts: number): void {
  if (accounts === 0) assertNoLists(dataDir, 'knows no account');
}

/**
 * Throws an `OperatorError` for the first list that this release does not know the format of. Of a copy that nobody has open; a start looks at
 * each list when it opens it, and serves the others.
 */
export function assertListsKnown(dataDir: string): void {
  for (const path of listStores(dataDir)) {
    assertStoreKnown(path);
    // Made to look: beside many lists it would take more room than they do.
    rmSync(join(path, 'lock.mdb'), { force: true });
  }
}

function assertNoLists(dataDir: string, fault: string): void {
  if (!hasLists(dataDir)) return;
  throw new OperatorError(
    `The catalogue ${join(dataDir, 'system')} ${fault}, and there are lists beside it. ` +
      'Put system/ back from a copy, or run `gannet doctor --adopt-lists`, which makes the catalogue again from the lists.',
  );
}
