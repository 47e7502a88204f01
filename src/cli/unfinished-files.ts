/** Files that this process is writing beside their names: one that is interrupted leaves none of them behind. */
import { rmSync } from 'node:fs';

const unfinished = new Set<string>();

/** Until what is returned is called, an interruption removes the file. */
export function unfinishedFile(path: string): () => void {
  unfinished.add(path);
  return () => void unfinished.delete(path);
}

export function removeUnfinishedFiles(): void {
  for (const path of unfinished) {
    try {
      rmSync(path, { force: true });
    } catch {
      // Its folder is not to be written any more: the file stays.
    }
  }
}
