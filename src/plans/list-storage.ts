/**
 * Disk usage of lists. The files of a list are measured again if it has changed and somebody asks. Main thread only.
 */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Folders measured in parallel. */
const FOLDERS_AT_A_TIME = 16;

export class ListStorage {
  readonly #bytes = new Map<string, number>();
  /** Lists being measured that have not changed since the measurement began. */
  readonly #measuring = new Set<string>();
  readonly #folderOf: (listId: string) => string;

  /** `folderOf` returns the folder of a list. */
  constructor(folderOf: (listId: string) => string) {
    this.#folderOf = folderOf;
  }

  /** Invalidates the usage of a list, which may be gone. */
  changed(listId: string): void {
    this.#bytes.delete(listId);
    this.#measuring.delete(listId);
  }

  async bytesOf(listIds: readonly string[]): Promise<number> {
    let sum = 0;
    for (let first = 0; first < listIds.length; first += FOLDERS_AT_A_TIME) {
      const some = listIds.slice(first, first + FOLDERS_AT_A_TIME);
      for (const bytes of await Promise.all(some.map((listId) => this.#measured(listId)))) sum += bytes;
    }
    return sum;
  }

  async #measured(listId: string): Promise<number> {
    const known = this.#bytes.get(listId);
    if (known !== undefined) return known;
    this.#measuring.add(listId);
    const bytes = await folderBytes(this.#folderOf(listId));
    if (this.#measuring.delete(listId)) this.#bytes.set(listId, bytes);
    return bytes;
  }
}

/** Returns the bytes of the files in a folder. A file that vanishes meanwhile counts as 0. */
async function folderBytes(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(none);
  const sizes = await Promise.all(
    entries.filter((entry) => entry.isFile()).map((entry) => bytesOfFile(join(entry.parentPath, entry.name))),
  );
  return sizes.reduce((sum, bytes) => sum + bytes, 0);
}

async function bytesOfFile(path: string): Promise<number> {
  const [size = 0] = await stat(path).then((found) => [found.size], none);
  return size;
}

/** Returns nothing for a missing file; rethrows other errors. */
function none(error: unknown): readonly never[] {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
  throw error;
}
