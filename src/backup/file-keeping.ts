/** Files as a backup takes them over: linked where they never change, shared with the backup before where they are the same. */
import { constants, type Dirent } from 'node:fs';
import { copyFile, link, lstat, mkdir, open, readdir, utimes } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { syncFile } from '../platform/index.js';
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

/** A second name for a file that never changes. False where the file systems differ or know no links; rejects with ENOENT where it is gone. */
export async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return true;
    if (['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(code)) return false;
    throw error;
  }
}

/**
 * Copies a file with its time of change, on disk when it resolves. `before`: the same file of the backup before; where size, time and
 * begin agree, this one becomes a second name for it.
 */
export async function keepCopy(from: string, to: string, before: string | undefined): Promise<Kept> {
  const { size, mtime } = await lstat(from);
  await mkdir(dirname(to), { recursive: true });
  if (before !== undefined && (await isSame(from, before)) && (await linked(before, to).catch(() => false))) {
    return { bytes: size, shared: true };
  }
  await copyFile(from, to, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
  await utimes(to, mtime, mtime);
  await syncFile(to);
  return { bytes: (await lstat(to)).size, shared: false };
}

/**
 * Every file below a folder, by its path from there with `/`, and its size. `without`: paths of files and folders to leave out. Neither
 * links nor sockets are followed or told.
 */
export async function filesBelow(
  folder: string,
  without: (path: string) => boolean = () => false,
): Promise<KeptFile[]> {
  const files: KeptFile[] = [];
  const walk = async (path: string): Promise<void> => {
    for (const entry of await entriesOf(join(folder, path))) {
      const below = path === '' ? entry.name : join(path, entry.name);
      if (without(below)) continue;
      if (entry.isDirectory()) await walk(below);
      else if (entry.isFile()) {
        const bytes = await sizeOf(join(folder, below));
        if (bytes !== undefined) files.push({ path: below.split(sep).join('/'), bytes });
      }
    }
  };
  await walk('');
  return files;
}

/** None where the folder has gone meanwhile. */
async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Undefined where the file has gone meanwhile. */
async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await lstat(path)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function isSame(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([describe(one), describe(other)]);
  if (a === undefined || b === undefined || a.size !== b.size) return false;
  return Math.abs(a.mtimeMs - b.mtimeMs) < TIME_MS_APART_MAX && a.head.equals(b.head);
}

async function describe(path: string): Promise<{ size: number; mtimeMs: number; head: Buffer } | undefined> {
  let file;
  try {
    file = await open(path, 'r');
  } catch {
    // The backup before does not have it: it is copied.
    return undefined;
  }
  try {
    const { size, mtimeMs } = await file.stat();
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return { size, mtimeMs, head: buffer.subarray(0, bytesRead) };
  } finally {
    await file.close();
  }
}
