/** The folders below `lists/` of a data directory: which there are, and where those go that nobody knows. */
import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { storePath } from '../../store/index.js';

/** Ids become folder names. */
const LIST_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/u;
/** Below `lists/`; no id begins with a dot. */
const UNKNOWN = '.unknown';

export function listsFolder(dataDir: string): string {
  return join(dataDir, 'lists');
}

export function unknownListsFolder(dataDir: string): string {
  return join(listsFolder(dataDir), UNKNOWN);
}

/** Throws a RangeError for what cannot be an id, so that no path leaves the folder. */
export function listFolder(dataDir: string, listId: string): string {
  if (!LIST_ID.test(listId)) throw new RangeError(`'${listId}' cannot be the id of a list`);
  return join(listsFolder(dataDir), listId);
}

/** Names of the folders that may be lists; anything else there is not ours. */
export function listFolderNames(dataDir: string): string[] {
  return foldersIn(listsFolder(dataDir)).filter((name) => LIST_ID.test(name));
}

/** True where a folder holds the store of a list, whatever is known of it. */
export function hasLists(dataDir: string): boolean {
  return listFolderNames(dataDir).some((name) => existsSync(storePath(join(listsFolder(dataDir), name))));
}

/** Names below `lists/.unknown`: an id, and behind a dot when it was moved where the id was taken. */
export function unknownListNames(dataDir: string): string[] {
  return foldersIn(unknownListsFolder(dataDir)).filter((name) => LIST_ID.test(idOfUnknown(name)));
}

export function idOfUnknown(name: string): string {
  return name.split('.', 1)[0] ?? '';
}

/** Moves the folder of a list to `lists/.unknown`, where nothing is opened and nothing is removed; returns its new path. */
export function setListAside(dataDir: string, listId: string, nowMs: number): string {
  const folder = unknownListsFolder(dataDir);
  mkdirSync(folder, { recursive: true });
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
 * Moves folders back to their place that the catalogue names and that were set aside while an older copy of it was in force.
 * Returns the ids.
 */
export function putListsBack(dataDir: string, known: ReadonlySet<string>): string[] {
  const back = unknownListNames(dataDir).filter((name) => known.has(name) && !existsSync(listFolder(dataDir, name)));
  for (const id of back) renameSync(join(unknownListsFolder(dataDir), id), listFolder(dataDir, id));
  return back;
}

function foldersIn(path: string): string[] {
  if (!existsSync(path)) return [];
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    .map(({ name }) => name);
}
