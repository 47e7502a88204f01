/**
 * Names in folders that are on disk. A file that was synced is lost with its name where the power fails before its folder was, and so is a folder
 * with all that is in it; a name that was removed comes back.
 */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { access, mkdir, open, readdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
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

/**
 * As `mkdir` with `recursive`: the folder and those above it where they are missing; returns the uppermost that was made. Node.js says ENOENT
 * where the system refuses a folder by a number that Node.js has no name for, such as that of a used-up quota: then one is made after the other,
 * which throws what the system says.
 */
export async function makeFolders(path: string, mode: number): Promise<string | undefined> {
  try {
    return await mkdir(path, { recursive: true, mode });
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
  }
  const isThere = (folder: string) =>
    access(folder).then(
      () => true,
      () => false,
    );
  const missing: string[] = [];
  for (let at = resolve(path); dirname(at) !== at && !(await isThere(at)); at = dirname(at)) missing.unshift(at);
  for (const folder of missing) await mkdir(folder, { mode });
  return missing[0];
}

/** The same, at once. */
function makeFoldersNow(path: string): string | undefined {
  try {
    return mkdirSync(path, { recursive: true });
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
  }
  const missing: string[] = [];
  for (let at = resolve(path); dirname(at) !== at && !existsSync(at); at = dirname(at)) missing.unshift(at);
  for (const folder of missing) mkdirSync(folder);
  return missing[0];
}

/** Makes the folder and those above it where they are missing, and has the names of those that it made on disk. */
export function makeSyncedFolderNow(path: string): void {
  const first = makeFoldersNow(path);
  for (const folder of foldersAbove(path, first)) syncFolderNow(folder);
}

/** The same of a folder whose disk may not answer. */
export async function makeSyncedFolder(path: string, mode: number): Promise<void> {
  const first = await makeFolders(path, mode);
  for (const folder of foldersAbove(path, first)) {
    await syncFile(folder).catch((error: unknown) => {
      if (systemCode(error) !== 'EACCES') throw error;
    });
  }
}

/** Those that have the names of the folders from `path` up to `first`, the uppermost that was made; none where none was. */
function foldersAbove(path: string, first: string | undefined): string[] {
  const folders: string[] = [];
  if (first === undefined) return folders;
  for (let made = resolve(path); ; made = dirname(made)) {
    folders.push(dirname(made));
    if (made === resolve(first) || dirname(made) === made) return folders;
  }
}
