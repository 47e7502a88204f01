/**
 * Folder for parts of files on their way to a bucket. When nothing is being sent, it only holds leftovers of a process
 * that was killed.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';

/** Relative to the data directory, next to the folders of accounts, whose names never begin with a dot. */
export const PARTS_FOLDER = join('media', '.parts');

/** Removes leftovers; call before anything is sent. Returns the folder. */
export function emptyPartsFolder(dataDir: string): string {
  const folder = join(dataDir, PARTS_FOLDER);
  rmSync(folder, { recursive: true, force: true });
  return folder;
}
