/**
 * Restricts the files of a data directory to their owner: they hold records, and secrets of webhooks.
 *
 * The umask of the process applies to new files. Existing files are closed at the start, from the folder inwards, so
 * that nobody can enter meanwhile. Only entries with names of the service are changed: the folder may contain other
 * things.
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
/** Permission bits of the group and of all others. */
const OTHERS = 0o077;
const OWNER = 0o700;
const STICKY = 0o1000;
/** A folder that file systems create in their root, and that only root may read. */
export const FILE_SYSTEM_OWN = 'lost+found';
/** Names that the service creates in its data directory. */
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
/** Beginnings of the names that backups and restores create there. */
const BEFORE_RESTORE = '.before-restore-';
const ENTRIES_BEGIN = ['.backup-staging', BEFORE_RESTORE, '.placing', '.restored', '.restoring'];
/** Beginning of the names of damaged queues that were set aside; they hold deliveries and their addresses. */
const SET_ASIDE_BEGIN = 'queue.damaged-';
/** Names that may exist before the first start. */
const MAY_LIE_THERE: ReadonlySet<string> = new Set([FILE_SYSTEM_OWN, 'log', 'logs', 'models', 'nohup.out']);
/** Endings of log files, which a shell creates before the service starts, and of settings. */
const MAY_LIE_THERE_END = /\.(?:env|log|toml)$/;
/**
 * Names that an operator may place on another disk by a link, for the service alone; that disk may be mounted next to
 * them.
 */
const LINKED: ReadonlySet<string> = new Set(['analytics', 'feeds', 'lists', 'models', 'system']);
const FOREIGN_SHOWN_MAX = 3;
/** Files that are written in place; others are only read, or replaced as a whole. */
const WRITTEN: ReadonlySet<string> = new Set(['control.path', 'data.mdb', 'lock', 'lock.mdb']);
/** The folder whose files are all written in place. */
const WRITTEN_BELOW = 'feeds';

/** Makes new files of the process, including its threads, accessible to their owner only. */
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

/**
 * Returns the entries of the data directory that others than the owner can access by their permissions. Changes
 * nothing.
 */
export function openEntries(dataDir: string): OpenEntry[] {
  return [...entriesOf(dataDir)].filter(({ mode }) => (mode & OTHERS) !== 0);
}

export interface ClosedEntries {
  readonly closed: readonly OpenEntry[];
  /** Open entries of another user, who alone can close them. */
  readonly foreign: readonly OpenEntry[];
  /** Entries of another user that this user cannot use as the service needs to. */
  readonly unreachable: readonly OpenEntry[];
}

/**
 * Closes the open entries. Throws an `OperatorError` for a folder that is not the service's own, such as /tmp or /etc.
 */
export function closeEntries(dataDir: string): ClosedEntries {
  const fault = foreignFolderFault(dataDir);
  if (fault !== undefined) throw new OperatorError(`The data directory ${dataDir} cannot be used: ${fault}.`);
  const closed: OpenEntry[] = [];
  const foreign: OpenEntry[] = [];
  const unreachable: OpenEntry[] = [];
  const user = process.getuid?.();
  // A folder is closed before its content is listed: the generator continues after its entry was handled.
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
 * Returns the entries of another user that this user cannot use, for instance after root restored a backup or copied
 * files. None if this user is root.
 */
export function unreachableEntries(dataDir: string): OpenEntry[] {
  return [...entriesOf(dataDir)].filter((entry) => isUnreachable(dataDir, entry));
}

/** Says what is wrong with the entries and what to do, as the end of a sentence without its full stop. */
export function toldUnreachable(entries: readonly OpenEntry[]): string {
  const [first] = entries;
  const [more, belongs, them] =
    entries.length === 1 ? ['', 'it belongs', 'it'] : [` and ${entries.length - 1} more`, 'they belong', 'them'];
  return `${first?.path}${more} cannot be opened by this user, for ${belongs} to the user with the id ${first?.owner}: chown ${them}, or restore as this user`;
}

function isUnreachable(dataDir: string, { path, owner }: OpenEntry): boolean {
  const user = process.getuid?.();
  if (user === 0 || owner === user) return false;
  const way = relative(dataDir, path);
  // The service never opens what was moved aside.
  if (way.startsWith(BEFORE_RESTORE) || way.startsWith(SET_ASIDE_BEGIN)) return false;
  const stats = path === dataDir ? dataDirectoryOf(path) : statOf(path);
  // Not unreachable: an entry that has vanished meanwhile, or a socket, which is replaced and not opened.
  if (stats === undefined || stats.isSocket()) return false;
  try {
    accessSync(path, neededFor(way, stats));
    return false;
  } catch {
    return statOf(path) !== undefined;
  }
}

/** Returns the access that the service needs: an uploaded file, or a key that somebody else put there, is only read. */
function neededFor(way: string, stats: Stats): number {
  const { R_OK, W_OK, X_OK } = constants;
  if (stats.isDirectory()) return R_OK | W_OK | X_OK;
  return WRITTEN.has(basename(way)) || way.split(sep, 1)[0] === WRITTEN_BELOW ? R_OK | W_OK : R_OK;
}

/**
 * Returns the id of the user who owns the data if this process is root and the data is not root's: the service of that
 * user could not open files that root creates. Undefined otherwise, also if the file system gives new files to that
 * user (NFS squashed to one user, CIFS with `uid=`), which a temporary file shows.
 */
export function ownerBesideRoot(dataDir: string): number | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const owner = (statOf(join(dataDir, 'system', 'data.mdb')) ?? dataDirectoryOf(dataDir))?.uid;
  return owner === undefined || owner === 0 || ownerOfNew(dataDir) === owner ? undefined : owner;
}

/** Returns the owner of a file that this process creates; undefined if it cannot create one. */
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
 * Returns why the folder cannot be closed to other users, as the end of a sentence without its full stop: others would
 * lose access to `/etc` or somebody's project. Undefined if it can. If the service already has data in the folder,
 * other entries are accepted.
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
    // Data closed to this user exist; opening them will report that.
    if ((error as NodeJS.ErrnoException).code !== 'ENOTDIR') return true;
  }
  return namesIn(join(dataDir, 'lists')).length > 0;
}

function isLink(path: string): boolean {
  return statOf(path)?.isSymbolicLink() === true;
}

/**
 * True for a folder for temporary files, and for one with the sticky bit that holds entries of others. The root of a
 * file system in memory has the bit as well, and is accepted if it contains nothing else.
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

/**
 * Yields the entry and everything below it, without following links: what they lead to may be anybody's. The same goes
 * for `lost+found` of a disk that is mounted at one of the service's folders.
 */
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

/**
 * Returns the stats of the folder, following a link, as it may lead to another disk; undefined if it does not exist.
 */
function dataDirectoryOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

/** Returns undefined for an entry that does not exist, such as one just removed. */
function statOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

/** Returns no names for a folder that was just removed or that another user has closed, and for a file. */
function namesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
}
