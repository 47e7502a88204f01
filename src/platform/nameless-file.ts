/** Files on disk without a name: nobody else can open them, and nothing is left of them however the process ends. */
import { randomUUID } from 'node:crypto';
import { open, unlink, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { asStorageError } from './storage-space.js';
import { makeFolder } from './make-folder.js';
import { writeFully } from './whole-bytes.js';

/**
 * Returns an open file that contains `bytes` and exists until it is closed. `folder`, which is created if missing,
 * determines its disk. Rejects with a ServiceError if the disk is full.
 */
export async function namelessFile(folder: string, bytes: Uint8Array): Promise<FileHandle> {
  const path = join(folder, randomUUID());
  let file: FileHandle | undefined;
  try {
    await makeFolder(folder, 0o700);
    file = await open(path, 'wx+', 0o600);
    // Before anything is written to it.
    await unlink(path);
    await writeFully(file, bytes, 0);
    return file;
  } catch (error) {
    await file?.close();
    throw asStorageError(error, folder);
  }
}
