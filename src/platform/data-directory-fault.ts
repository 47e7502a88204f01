/** Checks whether a folder can be a data directory, before anything is created or opened in it. */
import { accessSync, constants, lstatSync, readlinkSync, statSync, type Stats } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { foreignFolderFault } from './file-modes.js';
import { isSystemError, systemReason } from './system-errors.js';

/**
 * Returns why this user cannot have a data directory there, as the end of a sentence without its full stop; undefined
 * if the folder can be used or, if it does not exist, be created.
 */
export function dataDirectoryFault(dataDir: string): string | undefined {
  const wanted = resolve(dataDir);
  try {
    const { path, stats } = nearestExisting(wanted);
    const reason = stats.isDirectory() ? accessFault(path, stats) : 'it is no folder';
    if (path !== wanted) return reason === undefined ? undefined : `it cannot be made in ${path}: ${reason}`;
    return reason ?? foreignFolderFault(wanted);
  } catch (error) {
    if (isSystemError(error)) return systemReason(error);
    if (error instanceof DanglingLink)
      return `${error.path} is a link to ${readlinkSync(error.path)}, which does not exist`;
    throw error;
  }
}

class DanglingLink extends Error {
  constructor(readonly path: string) {
    super(path);
  }
}

/** Returns the folder itself or, if it does not exist, its nearest existing parent. */
function nearestExisting(wanted: string): { readonly path: string; readonly stats: Stats } {
  for (let path = wanted; ; path = dirname(path)) {
    try {
      return { path, stats: statSync(path) };
    } catch (error) {
      const isMissing = isSystemError(error) && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
      if (!isMissing || path === dirname(path)) throw error;
      // For instance, the disk that the link leads to is not mounted.
      if (error.code === 'ENOENT' && lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true)
        throw new DanglingLink(path);
    }
  }
}

function accessFault(path: string, { uid }: Stats): string | undefined {
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    const own = process.getuid?.();
    const isForeign = isSystemError(error) && error.code === 'EACCES' && uid !== own;
    return isForeign
      ? `it belongs to the user with the id ${uid}, and this one has the id ${own}`
      : systemReason(error);
  }
}
