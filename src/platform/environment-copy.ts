/** Consistent copies of LMDB environments that are in use. */
import type { RootDatabase } from 'lmdb';
import { makeFolderNow } from './make-folder.js';
import { asStorageError } from './storage-space.js';

/**
 * Copies the state of an open environment as of one commit into the folder `to`, which it creates. The copy is not
 * synced when this resolves. A writer waits only while the two meta pages are copied; pages that the copy still has to
 * read are not reused until it is done. Rejects with `storage-full` if there is no space.
 */
export async function copyEnvironment(root: RootDatabase, to: string): Promise<void> {
  try {
    makeFolderNow(to);
    await root.backup(to, false);
  } catch (error) {
    throw asStorageError(error, to);
  }
}
