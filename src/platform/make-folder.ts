/**
 * Folders, made with those above them. Node.js's own `recursive` is used for none: it says ENOENT where the system refuses a folder by a number
 * that Node.js has no name for, such as that of a used-up quota, and never comes to an end where a file system says that the one above is not
 * there, as /proc does.
 */
import { mkdirSync, statSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { syncFile, syncFolderNow } from './synced-folders.js';
import { systemCode } from './system-code.js';

/** Makes the folder and those above it where they are missing; returns those that were, the uppermost first. Throws what the system says. */
export function makeFolderNow(path: string, mode?: number): string[] {
  const missing: string[] = [];
  for (let at = resolve(path); kindNow(at) === undefined; at = dirname(at)) missing.unshift(at);
  for (const folder of missing) {
    try {
      mkdirSync(folder, { mode });
    } catch (error) {
      // Somebody else may have made it meanwhile.
      if (kindNow(folder) !== 'folder') throw error;
    }
  }
  // Throws where a file has the name.
  if (kindNow(path) !== 'folder') mkdirSync(path);
  return missing;
}

/** The same without waiting for the disk. */
export async function makeFolder(path: string, mode?: number): Promise<string[]> {
  const missing: string[] = [];
  for (let at = resolve(path); (await kind(at)) === undefined; at = dirname(at)) missing.unshift(at);
  for (const folder of missing) {
    await mkdir(folder, { mode }).catch(async (error: unknown) => {
      if ((await kind(folder)) !== 'folder') throw error;
    });
  }
  if ((await kind(path)) !== 'folder') await mkdir(path);
  return missing;
}

/**
 * Makes the folder where the one above it is there, and its name is on disk: a folder that somebody names for what is kept, whose parents are those of a disk that is
 * not mounted, or misspelt. Throws what the system says, and a `MissingFolderError` that names the first that is missing.
 */
export function makeLastFolderNow(path: string, sync = syncFolderNow): void {
  // The system makes none that is called `folder/.`.
  const folder = resolve(path);
  if (kindNow(folder) === 'folder') return;
  let missing: string | undefined;
  for (let at = dirname(folder); kindNow(at) === undefined; at = dirname(at)) missing = at;
  if (missing !== undefined) throw new MissingFolderError(path, missing);
  try {
    mkdirSync(folder);
  } catch (error) {
    // Somebody else may have made it meanwhile.
    if (kindNow(folder) !== 'folder') throw error;
  }
  sync(dirname(folder));
}

/** Its message is a sentence. */
export class MissingFolderError extends Error {
  constructor(path: string, missing: string) {
    super(
      `There is no folder ${missing}, so that ${path} is not made: the last folder of a path is made, those above it have to be there.`,
    );
  }
}

/** As `makeFolderNow`; the names of those that it made are on disk behind it. */
export function makeSyncedFolderNow(path: string, sync = syncFolderNow): void {
  for (const folder of makeFolderNow(path)) sync(dirname(folder));
}

/** The same without waiting for the disk. */
export async function makeSyncedFolder(path: string, mode: number): Promise<void> {
  for (const folder of await makeFolder(path, mode)) {
    await syncFile(dirname(folder)).catch((error: unknown) => {
      if (systemCode(error) !== 'EACCES') throw error;
    });
  }
}

type Kind = 'folder' | 'other' | undefined;

function kindNow(path: string): Kind {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && (found.isDirectory() ? 'folder' : 'other');
}

async function kind(path: string): Promise<Kind> {
  try {
    return (await stat(path)).isDirectory() ? 'folder' : 'other';
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
