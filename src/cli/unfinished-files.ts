/** Registry of temporary files that this process is writing, so that an interruption removes them. */
import { rmSync } from 'node:fs';

const unfinished = new Set<string>();

/** Registers a file for removal on interruption, until the returned function is called. */
export function unfinishedFile(path: string): () => void {
  unfinished.add(path);
  return () => void unfinished.delete(path);
}

export function removeUnfinishedFiles(): void {
  for (const path of unfinished) {
    try {
      rmSync(path, { force: true });
    } catch {
      // Its folder is no longer writable, so the file stays.
    }
  }
}
