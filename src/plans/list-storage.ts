/** What lists take on disk: their files, measured again where a list has changed and somebody asks. Main thread only. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Folders that are looked at together. */
const FOLDERS_AT_A_TIME = 16;

export class ListStorage {
  readonly #bytes = new Map<string, number>();
  /** Those that nothing has happened to since they are being measured. */
  readonly #measuring = new Set<string>();
  readonly #folderOf: (listId: string) => string;

  /** `folderOf`: where a list is. */
  constructor(folderOf: (listId: string) => string) {
    this.#folderOf = folderOf;
  }

  /** Also for one that is gone. */
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

/** Of the files in it. One that goes meanwhile counts as none. */
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

/** Where it is not there any more; whatever else is wrong is thrown. */
function none(error: unknown): readonly never[] {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
  throw error;
}
