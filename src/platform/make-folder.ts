import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { syncFolderNow } from './synced-folders.js';

/**
 * Makes a folder that somebody has named, and those above it, and has their names on disk. Node.js's own `recursive` never comes to an end
 * where a file system refuses a folder by saying that the one above is not there, as /proc does. Throws what the system says.
 */
export function makeFolder(path: string, sync = syncFolderNow): void {
  const missing: string[] = [];
  for (let at = resolve(path); !existsSync(at) && dirname(at) !== at; at = dirname(at)) missing.push(at);
  for (const folder of missing.reverse()) {
    try {
      mkdirSync(folder);
    } catch (error) {
      // Somebody else may have made it meanwhile.
      if (!isFolder(folder)) throw error;
    }
    sync(dirname(folder));
  }
  // Throws where a file has the name.
  if (!isFolder(path)) mkdirSync(path);
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
