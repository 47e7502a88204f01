/** Backups of a folder on a machine without a data directory, before a restore. */
import { checkKept, type CheckedBackups } from './checked-backups.js';
import { NEVER, systemClock } from '../platform/index.js';
import { inFolder } from './folder-fault.js';
import { listBackups, type ListedBackups } from './listed-backups.js';

type Query = Readonly<Record<string, unknown>>;

/** Returns undefined for a place in a media store, which needs a data directory. */
function folderOf({ folder }: Query): string | undefined {
  return typeof folder === 'string' && folder.startsWith('/') ? folder : undefined;
}

export function listedAlone(query: Query): Promise<ListedBackups> | undefined {
  const folder = folderOf(query);
  return folder === undefined ? undefined : inFolder(folder, () => listBackups(folder, systemClock.nowIso()));
}

export function checkedAlone(query: Query): Promise<CheckedBackups> | undefined {
  const folder = folderOf(query);
  return folder === undefined ? undefined : inFolder(folder, () => checkKept(folder, NEVER));
}
