/** Files as a backup takes them over: linked where they never change, shared with the backup before where they are the same. */
import { constants, type Dirent, type Stats } from 'node:fs';
import { copyFile, link, lstat, open, readdir, realpath, stat, utimes, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { FILE_SYSTEM_OWN, isWithin, makeFolder, syncFile } from '../platform/index.js';
import type { KeptFile } from './description.js';

/** `utimes` keeps about a millisecond of a time. */
const TIME_MS_APART_MAX = 2;
/** Of a file that never changes, what says which one it is: an index segment has its seal in its first page. */
const HEAD_BYTES = 4096;

/** What became of a file. `shared`: it takes no room of its own. */
export interface Kept {
  readonly bytes: number;
  readonly shared: boolean;
}

/** A second name for a file that never changes. False where there can be none, of which systems tell in many ways: it is copied then, which says what else is wrong. Rejects with ENOENT where it is gone. */
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
 * Copies a file, or what a link to one leads to, with its time of change, on disk when it resolves. `before`: the same file of the backup before; where size, time and
 * begin agree, this one becomes a second name for it.
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
  /** Paths of files and folders to leave out. */
  readonly without?: (path: string) => boolean;
  /** Links to go through, as the service does that has files behind them. None by default. */
  readonly through?: (path: string) => boolean;
  /** Told of the real place of each folder that a link is gone through to, beforehand. What it throws ends the look. */
  readonly onFolder?: (path: string, place: string) => void;
  /** Told of each link that leads nowhere, of those to go through. What it throws ends the look. */
  readonly onNowhere?: (path: string) => void;
}

/**
 * Every file below a folder, by its path from there with `/`, and its size. Sockets, links that are not gone through, and those that lead
 * nowhere or back to a folder that they are in are not among them.
 */
export async function filesBelow(folder: string, options: FilesOptions = {}): Promise<KeptFile[]> {
  const { without = () => false, through = () => false, onFolder, onNowhere } = options;
  const files: KeptFile[] = [];
  /** `above`: where the whole really is, and those folders that links on the way were in and led to. */
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

/** None where the folder has gone meanwhile, and in what is not the service's. */
async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || (code === 'EACCES' && basename(folder) === FILE_SYSTEM_OWN)) return [];
    throw error;
  }
}

/** Of what a link leads to. Undefined where it has gone meanwhile, or a link leads nowhere. */
async function statOf(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

/** The link itself, whatever it leads to. */
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

/** Undefined where it cannot be read: then it is copied, and copying says what is wrong with the file itself. */
async function describe(path: string): Promise<{ size: number; mtimeMs: number; head: Buffer } | undefined> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, 'r');
    const { size, mtimeMs } = await file.stat();
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return { size, mtimeMs, head: buffer.subarray(0, bytesRead) };
  } catch {
    return undefined;
  } finally {
    await file?.close().catch(() => undefined);
  }
}
