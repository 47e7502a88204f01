/** Where tests make their folders. */
import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What the tests leave and remove again, at most, with as much to spare. */
const MEMORY_FREE_BYTES_MIN = 4 * 2 ** 30;
const MEMORY_FOLDER = '/dev/shm';

/**
 * In memory, where there is room. A process that is killed loses nothing of what it wrote there, as on
 * a disk; that files are synced at the right moments is not shown by either.
 */
function place() {
  if (process.env.TMPDIR !== undefined) return process.env.TMPDIR;
  try {
    const { bavail, bsize } = statfsSync(MEMORY_FOLDER);
    return bavail * bsize >= MEMORY_FREE_BYTES_MIN ? MEMORY_FOLDER : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** A folder of this beginning for all that is temporary, and what takes it away with whatever is in it; so does the end of this process. */
export function openTestFolder(prefix) {
  const folder = mkdtempSync(join(place(), prefix));
  // As the system's folder for such files: others pass through, so that what a test says of them is said by its own folders.
  chmodSync(folder, 0o711);
  const remove = () => {
    process.removeListener('exit', remove);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  process.once('exit', remove);
  return { folder, remove };
}
