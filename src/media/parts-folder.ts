/** Where parts of files wait that are on their way to a bucket. What is in it while nobody sends one is what was left by a process that ended at once. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';

/** From the data directory; beside the folders of accounts, none of which begins with a dot. */
export const PARTS_FOLDER = join('media', '.parts');

/** When nothing is sent yet; returns the folder. */
export function emptyPartsFolder(dataDir: string): string {
  const folder = join(dataDir, PARTS_FOLDER);
  rmSync(folder, { recursive: true, force: true });
  return folder;
}
