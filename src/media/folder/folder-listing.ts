/** The files below a folder in the order of the bytes of their paths. Links, devices and names that no path can have are left out. */
import { asFolderError, isForbidden } from './folder-faults.js';
import { inOrder, type FolderNames, type Name } from './folder-names.js';
import { isAbsent, type SafeFolder } from './safe-folder.js';

export interface FoundFile {
  readonly path: string;
  readonly name: string;
  /** Open while the listing stands at this file. */
  readonly folder: SafeFolder;
}

/** Of the file system itself, in its root: only root may read it. */
const LOST_AND_FOUND = 'lost+found/';

export interface Wanted {
  readonly prefix: string;
  readonly after: string;
  /** What is known of the store's folders. */
  readonly names: FolderNames;
}

/** Files whose path begins with `prefix` and is behind `after`. */
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
    // Removed, or replaced by a link, in between.
    if (isAbsent(error) || (path === LOST_AND_FOUND && isForbidden(error))) return;
    throw asFolderError(error, path);
  }
  try {
    yield* walk(below, path, wanted);
  } finally {
    await below.close();
  }
}

/** The place of the first name that may be behind `after` or, as a folder, hold a path that is. */
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

/** Whether a folder can have a path that is wanted; `path` ends with a slash. */
function mayHold(path: string, { prefix, after }: Wanted): boolean {
  const touches = path.startsWith(prefix) || prefix.startsWith(path);
  return touches && (after.startsWith(path) || isBehind(path, after));
}

function isBehind(path: string, after: string): boolean {
  return after === '' || inOrder(path, after) > 0;
}
