/** Makes a backup in a media store: stores the pieces first, and what names them last. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { asStorageError, makeFolder, packageVersion } from '../../platform/index.js';
import { DataCopy, STAGING, type BackupSource, type CopyWatch } from '../data-copy.js';
import { asFull } from '../folder-fault.js';
import { inOrderOfMaking, olderStays } from '../kept-backups.js';
import type { MadeBackup } from '../make-backup.js';
import { PieceStore, PlaceFullError } from './piece-store.js';
import { timeOf, type StoredBackup, type StoredBackups } from './stored-backups.js';
import { StoredTarget } from './stored-target.js';

/** Folder in the staging folder, next to those of lists. */
const COPIES = 'copies';

/**
 * Rejects with `conflict`, `store-unavailable`, `store-full` or `storage-full`; pieces stored by then are used by the
 * next backup.
 */
export async function makeStoredBackup(
  source: BackupSource,
  { backups, keep }: { readonly backups: StoredBackups; readonly keep: number | undefined },
  watch: CopyWatch,
): Promise<MadeBackup> {
  const { dataDir } = source;
  const made_utc = new Date(source.clock.nowMs()).toISOString();
  const occupied = await backups.occupy(dataDir);
  try {
    const own = (await backups.all()).filter(({ summary }) => summary?.data_dir === dataDir);
    const earlier = inOrderOfMaking(own, timeOf, made_utc);
    const pieces = new PieceStore(backups.store, backups.told);
    await pieces.look();
    const { lists, damaged, target, files } = await copyInto(source, pieces, watch);
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    await occupied.assertHeld();
    const summary = { made_utc, made_by: packageVersion(), data_dir: dataDir, lists, files: files.length, bytes };
    const path = backups.pathOf(await backups.write({ summary, files }));
    const removed = keep === undefined ? [] : await removeOldest({ backups, earlier, keep, pieces }, path);
    const counts = { lists, files: files.length, bytes, bytes_shared: target.bytesShared };
    return { path, made_utc, ...counts, damaged, removed };
  } finally {
    // If the mark stays, the next backup of this data directory takes it over.
    await occupied.release().catch((error: unknown) => {
      source.log.warn({ err: error, place: backups.told }, 'a backup leaves its mark in a media store');
    });
  }
}

async function copyInto(source: BackupSource, pieces: PieceStore, watch: CopyWatch) {
  const { dataDir } = source;
  const staging = join(dataDir, STAGING);
  await rm(staging, { recursive: true, force: true });
  const folder = join(staging, COPIES);
  await makeFolder(folder);
  const target = new StoredTarget(folder, pieces, watch.signal);
  try {
    const { lists, damaged } = await new DataCopy(source, target, watch).copyAll();
    return { lists, damaged, target, files: await target.files() };
  } catch (error) {
    throw error instanceof PlaceFullError ? error : asFull(asStorageError(error, dataDir), dataDir, dataDir);
  } finally {
    await target.settle();
    await rm(staging, { recursive: true, force: true });
  }
}

interface Removal {
  readonly backups: StoredBackups;
  readonly earlier: readonly StoredBackup[];
  readonly keep: number;
  readonly pieces: PieceStore;
}

async function removeOldest({ backups, earlier, keep, pieces }: Removal, path: string): Promise<string[]> {
  try {
    return await backups.removeOldest(earlier, keep, pieces);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw olderStays(path, why, error);
  }
}
