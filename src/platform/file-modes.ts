/**
 * Who may read the files of a data directory: its owner, nobody else. They hold records, and secrets of webhooks.
 *
 * What the process makes is closed by its umask; what exists already is closed at the start, from the folder inwards, so that
 * nobody comes in behind. Only what is ours by its name is touched: the folder may have other things in it.
 */
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  type Stats,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative, sep } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { OperatorError } from './operator-error.js';

const OWNER_ONLY_UMASK = 0o077;
/** Bits of the group and of all others. */
const OTHERS = 0o077;
const OWNER = 0o700;
const STICKY = 0o1000;
/** What a file system has in its root by itself, and only root may look into. */
export const FILE_SYSTEM_OWN = 'lost+found';
/** What the service makes in its data directory. */
const ENTRIES: ReadonlySet<string> = new Set([
  'analytics',
  'control.path',
  'control.sock',
  'demo.json',
  'feeds',
  'lists',
  'lists-at-rest',
  'lists-at-rest.new',
  'lock',
  'media',
  'queue',
  'secret-keys',
  'system',
  'videos',
]);
/** And what backups and restores put there. */
const BEFORE_RESTORE = '.before-restore-';
const ENTRIES_BEGIN = ['.backup-staging', BEFORE_RESTORE, '.placing', '.restored', '.restoring'];
/** And what is damaged of the service's own, with deliveries and their addresses in it. */
const SET_ASIDE_BEGIN = 'queue.damaged-';
/** What somebody may have put there before the first start. */
const MAY_LIE_THERE: ReadonlySet<string> = new Set([FILE_SYSTEM_OWN, 'log', 'logs', 'models', 'nohup.out']);
/** Logs, which a shell makes before the service begins, and settings. */
const MAY_LIE_THERE_END = /\.(?:env|log|toml)$/;
/** What is put on another disk by a link, as somebody does for the service alone; the disk may be mounted beside. */
const LINKED: ReadonlySet<string> = new Set(['analytics', 'feeds', 'lists', 'models', 'system']);
const FOREIGN_SHOWN_MAX = 3;
/** Files that are written in their place: others are only read, and replaced as a whole. */
const WRITTEN: ReadonlySet<string> = new Set(['control.path', 'data.mdb', 'lock', 'lock.mdb']);
/** Where all files are. */
const WRITTEN_BELOW = 'feeds';

/** From now on the process makes files that only its owner can reach; those of its threads too. */
export function keepFilesToOwner(): void {
  if (isMainThread) process.umask(OWNER_ONLY_UMASK);
}

export interface OpenEntry {
  readonly path: string;
  /** Permission bits. */
  readonly mode: number;
  /** Id of the user that owns it. */
  readonly owner: number;
}

/** Everything of the data directory that others than its owner can reach, as far as permissions go; changes nothing. */
export function openEntries(dataDir: string): OpenEntry[] {
  return [...entriesOf(dataDir)].filter(({ mode }) => (mode & OTHERS) !== 0);
}

export interface ClosedEntries {
  readonly closed: readonly OpenEntry[];
  /** Those that belong to another user, who alone can close them. */
  readonly foreign: readonly OpenEntry[];
  /** Those of another user that this one may not use as the service does: nothing works with them. */
  readonly unreachable: readonly OpenEntry[];
}

/** Closes them. Throws an `OperatorError` for a folder that is somebody else's, such as /tmp or /etc: that is not the service's to close. */
export function closeEntries(dataDir: string): ClosedEntries {
  const fault = foreignFolderFault(dataDir);
  if (fault !== undefined) throw new OperatorError(`The data directory ${dataDir} cannot be used: ${fault}.`);
  const closed: OpenEntry[] = [];
  const foreign: OpenEntry[] = [];
  const unreachable: OpenEntry[] = [];
  const user = process.getuid?.();
  // A folder is closed before it is gone through: the generator goes on when its entry was dealt with.
  for (const entry of entriesOf(dataDir)) {
    if (isUnreachable(dataDir, entry)) unreachable.push(entry);
    if ((entry.mode & OTHERS) === 0) continue;
    if (user !== 0 && entry.owner !== user) {
      foreign.push(entry);
    } else {
      chmodSync(entry.path, entry.mode & OWNER);
      closed.push(entry);
    }
  }
  return { closed, foreign, unreachable };
}

/**
 * What another user has made and this one may not use, as it is where a backup was restored by root, or files were copied by root. None
 * for root itself.
 */
export function unreachableEntries(dataDir: string): OpenEntry[] {
  return [...entriesOf(dataDir)].filter((entry) => isUnreachable(dataDir, entry));
}

/** What is wrong with them and what to do, as the end of a sentence without its full stop. */
export function toldUnreachable(entries: readonly OpenEntry[]): string {
  const [first] = entries;
  const more = entries.length === 1 ? '' : ` and ${entries.length - 1} more`;
  return `${first?.path}${more} cannot be opened by this user, for they belong to the user with the id ${first?.owner}: chown them, or restore as this user`;
}

function isUnreachable(dataDir: string, { path, owner }: OpenEntry): boolean {
  const user = process.getuid?.();
  if (user === 0 || owner === user) return false;
  const way = relative(dataDir, path);
  // Nobody opens what was moved aside.
  if (way.startsWith(BEFORE_RESTORE) || way.startsWith(SET_ASIDE_BEGIN)) return false;
  const stats = path === dataDir ? dataDirectoryOf(path) : statOf(path);
  // What has gone meanwhile, and a socket, which is replaced and not opened.
  if (stats === undefined || stats.isSocket()) return false;
  try {
    accessSync(path, neededFor(way, stats));
    return false;
  } catch {
    return statOf(path) !== undefined;
  }
}

