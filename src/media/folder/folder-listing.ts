/**
 * Lists the files below a folder in the order of the bytes of their paths. Leaves out links, devices and names that are
 * invalid in paths.
 */
import { asFolderError, isForbidden } from './folder-faults.js';
import { inOrder, type FolderNames, type Name } from './folder-names.js';
import { isAbsent, type SafeFolder } from './safe-folder.js';

export interface FoundFile {
  readonly path: string;
  readonly name: string;
  /** Open while the listing is at this file. */
  readonly folder: SafeFolder;
}

/** Folder of the file system in its root, readable by root only. */
const LOST_AND_FOUND = 'lost+found/';

export interface Wanted {
  readonly prefix: string;
  readonly after: string;
  /** Cached names of the store's folders. */
  readonly names: FolderNames;
}

/** Yields files whose path begins with `prefix` and is after `after`. */
export function filesBelow(root: SafeFolder, wanted: Wanted): AsyncGenerator<FoundFile> {
  return walk(root, '', wanted);
}

async function* walk(folder: SafeFolder, base: string, wanted: Wanted): AsyncGenerator<FoundFile> {
  const names = await wanted.names.of(folder, base);
  for (let at = firstNotBefore(names, base, wanted.after); at < names.length; at += 1) {
    const { key, name, isFolder } = names[at] as Name;
    const path = base + key;
    if (isFolder) {
      if (mayHold(path, wanted)) yield* walkBelow(folder, name, path, wanted);
    } else if (path.startsWith(wanted.prefix) && isBehind(path, wanted.after)) {
      yield { path, name, folder };
    }
  }
}

async function* walkBelow(folder: SafeFolder, name: string, path: string, wanted: Wanted): AsyncGenerator<FoundFile> {
  let below: SafeFolder;
  try {
    below = await folder.enter(name);
  } catch (error) {
    // The folder was removed or replaced by a link meanwhile.
    if (isAbsent(error) || (path === LOST_AND_FOUND && isForbidden(error))) return;
    throw asFolderError(error, path);
  }
  try {
    yield* walk(below, path, wanted);
  } finally {
    await below.close();
  }
}

/** Returns the index of the first name that may be after `after` or, as a folder, contain such a path. */
function firstNotBefore(names: readonly Name[], base: string, after: string): number {
  let [low, high] = [0, names.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const path = base + (names[middle] as Name).key;
    if (inOrder(path, after) < 0 && !after.startsWith(path)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** True if a folder can contain a wanted path; `path` ends with a slash. */
function mayHold(path: string, { prefix, after }: Wanted): boolean {
  const touches = path.startsWith(prefix) || prefix.startsWith(path);
  return touches && (after.startsWith(path) || isBehind(path, after));
}

function isBehind(path: string, after: string): boolean {
  return after === '' || inOrder(path, after) > 0;
}
