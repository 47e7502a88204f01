/**
 * Restores a backup into a data directory, in place, since that may be a file system of its own. The previous content
 * stays next to it. An interruption at any moment leaves either the previous content in force, or something that the
 * next start completes:
 *
 *   .restoring   is being copied; the previous content is in force
 *   .restored    is complete; the previous content is being moved aside
 *   .placing     the previous content is aside; the backup is being moved to its place
 *
 * The previous content moves into one folder, however often this is interrupted, which gets its final name, with the
 * time, once everything is in place.
 */
import {
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { copyFile, lstat, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import {
  asStorageError,
  isStorageError,
  isSystemError,
  makeFolder,
  mountsOf,
  OperatorError,
  syncFile,
  systemReason,
} from '../platform/index.js';
import { foldersOf, readDescription, type BackupDescription } from './description.js';

/** Folder in the data directory into which a backup is copied. */
export const RESTORING = '.restoring';
const COPYING = RESTORING;
const COMPLETE = '.restored';
const PLACING = '.placing';
const BEFORE = '.before-restore-';
/** Holds the previous content until the backup is in its place. */
const MOVING_ASIDE = `${BEFORE}unfinished`;
/** Entries that are not moved: the lock, and what this file creates. */
const STAYS = /^(?:lock|lost\+found|\.restoring|\.restored|\.placing|\.before-restore-.*)$/u;

export interface Restored {
  readonly data_dir: string;
  /** Time of the backup. */
  readonly made_utc: string;
  readonly lists: number;
  readonly bytes: number;
  /** Path of the previous content; null if there was none. */
  readonly before: string | null;
  /** The same for an earlier restore that was interrupted and completed first; null if there was none. */
  readonly before_earlier: string | null;
}

/** An interrupted restore that was completed. */
export interface FinishedRestore {
  /** Path of the previous content; undefined if there was none. */
  readonly aside: string | undefined;
}

export interface RestoreRequest {
  /** Path of one backup. */
  readonly from: string;
  readonly dataDir: string;
  /** Moves existing content aside. Without it, the data directory must be empty. */
  readonly replace: boolean;
  readonly assertKnown: AssertKnown;
  /** The interrupted restore that was completed when the data directory was opened for this one. */
  readonly earlier: FinishedRestore | undefined;
}

/** Throws if a complete folder is not a data directory that this release can open. */
export type AssertKnown = (folder: string) => void;

/** The caller holds the lock of the data directory. Rejects with an `OperatorError` that says what to do. */
export async function restoreBackup(request: RestoreRequest): Promise<Restored> {
  const from = resolve(request.from);
  const dataDir = resolve(request.dataDir);
  const description = readDescription(from);
  await assertWhole(from, description);
  const isEmpty = entriesIn(dataDir).length === 0;
  if (!isEmpty && !request.replace) {
    throw new OperatorError(
      `${request.earlier === undefined ? `${dataDir} is not empty` : toldFinished(dataDir, request.earlier)}. Use --replace to restore all the same: the current data moves to a folder in it, and nothing is deleted.`,
    );
  }
  assertMovable(dataDir);
  try {
    await copyAll(from, join(dataDir, COPYING), description);
  } catch (error) {
    await rm(join(dataDir, COPYING), { recursive: true, force: true });
    throw toldNotRestored(error, dataDir);
  }
  await markRestored(dataDir, request.assertKnown);
  const before = finishRestore(dataDir)?.aside ?? null;
  await syncFile(dataDir);
  const { made_utc, lists, files } = description;
  const bytes = files.reduce((sum, each) => sum + each.bytes, 0);
  return { data_dir: dataDir, made_utc, lists, bytes, before, before_earlier: request.earlier?.aside ?? null };
}

/**
 * Converts the error of a restore that changed nothing to a sentence that says so, if the disk or a file is at fault,
 * or the operator can help.
 */
export function toldNotRestored(error: unknown, dataDir: string): unknown {
  const fault = asStorageError(error, dataDir);
  const why = isStorageError(fault) ? `${dataDir}: ${(fault as Error).message}` : reasonOf(error, dataDir);
  return why === undefined ? error : new OperatorError(`The backup was not restored, and nothing was changed: ${why}`);
}

function reasonOf(error: unknown, dataDir: string): string | undefined {
  if (error instanceof OperatorError) return error.message;
  if (!isSystemError(error) || error.path === undefined) return undefined;
  // For a copy, the system names the source.
  if (error.code === 'ENOENT' && !existsSync(dataDir)) return `${dataDir} was deleted during the restore.`;
  return `${error.path} cannot be used: ${systemReason(error)}.`;
}

/** Returns a sentence without its full stop. */
export function toldFinished(dataDir: string, { aside }: FinishedRestore): string {
  const where = aside === undefined ? '' : `; the data from before is in ${aside}`;
  return `Completed an interrupted restore: ${dataDir} has the data of its backup${where}`;
}

/**
 * Marks the copy as complete and on disk: from here on it becomes the data directory. Rejects with an `OperatorError`
 * if it cannot; the copy is removed then.
 */
export async function markRestored(dataDir: string, assertKnown: AssertKnown): Promise<void> {
  try {
    assertMovable(dataDir);
    assertKnown(join(dataDir, COPYING));
  } catch (error) {
    await rm(join(dataDir, COPYING), { recursive: true, force: true });
    throw toldNotRestored(error, dataDir);
  }
  renameSync(join(dataDir, COPYING), join(dataDir, COMPLETE));
  await syncFile(dataDir);
}

/**
 * Completes an interrupted restore, or removes an incomplete copy. To be called before anything of the data directory
 * is read. Returns undefined if no restore was completed.
 */
export function finishRestore(dataDir: string, now = new Date()): FinishedRestore | undefined {
  rmSync(join(dataDir, COPYING), { recursive: true, force: true });
  const moving = join(dataDir, MOVING_ASIDE);
  if (existsSync(join(dataDir, COMPLETE))) {
    const old = entriesIn(dataDir);
    assertMovable(dataDir);
    if (old.length > 0 && !existsSync(moving)) mkdirSync(moving);
    for (const name of old) renameSync(join(dataDir, name), join(moving, name));
    renameSync(join(dataDir, COMPLETE), join(dataDir, PLACING));
  }
  const isPlaced = existsSync(join(dataDir, PLACING));
  if (isPlaced) {
    for (const name of readdirSync(join(dataDir, PLACING)))
      renameSync(join(dataDir, PLACING, name), join(dataDir, name));
    rmSync(join(dataDir, PLACING), { recursive: true });
  }
  if (!existsSync(moving)) return isPlaced ? { aside: undefined } : undefined;
  const aside = join(dataDir, freeAside(dataDir, now));
  renameSync(moving, aside);
  return { aside };
}

/**
 * Throws an `OperatorError` if a file system is mounted in the data directory: it cannot be moved, so only half of the
 * content would be moved aside. Called before anything is moved.
 */
export function assertMovable(dataDir: string): void {
  const names = entriesIn(dataDir);
  if (names.length === 0) return;
  const places = new Set(mountPlaces());
  // Follows a link, as the data directory may be one to a folder on another disk.
  const { dev } = statSync(dataDir);
  const real = realpathSync(dataDir);
  for (const name of names) {
    if (!places.has(join(real, name)) && lstatSync(join(dataDir, name)).dev === dev) continue;
    throw new OperatorError(
      `${join(dataDir, name)} is a mounted file system and cannot be moved aside. Unmount it, restore, and then move the contents of ${name}/ to where they belong.`,
    );
  }
}

/**
 * Returns no mounts if the system does not report them; a mounted file system is also recognized by its device number.
 */
function mountPlaces(): string[] {
  try {
    return mountsOf(readFileSync('/proc/self/mountinfo', 'utf8')).map(({ at }) => at);
  } catch {
    return [];
  }
}

function entriesIn(dataDir: string): string[] {
  if (!existsSync(dataDir)) return [];
  return readdirSync(dataDir).filter((name) => !STAYS.test(name));
}

function freeAside(dataDir: string, now: Date): string {
  const stamp = now.toISOString().replaceAll(/[-:]|\.\d+/gu, '');
  for (let number = 1; ; number += 1) {
    const name = `${BEFORE}${stamp}${number === 1 ? '' : `-${number}`}`;
    if (!existsSync(join(dataDir, name))) return name;
  }
}

/** Throws unless every file of the description exists with its size. */
async function assertWhole(from: string, { files }: BackupDescription): Promise<void> {
  for (const { path, bytes } of files) {
    const found = await lstat(join(from, path)).catch(() => undefined);
    if (found?.isFile() !== true) throw new OperatorError(`${join(from, path)} is missing: the backup is incomplete.`);
    if (found.size !== bytes) {
      throw new OperatorError(
        `${join(from, path)} has ${found.size} bytes instead of ${bytes}: the backup is incomplete.`,
      );
    }
  }
}

async function copyAll(from: string, to: string, { files }: BackupDescription): Promise<void> {
  await makeFolder(to);
  for (const { path } of files) {
    const target = join(to, path);
    await makeFolder(dirname(target));
    // Never hard-linked: the backup must stay as it is, whatever happens to the copy.
    await copyFile(join(from, path), target, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
    await syncFile(target);
  }
  for (const folder of foldersOf(to, files)) await syncFile(folder);
}
