/**
 * Syncs names in folders to disk. After a power failure, a synced file is lost with its name unless its folder was
 * synced as well, and so is a folder with all its content; a removed name reappears.
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

/** Syncs the names in this folder and in all folders below it. */
export async function syncFolders(path: string): Promise<void> {
  const folders = (await readdir(path, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  // Concurrently, since a journal writes once for all that wait.
  await Promise.all([...folders.map(({ name }) => syncFolders(join(path, name))), syncFile(path)]);
}

/** Synchronous `syncFile` for a folder. Does nothing for a folder above the service's own that it may not read. */
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
