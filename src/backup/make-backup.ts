/** Makes a backup in a folder. */
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  makeLastFolderNow,
  MissingFolderError,
  packageVersion,
  ServiceError,
  syncFile,
  systemReason,
} from '../platform/index.js';
import { DataCopy, STAGING, type BackupSource, type CopyWatch } from './data-copy.js';
import { describeBackup, DESCRIPTION_FILE, foldersOf } from './description.js';
import { filesBelow } from './file-keeping.js';
import { asFolderFault, assertAnswers } from './folder-fault.js';
import { FolderTarget } from './folder-target.js';
import {
  backupsIn,
  beyond,
  freeName,
  inOrderOfMaking,
  olderStays,
  removingName,
  unfinishedName,
  type KeptBackup,
} from './kept-backups.js';

export interface BackupRequest {
  /** Absolute path; each backup is a folder in it. */
  readonly folder: string;
  /** Number of the newest backups of this data directory to keep. Undefined: all. */
  readonly keep?: number | undefined;
}

export interface MadeBackup {
  readonly path: string;
  readonly made_utc: string;
  readonly lists: number;
  readonly files: number;
  readonly bytes: number;
  /** Bytes that take no space in addition to the data directory or the earlier backups. */
  readonly bytes_shared: number;
  /** Lists whose stores LMDB could not read. */
  readonly damaged: readonly string[];
  /** Older backups that were removed. */
  readonly removed: readonly string[];
}

/**
 * Rejects with `storage-full`, `conflict`, or `unprocessable` if the parent folder is missing; removes the unfinished
 * backup then.
 */
export async function makeBackup(source: BackupSource, request: BackupRequest, watch: CopyWatch): Promise<MadeBackup> {
  const madeUtc = new Date(source.clock.nowMs()).toISOString();
  const own = backupsIn(request.folder).filter(({ dataDir }) => dataDir === source.dataDir);
  const earlier = inOrderOfMaking(own, (each) => each.madeUtc, madeUtc);
  const unfinished = join(request.folder, unfinishedName(source.dataDir));
  try {
    await removeLeftOver(source, unfinished);
    makeFolderOfBackups(request.folder);
    // Must not exist: if others may write to the folder, it could be theirs, and so would be everything put into it.
    await mkdir(unfinished);
    const target = new FolderTarget(unfinished, earlier.at(-1)?.path);
    const { lists, damaged } = await new DataCopy(source, target, watch).copyAll();
    watch.job.say('what was copied is written to the disk');
    const files = await describe(target, { made_utc: madeUtc, data_dir: source.dataDir, lists });
    await rm(join(source.dataDir, STAGING), { recursive: true, force: true });
    const path = join(request.folder, freeName(request.folder, madeUtc));
    await rename(unfinished, path);
    await syncFile(request.folder);
    const removed = await removeOldest(beyond(earlier, request.keep), path, source.dataDir);
    const { bytes, bytesShared } = target;
    return { path, made_utc: madeUtc, lists, files, bytes, bytes_shared: bytesShared, damaged, removed };
  } catch (error) {
    // If the disk does not respond, the next backup does this.
    await assertAnswers(request.folder)
      .then(() => removeLeftOver(source, unfinished))
      .catch(() => undefined);
    throw asFolderFault(error, request.folder, source.dataDir);
  }
}

function makeFolderOfBackups(folder: string): void {
  try {
    makeLastFolderNow(folder);
  } catch (error) {
    if (error instanceof MissingFolderError) throw new ServiceError('unprocessable', error.message);
    throw error;
  }
}

/** Writes the description; the whole backup is on disk then. Returns the number of its files. */
async function describe(
  target: FolderTarget,
  told: { readonly made_utc: string; readonly data_dir: string; readonly lists: number },
): Promise<number> {
  const { folder } = target;
  const files = await filesBelow(folder);
  await target.settle(foldersOf(folder, files));
  await writeFile(join(folder, DESCRIPTION_FILE), describeBackup({ ...told, made_by: packageVersion(), files }));
  await syncFile(join(folder, DESCRIPTION_FILE));
  await syncFile(folder);
  return files.length;
}

/** Removes what an interrupted backup has left. */
async function removeLeftOver({ dataDir }: BackupSource, unfinished: string): Promise<void> {
  await Promise.all([unfinished, join(dataDir, STAGING)].map((path) => rm(path, { recursive: true, force: true })));
}

async function removeOldest(old: readonly KeptBackup[], made: string, dataDir: string): Promise<string[]> {
  const removed = old.map(({ path }) => path);
  const folder = dirname(made);
  const removing = join(folder, removingName(dataDir));
  try {
    await rm(removing, { recursive: true, force: true });
    for (const path of removed) {
      // Renamed first, since the name says that the backup is complete. After an interruption, the next backup removes
      // it.
      await rename(path, removing);
      await syncFile(folder);
      await rm(removing, { recursive: true, force: true });
    }
  } catch (error) {
    throw olderStays(made, systemReason(error), error);
  }
  return removed;
}
