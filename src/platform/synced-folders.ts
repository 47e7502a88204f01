/**
 * Names in folders that are on disk. A file that was synced is lost with its name where the power fails before its folder was, and so is a folder
 * with all that is in it; a name that was removed comes back.
 */
import { closeSync, fsyncSync, openSync } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from './system-code.js';

/** Resolves when the file, or the names in the folder, are on disk. */
export async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The names in this folder and in all below it. */
export async function syncFolders(path: string): Promise<void> {
  const folders = (await readdir(path, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  // At once, for a journal writes one time for all who wait.
  await Promise.all([...folders.map(({ name }) => syncFolders(join(path, name))), syncFile(path)]);
}

/** As `syncFile`, for a folder; one above the service's own that it may not read is left to the system. */
export function syncFolderNow(path: string): void {
  const file = openToSync(path);
  if (file === undefined) return;
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function openToSync(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch (error) {
    if (systemCode(error) === 'EACCES') return undefined;
    throw error;
  }
}
