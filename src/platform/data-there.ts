/** Checks that the open data directory is still in its place. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceError } from './errors.js';
import { systemCode } from './system-code.js';

/**
 * Called before a folder is created in the data directory. Rejects with `storage-failed` if the data directory is gone,
 * for instance because its disk was unmounted. Data written to a new directory would be hidden once the disk is mounted
 * again, while the open catalogue, which is on that disk, would refer to them.
 */
export async function assertDataThere(dataDir: string): Promise<void> {
  try {
    await stat(join(dataDir, 'system'));
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    const detail = 'The data directory is gone, as when its disk is not mounted: nothing is written in its place.';
    throw new ServiceError('storage-failed', detail, { cause: error });
  }
}
