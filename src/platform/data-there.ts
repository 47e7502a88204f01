/** Whether the data directory that is open is still where it was. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceError } from './errors.js';
import { systemCode } from './system-code.js';

/**
 * Before a folder is made in it. Rejects with `storage-failed` where the data directory is gone, as when its disk is not mounted: what is put into a
 * new one would be hidden as soon as that one is back, whose catalogue, which is open, would have it.
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
