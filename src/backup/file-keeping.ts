/**
 * Takes files over into a backup: hard-links those that never change, and shares those that equal the previous
 * backup's.
 */
import { constants, type Dirent, type Stats } from 'node:fs';
import { copyFile, link, lstat, open, readdir, realpath, stat, utimes, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { FILE_SYSTEM_OWN, isWithin, makeFolder, readFully, syncFile } from '../platform/index.js';
import type { KeptFile } from './description.js';

/** Tolerance in comparing times: `utimes` is precise to about a millisecond. */
const TIME_MS_APART_MAX = 2;
/** Bytes that identify a file that never changes: an index segment has its seal in its first page. */
const HEAD_BYTES = 4096;

/** How a file was taken over. `shared`: it takes no space of its own. */
export interface Kept {
  readonly bytes: number;
  readonly shared: boolean;
}

/**
 * Creates a hard link for a file that never changes. Returns false if there can be none, which systems report in many
 * ways: copying the file then reports other errors. Rejects with ENOENT if the file is gone.
 */
export async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return true;
    if (code === 'ENOENT') throw error;
    return false;
  }
}

/**
 * Copies a file, or the target of a link, with its time of change; it is on disk when this resolves. `before`: the same
 * file in the previous backup, which is hard-linked if size, time and beginning agree.
 */
export async function keepCopy(from: string, to: string, before: string | undefined): Promise<Kept> {
  const { size, mtime } = await stat(from);
  await makeFolder(dirname(to));
  if (before !== undefined && (await isSame(from, before)) && (await linked(before, to).catch(() => false))) {
    return { bytes: size, shared: true };
  }
  await copyFile(from, to, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
  await utimes(to, mtime, mtime);
  await syncFile(to);
  return { bytes: (await lstat(to)).size, shared: false };
}

export interface FilesOptions {
  /** Returns true for files and folders to leave out. */
  readonly without?: (path: string) => boolean;
  /** Returns true for links to follow, behind which the service has files. Default: none. */
  readonly through?: (path: string) => boolean;
  /** Called with the real path of each folder reached by a link, before it is read. Its errors end the search. */
  readonly onFolder?: (path: string, place: string) => void;
  /** Called for each link to follow that has no target. Its errors end the search. */
  readonly onNowhere?: (path: string) => void;
}

/**
 * Returns every file below a folder, by its relative path with `/`, and its size. Omits sockets, links that are not
 * followed, and links without a target or back to a folder that contains them.
 */
export async function filesBelow(folder: string, options: FilesOptions = {}): Promise<KeptFile[]> {
  const { without = () => false, through = () => false, onFolder, onNowhere } = options;
  const files: KeptFile[] = [];
  /** `above`: real paths of the top folder, and of the folders that the followed links were in and led to. */
  const walk = async (path: string, above: readonly string[]): Promise<void> => {
    for (const entry of await entriesOf(join(folder, path))) {
      const below = path === '' ? entry.name : join(path, entry.name);
      if (without(below)) continue;
      const at = join(folder, below);
      if (entry.isDirectory()) await walk(below, above);
      else if (entry.isFile()) await add(below, at);
      else if (entry.isSymbolicLink() && through(below)) await goThrough(below, at, above);
    }
  };
  const add = async (below: string, at: string): Promise<void> => {
    const bytes = (await statOf(at))?.size;
    if (bytes !== undefined) files.push({ path: below.split(sep).join('/'), bytes });
  };
  const goThrough = async (below: string, at: string, above: readonly string[]): Promise<void> => {
    const stats = await statOf(at);
    if (stats === undefined && (await isThere(at))) onNowhere?.(below);
    if (stats?.isFile() === true) return add(below, at);
    if (stats?.isDirectory() !== true) return;
    const place = await realpath(at);
    const around = [...above, await realpath(dirname(at))];
    if (around.some((each) => isWithin(each, place))) return;
    onFolder?.(below, place);
    await walk(below, [...around, place]);
  };
  await walk('', [await realpath(folder).catch(() => folder)]);
  return files;
}

/** Returns no entries if the folder has vanished, or is the file system's own. */
async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || (code === 'EACCES' && basename(folder) === FILE_SYSTEM_OWN)) return [];
    throw error;
  }
}

/** Returns the stats of a link's target; undefined if it has vanished or a link has no target. */
async function statOf(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

/** True if the entry itself exists, even as a link without a target. */
async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

async function isSame(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([describe(one), describe(other)]);
  if (a === undefined || b === undefined || a.size !== b.size) return false;
  return Math.abs(a.mtimeMs - b.mtimeMs) < TIME_MS_APART_MAX && a.head.equals(b.head);
}

/** Returns undefined if the file cannot be read: it is then copied, which reports the error. */
async function describe(path: string): Promise<{ size: number; mtimeMs: number; head: Buffer } | undefined> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, 'r');
    const { size, mtimeMs } = await file.stat();
    const head = Buffer.alloc(HEAD_BYTES);
    return { size, mtimeMs, head: head.subarray(0, await readFully(file, head, 0)) };
  } catch {
    return undefined;
  } finally {
    await file?.close().catch(() => undefined);
  }
}
