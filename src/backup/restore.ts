/**
 * A backup becomes a data directory, in place, for it may be a file system of its own. What was there stays beside it, and a stop at
 * any moment leaves either what was there or something that the next start completes:
 *
 *   .restoring   is being copied: what was there is in force
 *   .restored    is all there: what was there moves aside
 *   .placing     what was there is aside: the backup moves to its place
 *
 * What was there moves into one folder, however often it is cut short, which has its time in its name once all has its place.
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

/** Of the data directory, while a backup comes into it. */
export const RESTORING = '.restoring';
const COPYING = RESTORING;
const COMPLETE = '.restored';
const PLACING = '.placing';
const BEFORE = '.before-restore-';
/** What moves aside is here until the backup is in its place. */
const MOVING_ASIDE = `${BEFORE}unfinished`;
/** Of the process that has the data directory, and what this file makes. */
const STAYS = /^(?:lock|lost\+found|\.restoring|\.restored|\.placing|\.before-restore-.*)$/u;

export interface Restored {
  readonly data_dir: string;
  /** When the backup was made. */
  readonly made_utc: string;
  readonly lists: number;
  readonly bytes: number;
  /** Where what was there is now; null where nothing was. */
  readonly before: string | null;
  /** The same of a restore before, which was cut short and came to its end first; null where there was none. */
  readonly before_earlier: string | null;
}

/** What came to its end of a restore that was cut short. */
export interface FinishedRestore {
  /** Where what was there is now; undefined where nothing was. */
  readonly aside: string | undefined;
}

export interface RestoreRequest {
  /** Of one backup. */
  readonly from: string;
  readonly dataDir: string;
  /** What is there moves aside. Without it only an empty folder takes a backup. */
  readonly replace: boolean;
  readonly assertKnown: AssertKnown;
  /** Of the restore that came to its end when the data directory was opened for this one. */
  readonly earlier: FinishedRestore | undefined;
}

/** Throws where a folder is no data directory that this release can open, which is whole otherwise. */
export type AssertKnown = (folder: string) => void;

/** Whoever calls holds the lock of the data directory. Rejects with an `OperatorError` that says what to do. */
export async function restoreBackup(request: RestoreRequest): Promise<Restored> {
  const from = resolve(request.from);
  const dataDir = resolve(request.dataDir);
  const description = readDescription(from);
  await assertWhole(from, description);
  const isEmpty = entriesIn(dataDir).length === 0;
  if (!isEmpty && !request.replace) {
    throw new OperatorError(
      `${request.earlier === undefined ? `${dataDir} is not empty` : toldFinished(dataDir, request.earlier)}. With --replace what is there moves to a folder in it, and nothing is deleted.`,
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

/** The error of a restore that was not begun to be in force, as a sentence which says so where the disk or a file is at fault, or the operator can help. */
export function toldNotRestored(error: unknown, dataDir: string): unknown {
  const fault = asStorageError(error, dataDir);
  const why = isStorageError(fault) ? `${dataDir}: ${(fault as Error).message}` : reasonOf(error, dataDir);
  return why === undefined ? error : new OperatorError(`The backup is not restored, and nothing was changed: ${why}`);
}

function reasonOf(error: unknown, dataDir: string): string | undefined {
  if (error instanceof OperatorError) return error.message;
  if (!isSystemError(error) || error.path === undefined) return undefined;
  // Of a copy the system names what was to be copied.
  if (error.code === 'ENOENT' && !existsSync(dataDir)) return `${dataDir} has gone meanwhile.`;
  return `${error.path} cannot be used: ${systemReason(error)}.`;
}

/** Without the full stop. */
export function toldFinished(dataDir: string, { aside }: FinishedRestore): string {
  const where = aside === undefined ? '' : `; what was there before is in ${aside}`;
  return `A restore that was cut short is complete now: ${dataDir} is what its backup has${where}`;
}

/**
 * What was copied is all there, and on disk: from here on it is what the data directory becomes. Rejects where it cannot become that, with an
 * `OperatorError`; what was copied is gone then.
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
 * Completes what was cut short, or takes it away where the backup was not copied whole. Before anything of the data directory is read.
 * Undefined where nothing came to its end.
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
 * Before anything is moved: what is mounted in the data directory stays where it is, and half of what was there would be aside. Throws an
 * `OperatorError`.
 */
export function assertMovable(dataDir: string): void {
  const names = entriesIn(dataDir);
  if (names.length === 0) return;
  const places = new Set(mountPlaces());
  // Of the folder, where the data directory is a link to one on another disk.
  const { dev } = statSync(dataDir);
  const real = realpathSync(dataDir);
  for (const name of names) {
    if (!places.has(join(real, name)) && lstatSync(join(dataDir, name)).dev === dev) continue;
    throw new OperatorError(
      `${join(dataDir, name)} is a file system of its own that is mounted there, and cannot be moved aside: unmount it, restore, and move what is in ${name}/ then to where it is to be.`,
    );
  }
}

/** None where the system does not tell: a file system of its own is known by its number all the same. */
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

/** Every file that the description names, at its size. */
async function assertWhole(from: string, { files }: BackupDescription): Promise<void> {
  for (const { path, bytes } of files) {
    const found = await lstat(join(from, path)).catch(() => undefined);
    if (found?.isFile() !== true) throw new OperatorError(`${join(from, path)} is missing: the backup is not whole.`);
    if (found.size !== bytes) {
      throw new OperatorError(
        `${join(from, path)} has ${found.size} bytes where the backup says ${bytes}: it is not whole.`,
      );
    }
  }
}

async function copyAll(from: string, to: string, { files }: BackupDescription): Promise<void> {
  await makeFolder(to);
  for (const { path } of files) {
    const target = join(to, path);
    await makeFolder(dirname(target));
    // Never a second name: the backup stays as it is whatever becomes of the copy.
    await copyFile(join(from, path), target, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
    await syncFile(target);
  }
  for (const folder of foldersOf(to, files)) await syncFile(folder);
}
