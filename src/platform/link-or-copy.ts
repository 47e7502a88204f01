/** Files that never change, under a second name. */
import { constants, copyFileSync, linkSync } from 'node:fs';
import { systemCode } from './system-code.js';
import { syncFolderNow } from './synced-folders.js';

/**
 * Gives the file a second name, or makes a copy of it that is on disk, where the file system knows no such names; systems say so in many ways. Throws
 * what the system says of a copy, and where there is no such file, or one of that name.
 */
export function linkOrCopyNow(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (['ENOENT', 'EEXIST'].includes(String(systemCode(error)))) throw error;
    copyFileSync(from, to, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
    syncFolderNow(to);
  }
}
