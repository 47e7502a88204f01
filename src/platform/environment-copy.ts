/** Copies of LMDB environments as of one moment, while they are read and written. */
import type { RootDatabase } from 'lmdb';
import { makeFolderNow } from './make-folder.js';
import { asStorageError } from './storage-space.js';

/**
 * Copies an open environment as of one commit into the folder `to`, which is made; not on disk yet when it resolves. Whoever writes
 * meanwhile waits for two pages; what the copy still has to read is not used again until it is done. Rejects with `storage-full` where there is
 * no room.
 */
export async function copyEnvironment(root: RootDatabase, to: string): Promise<void> {
  try {
    makeFolderNow(to);
    await root.backup(to, false);
  } catch (error) {
    throw asStorageError(error, to);
  }
}
