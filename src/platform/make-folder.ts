/**
 * Creates folders with their missing parents. Node.js's `recursive` option is not used: it reports ENOENT for error
 * numbers that Node.js has no name for, such as an exhausted quota, and loops for ever on file systems that report a
 * missing parent, as /proc does.
 */
import { mkdirSync, statSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { syncFile, syncFolderNow } from './synced-folders.js';
import { systemCode } from './system-code.js';

/** Creates the folder and its missing parents; returns those created, the uppermost first. Throws system errors. */
export function makeFolderNow(path: string, mode?: number): string[] {
  const missing: string[] = [];
  for (let at = resolve(path); kindNow(at) === undefined; at = dirname(at)) missing.unshift(at);
  for (const folder of missing) {
    try {
      mkdirSync(folder, { mode });
    } catch (error) {
      // Another process may have created it meanwhile.
      if (kindNow(folder) !== 'folder') throw error;
    }
  }
  // Throws if there is a file of that name.
  if (kindNow(path) !== 'folder') mkdirSync(path);
  return missing;
}

/** Asynchronous `makeFolderNow`. */
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
 * Creates a folder whose parent must exist, and syncs its name to disk. For folders that an operator names: if the
 * parent is missing, its disk is not mounted or the path is misspelt. Throws system errors, and a `MissingFolderError`
 * that names the uppermost missing folder.
 */
export function makeLastFolderNow(path: string, sync = syncFolderNow): void {
  // The system creates no folder for `folder/.`.
  const folder = resolve(path);
  if (kindNow(folder) === 'folder') return;
  let missing: string | undefined;
  for (let at = dirname(folder); kindNow(at) === undefined; at = dirname(at)) missing = at;
  if (missing !== undefined) throw new MissingFolderError(path, missing);
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another process may have created it meanwhile.
    if (kindNow(folder) !== 'folder') throw error;
  }
  sync(dirname(folder));
}

/** A parent folder is missing. The message is a sentence. */
export class MissingFolderError extends Error {
  constructor(path: string, missing: string) {
    super(
      `There is no folder ${missing}, so that ${path} is not made: the last folder of a path is made, those above it have to be there.`,
    );
  }
}

/** As `makeFolderNow`; the names of the created folders are on disk when this returns. */
export function makeSyncedFolderNow(path: string, sync = syncFolderNow): void {
  for (const folder of makeFolderNow(path)) sync(dirname(folder));
}

/** Asynchronous `makeSyncedFolderNow`. */
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
