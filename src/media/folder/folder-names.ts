/**
 * Reads the names in folders, in the order of the paths that begin with them. Caches those of the last large folder for
 * the next page of a listing: reading and sorting them for each of a hundred pages would block everybody. Main thread
 * only.
 */
import type { Dirent } from 'node:fs';
import { setImmediate as turnOfOthers } from 'node:timers/promises';
import { pathFault } from '../media-path.js';
import type { SafeFolder } from './safe-folder.js';

export interface Name {
  /** Sort key: a folder sorts where the paths in it do. */
  readonly key: string;
  readonly name: string;
  readonly isFolder: boolean;
}

/** Smaller folders are read again each time. */
const KEPT_NAMES_MIN = 2000;
const KEPT_MS_MAX = 5000;
/** Changes within a tick of the file system's clock do not change the folder's time. */
const SETTLED_MS = 1000;
const NAMES_A_TURN = 2000;

interface Kept {
  /** Identifies the folder and its last change. */
  readonly of: string;
  readonly names: readonly Name[];
  readonly timer: NodeJS.Timeout;
}

const decoder = new TextDecoder('utf-8', { fatal: true });

export class FolderNames {
  /** Names of the large folder that was read last. */
  private kept: Kept | undefined;

  /**
   * Returns the names without links, devices and names invalid in paths. `base` is the folder's path with a slash at
   * its end.
   */
  async of(folder: SafeFolder, base: string): Promise<readonly Name[]> {
    const { dev, ino, mtimeNs, ctimeNs, mtimeMs } = await folder.own();
    const of = [dev, ino, mtimeNs, ctimeNs, base].join(' ');
    if (this.kept?.of === of) return this.kept.names;
    const isSettled = Date.now() - Number(mtimeMs) > SETTLED_MS;
    const names = await sorted(await folder.entries(), base);
    if (names.length >= KEPT_NAMES_MIN && isSettled) this.keep(of, names);
    return names;
  }

  private keep(of: string, names: readonly Name[]): void {
    clearTimeout(this.kept?.timer);
    const timer = setTimeout(() => (this.kept = undefined), KEPT_MS_MAX).unref();
    this.kept = { of, names, timer };
  }
}

async function sorted(entries: readonly Dirent<Buffer>[], base: string): Promise<readonly Name[]> {
  const names: Name[] = [];
  for (const [position, entry] of entries.entries()) {
    if (position % NAMES_A_TURN === NAMES_A_TURN - 1) await turnOfOthers();
    const name = nameOf(entry, base);
    if (name !== undefined) names.push(name);
  }
  return names.sort((a, b) => inOrder(a.key, b.key));
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

/** Compares two strings by their UTF-8 bytes. */
export function inOrder(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at += 1) {
    const [first, second] = [one.charCodeAt(at), other.charCodeAt(at)];
    if (first !== second) return placeOf(first) - placeOf(second);
  }
  return one.length - other.length;
}

/** Makes surrogates sort after all other units, as characters beyond U+FFFF do in UTF-8. */
function placeOf(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