/** What the service does with it: an uploaded file, or a key that somebody else has put there, is only read. */
function neededFor(way: string, stats: Stats): number {
  const { R_OK, W_OK, X_OK } = constants;
  if (stats.isDirectory()) return R_OK | W_OK | X_OK;
  return WRITTEN.has(basename(way)) || way.split(sep, 1)[0] === WRITTEN_BELOW ? R_OK | W_OK : R_OK;
}

/**
 * Id of the user whose data it is, where this process is root and the data is not: whatever root makes there, the service of that user
 * cannot open. Undefined otherwise, as where a file system gives that user all that is made there (NFS that squashes to one user, CIFS with
 * `uid=`): a file that is removed again shows it.
 */
export function ownerBesideRoot(dataDir: string): number | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const owner = (statOf(join(dataDir, 'system', 'data.mdb')) ?? dataDirectoryOf(dataDir))?.uid;
  return owner === undefined || owner === 0 || ownerOfNew(dataDir) === owner ? undefined : owner;
}

/** Undefined where nothing can be made. */
function ownerOfNew(folder: string): number | undefined {
  const path = join(folder, `.owner-${process.pid}`);
  try {
    const file = openSync(path, 'wx', 0o600);
    try {
      return fstatSync(file).uid;
    } finally {
      closeSync(file);
      rmSync(path, { force: true });
    }
  } catch {
    return undefined;
  }
}

/**
 * Why the folder is not one of the service's own, as the end of a sentence without its full stop: closed to all others, `/etc` or somebody's
 * project would be lost to them. Where the service has its data already, what else lies in the folder is let be.
 */
export function foreignFolderFault(dataDir: string): string | undefined {
  if (isShared(dataDir)) return 'it is shared by all users: choose a folder of its own below it';
  const names = namesIn(dataDir);
  const isLaidOut = (name: string) => isOfRestore(name) || (LINKED.has(name) && isLink(join(dataDir, name)));
  if (hasData(dataDir) || names.some(isLaidOut)) return undefined;
  const foreign = names.filter((name) => !isOurs(name) && !mayLieThere(name)).sort();
  if (foreign.length === 0) return undefined;
  const shown = foreign.slice(0, FOREIGN_SHOWN_MAX).join(', ');
  const more = foreign.length > FOREIGN_SHOWN_MAX ? ` and ${foreign.length - FOREIGN_SHOWN_MAX} more` : '';
  return `it has other things in it (${shown}${more}), which would be closed to other users with it: choose a folder of its own, such as ${join(dataDir, 'gannet')}`;
}

function mayLieThere(name: string): boolean {
  return MAY_LIE_THERE.has(name) || MAY_LIE_THERE_END.test(name) || name.startsWith('.');
}

function hasData(dataDir: string): boolean {
  try {
    if (statOf(join(dataDir, 'system', 'data.mdb')) !== undefined) return true;
  } catch (error) {
    // What is closed to this user is there: who has to open it is told so.
    if ((error as NodeJS.ErrnoException).code !== 'ENOTDIR') return true;
  }
  return namesIn(join(dataDir, 'lists')).length > 0;
}

function isLink(path: string): boolean {
  return statOf(path)?.isSymbolicLink() === true;
}

/**
 * True for a folder with the sticky bit that holds what is not ours, or is one for temporary files. A file system in memory
 * has the bit too where it is mounted, and is ours when nothing else is in it.
 */
function isShared(dataDir: string): boolean {
  if (((dataDirectoryOf(dataDir)?.mode ?? 0) & STICKY) === 0) return false;
  const temporary = [tmpdir(), '/tmp', '/var/tmp', '/dev/shm'].filter((path) => statOf(path) !== undefined);
  if (temporary.some((path) => realpathSync(path) === realpathSync(dataDir))) return true;
  return namesIn(dataDir).some((name) => !isOurs(name) && name !== FILE_SYSTEM_OWN);
}

function* entriesOf(dataDir: string): Generator<OpenEntry> {
  const stats = dataDirectoryOf(dataDir);
  if (stats === undefined) return;
  yield openEntry(dataDir, stats);
  for (const name of namesIn(dataDir)) if (isOurs(name)) yield* entriesBelow(join(dataDir, name));
}

function isOurs(name: string): boolean {
  return ENTRIES.has(name) || isOfRestore(name) || name.startsWith(SET_ASIDE_BEGIN);
}

function isOfRestore(name: string): boolean {
  return ENTRIES_BEGIN.some((beginning) => name.startsWith(beginning));
}

/** Links are left alone: what they lead to may be anybody's. So is what a disk has that is mounted at one of ours. */
function* entriesBelow(path: string): Generator<OpenEntry> {
  const stats = statOf(path);
  if (stats === undefined || stats.isSymbolicLink()) return;
  yield openEntry(path, stats);
  if (!stats.isDirectory()) return;
  for (const name of namesIn(path)) if (name !== FILE_SYSTEM_OWN) yield* entriesBelow(join(path, name));
}

function openEntry(path: string, { mode, uid }: Stats): OpenEntry {
  return { path, mode: mode & 0o7777, owner: uid };
}

/** It may be a link to a folder on another disk: then it is that folder. */
function dataDirectoryOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

/** Undefined for what has just been removed. */
function statOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

/** None in a folder that has just been removed, or that another user has closed, and in what is none. */
function namesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
}
