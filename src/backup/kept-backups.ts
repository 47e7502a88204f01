/** The backups of a folder; each is a folder named after its time. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError, ServiceError } from '../platform/index.js';
import { readDescription, type BackupDescription } from './description.js';

/** Such as `20261122T081500Z`, with a number added if two were made within a second. */
export const BACKUP_NAME = /^\d{8}T\d{6}Z(?:-\d+)?$/u;

export interface KeptBackup {
  readonly path: string;
  readonly madeUtc: string;
  readonly dataDir: string;
  readonly description: BackupDescription;
}

/** Returns the paths of all backups by name, complete or not. None if there is no such folder. */
export function backupPaths(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => BACKUP_NAME.test(name));
  return names.sort().map((name) => join(folder, name));
}

/** Returns the complete backups, the oldest first. None if there is no such folder. */
export function backupsIn(folder: string): KeptBackup[] {
  return backupPaths(folder)
    .flatMap((path) => {
      try {
        const description = readDescription(path);
        const { made_utc: madeUtc, data_dir: dataDir } = description;
        return [{ path, madeUtc, dataDir, description }];
      } catch (error) {
        // Not a backup of ours, or damaged: neither a base for the next one, nor to be removed.
        if (error instanceof OperatorError) return [];
        throw error;
      }
    })
    .sort((a, b) => (a.madeUtc < b.madeUtc ? -1 : 1));
}

/**
 * Sorts backups (in order of their times) by the order in which they were made. A time in the future comes from a wrong
 * clock, then or now, so such backups come first: otherwise they would count as the newest for ever, and each new
 * backup would be the first to be removed.
 */
export function inOrderOfMaking<Backup>(
  backups: readonly Backup[],
  timeOf: (backup: Backup) => string,
  nowUtc: string,
): readonly Backup[] {
  const isAhead = (backup: Backup) => timeOf(backup) > nowUtc;
  return [...backups.filter(isAhead), ...backups.filter((each) => !isAhead(each))];
}

/** Returns the earlier backups to be removed, the oldest first, so that `keep` remain when one more is made. */
export function beyond<Backup>(earlier: readonly Backup[], keep: number | undefined): readonly Backup[] {
  return keep === undefined ? [] : earlier.slice(0, Math.max(0, earlier.length - (keep - 1)));
}

export function freeName(folder: string, madeUtc: string): string {
  return freeNameWhere((name) => existsSync(join(folder, name)), madeUtc);
}

export function freeNameWhere(isTaken: (name: string) => boolean, madeUtc: string): string {
  const name = madeUtc.replaceAll(/[-:]|\.\d+/gu, '');
  for (let number = 1; ; number += 1) {
    const free = number === 1 ? name : `${name}-${number}`;
    if (!isTaken(free)) return free;
  }
}

/**
 * Returns the name of an unfinished backup. There is one per data directory; an interrupted one leaves a folder of this
 * name.
 */
export function unfinishedName(dataDir: string): string {
  return `.unfinished-${createHash('sha256').update(dataDir).digest('hex').slice(0, 12)}`;
}

/** Returns the name of a backup that is being removed. */
export function removingName(dataDir: string): string {
  return unfinishedName(dataDir).replace('unfinished', 'removing');
}

/** Returns the error if older backups could not be removed; the new backup exists nonetheless. */
export function olderStays(made: string, why: string, cause: unknown): ServiceError {
  return new ServiceError('conflict', `${made} is whole, but what is older could not be removed: ${why}`, { cause });
}
