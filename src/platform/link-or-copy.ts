/** Gives files that never change a second name. */
import { constants, copyFileSync, linkSync } from 'node:fs';
import { systemCode } from './system-code.js';
import { syncFolderNow } from './synced-folders.js';

/**
 * Hard-links the file or, if the file system cannot, copies it and syncs the copy. Any error but ENOENT and EEXIST
 * leads to a copy, since systems report missing support in many ways. Throws the errors of copying; ENOENT if `from` is
 * missing; EEXIST if `to` exists.
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
