/** The folders below `lists/` of a data directory, and where unknown ones are moved. */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Logger } from 'pino';
import {
  asStorageError,
  makeFolderNow,
  makeSyncedFolderNow,
  ServiceError,
  syncFile,
  syncFolders,
} from '../../platform/index.js';
import { areListsGone, asGone, hasStore, LISTS_GONE, ListStore, storePath } from '../../store/index.js';

/** Ids become names of folders. */
const LIST_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/u;
/** Folder below `lists/`; no id begins with a dot. */
const UNKNOWN = '.unknown';

export function listsFolder(dataDir: string): string {
  return join(dataDir, 'lists');
}

export function makeListsFolder(dataDir: string): void {
  makeSyncedFolderNow(listsFolder(dataDir));
}

export function unknownListsFolder(dataDir: string): string {
  return join(listsFolder(dataDir), UNKNOWN);
}

export function isListId(text: unknown): text is string {
  return typeof text === 'string' && LIST_ID.test(text);
}

/** Throws a RangeError for an invalid id, so that no path leaves the folder. */
export function listFolder(dataDir: string, listId: string): string {
  if (!LIST_ID.test(listId)) throw new RangeError(`'${listId}' cannot be the id of a list`);
  return join(listsFolder(dataDir), listId);
}

/** Names of folders that may be lists; anything else there is not ours. */
export function listFolderNames(dataDir: string): string[] {
  return foldersIn(listsFolder(dataDir)).filter((name) => LIST_ID.test(name));
}

/** Paths of the stores of all lists, known or unknown. */
export function listStores(dataDir: string): string[] {
  return listFolderNames(dataDir)
    .map((name) => storePath(listFolder(dataDir, name)))
    .filter((path) => existsSync(path));
}

/** True if a folder contains the store of a list. */
export function hasLists(dataDir: string): boolean {
  return listStores(dataDir).length > 0;
}

/** Names below `lists/.unknown`: an id, followed by a dot and the time of the move if the id was taken there. */
export function unknownListNames(dataDir: string): string[] {
  return foldersIn(unknownListsFolder(dataDir)).filter((name) => LIST_ID.test(idOfUnknown(name)));
}

export function idOfUnknown(name: string): string {
  return name.split('.', 1)[0] ?? '';
}

/** Moves the folder of a list to `lists/.unknown`, where nothing is opened or removed. Returns its new path. */
function setListAside(dataDir: string, listId: string, nowMs: number): string {
  const folder = unknownListsFolder(dataDir);
  makeFolderNow(folder);
  const stamp = new Date(nowMs).toISOString().replaceAll(/[-:.]/gu, '');
  for (let attempt = 0; ; attempt++) {
    const name = [listId, ...(attempt === 0 ? [] : [stamp]), ...(attempt <= 1 ? [] : [String(attempt)])].join('.');
    const path = join(folder, name);
    if (existsSync(path)) continue;
    renameSync(listFolder(dataDir, listId), path);
    return path;
  }
}

/**
 * Moves known lists back whose folders were moved aside while an older copy of the catalogue was in use. Returns their
 * ids.
 */
export function putListsBack(dataDir: string, known: ReadonlySet<string>): string[] {
  const back = unknownListNames(dataDir).filter((name) => known.has(name) && !existsSync(listFolder(dataDir, name)));
  for (const id of back) renameSync(join(unknownListsFolder(dataDir), id), listFolder(dataDir, id));
  return back;
}

/** Moves unknown folders aside and known ones back, and logs that. */
export function setUnknownAside(
  dataDir: string,
  known: ReadonlySet<string>,
  { log, nowMs }: { readonly log: Logger; readonly nowMs: number },
): void {
  for (const id of putListsBack(dataDir, known)) log.warn({ id }, 'Moved a list that was set aside back into place');
  for (const listId of listFolderNames(dataDir)) {
    if (known.has(listId)) continue;
    const from = listFolder(dataDir, listId);
    try {
      const path = setListAside(dataDir, listId, nowMs);
      log.warn(
        { from, path },
        'Moved aside a list that is not in the catalogue. To restore it, run gannet doctor --adopt-lists',
      );
    } catch (error) {
      // A folder that cannot be moved, for example a mount point, stays where it is and is not opened.
      log.warn({ from, err: error }, 'Cannot move aside a list that is not in the catalogue');
    }
  }
}

/**
 * Creates the folder of a new list, and removes it if filling it fails. Fails if the folder exists, since ids are never
 * reused. Throws `storage-failed` if the catalogue has lists (`listed`) but their folder is empty: the new list would
 * be on the wrong disk, and hidden as soon as the right one is mounted.
 */
export async function makeFolder(
  listPath: string,
  listed: () => Iterable<unknown>,
  fill: (listPath: string) => Promise<void>,
): Promise<void> {
  if (areListsGone(dirname(listPath)) && listed()[Symbol.iterator]().next().done !== true)
    throw new ServiceError('storage-failed', LISTS_GONE);
  try {
    mkdirSync(listPath);
  } catch (error) {
    throw asGone(error, listPath);
  }
  try {
    await fill(listPath);
    await syncNames(listPath);
  } catch (error) {
    rmSync(listPath, { recursive: true, force: true });
    throw error;
  }
}

/**
 * Syncs the names of the folder before the catalogue names the list: otherwise a power failure would lose the folder
 * with everything written to the list.
 */
async function syncNames(listPath: string): Promise<void> {
  try {
    await syncFolders(listPath);
    await syncFile(dirname(listPath));
  } catch (error) {
    throw asStorageError(error, listPath);
  }
}

/**
 * Resolves when the removal is on disk: otherwise the folder could be back after a power failure, unknown to anybody.
 */
export async function removeFolder(listPath: string): Promise<void> {
  await rm(listPath, { recursive: true, force: true, maxRetries: 3 });
  if (existsSync(dirname(listPath))) await syncFile(dirname(listPath));
}

/** True if the list was once in the catalogue, according to its store. */
export async function wasKnown(listPath: string): Promise<boolean> {
  if (!hasStore(listPath)) return false;
  const store = new ListStore(listPath);
  try {
    return store.keptEntry() !== undefined;
  } finally {
    await store.close();
  }
}

function foldersIn(path: string): string[] {
  if (!existsSync(path)) return [];
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    .map(({ name }) => name);
}
