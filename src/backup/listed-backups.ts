/** Lists backups, of a folder or a place in a media store. */
import { existsSync } from 'node:fs';
import { ServiceError } from '../platform/index.js';
import { backupPaths, backupsIn, inOrderOfMaking } from './kept-backups.js';
import type { StoredSummary } from './stored/manifest.js';
import { timeOf, type StoredBackups } from './stored/stored-backups.js';

export interface ListedBackup extends StoredSummary {
  /** Argument for `gannet restore`. */
  readonly path: string;
}

export interface ListedBackups {
  /** In the order in which they were made. */
  readonly backups: readonly ListedBackup[];
  /** Backups whose description this release cannot read. */
  readonly unreadable: readonly string[];
}

export async function listBackups(place: string | StoredBackups, nowUtc: string): Promise<ListedBackups> {
  if (typeof place === 'string') {
    // A misspelt folder or an unmounted disk must not look like success to a script.
    if (!existsSync(place)) throw new ServiceError('unprocessable', `There is no folder ${place}.`);
    const inOrder = inOrderOfMaking(backupsIn(place), ({ madeUtc }) => madeUtc, nowUtc);
    const backups = inOrder.map(({ path, description }) => ({
      path,
      made_utc: description.made_utc,
      made_by: description.made_by,
      data_dir: description.data_dir,
      lists: description.lists,
      files: description.files.length,
      bytes: description.files.reduce((sum, { bytes }) => sum + bytes, 0),
    }));
    const readable = new Set(backups.map(({ path }) => path));
    return { backups, unreadable: backupPaths(place).filter((path) => !readable.has(path)) };
  }
  const found = inOrderOfMaking(await place.all(), timeOf, nowUtc);
  return {
    backups: found.flatMap(({ name, summary }) =>
      summary === undefined ? [] : [{ path: place.pathOf(name), ...summary }],
    ),
    unreadable: found.flatMap(({ name, summary }) => (summary === undefined ? [place.pathOf(name)] : [])),
  };
}
