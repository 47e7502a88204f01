/** The files below a folder in the order of the bytes of their paths. Links, devices and names that no path can have are left out. */
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { pathFault } from '../media-path.js';
import { isAbsent, type SafeFolder } from './safe-folder.js';

export interface FoundFile {
  readonly path: string;
  readonly name: string;
  /** Open while the listing stands at this file. */
  readonly folder: SafeFolder;
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Files whose path begins with `prefix` and is behind `after`. */
export function filesBelow(root: SafeFolder, prefix: string, after: string): AsyncGenerator<FoundFile> {
  return walk(root, '', { prefix, after });
}

interface Wanted {
  readonly prefix: string;
  readonly after: string;
}

async function* walk(folder: SafeFolder, base: string, wanted: Wanted): AsyncGenerator<FoundFile> {
  for (const { key, name, isFolder } of await sortedNames(folder, base)) {
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
    if (isAbsent(error)) return;
    throw error;
  }
  try {
    yield* walk(below, path, wanted);
  } finally {
    await below.close();
  }
}

interface Name {
  /** What the order goes by: a folder stands where the paths in it do. */
  readonly key: string;
  readonly name: string;
  readonly isFolder: boolean;
}

async function sortedNames(folder: SafeFolder, base: string): Promise<Name[]> {
  const names: { readonly name: Name; readonly bytes: Buffer }[] = [];
  for (const entry of await readdir(folder.path, { withFileTypes: true, encoding: 'buffer' })) {
    const name = nameOf(entry, base);
    if (name !== undefined) names.push({ name, bytes: Buffer.from(name.key) });
  }
  return names.sort((a, b) => Buffer.compare(a.bytes, b.bytes)).map(({ name }) => name);
}

function nameOf(entry: Dirent<Buffer>, base: string): Name | undefined {
  const isFolder = entry.isDirectory();
  if (!isFolder && !entry.isFile()) return undefined;
  let name: string;
  try {
    name = decoder.decode(entry.name);
  } catch {
    return undefined;
  }
  return pathFault(base + name) === undefined ? { key: isFolder ? `${name}/` : name, name, isFolder } : undefined;
}

/** Whether a folder can have a path that is wanted; `path` ends with a slash. */
function mayHold(path: string, { prefix, after }: Wanted): boolean {
  const touches = path.startsWith(prefix) || prefix.startsWith(path);
  return touches && (after.startsWith(path) || isBehind(path, after));
}

function isBehind(path: string, after: string): boolean {
  return after === '' || Buffer.compare(Buffer.from(path), Buffer.from(after)) > 0;
}
