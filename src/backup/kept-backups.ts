/** The backups of a folder: each is a folder of its own, named after its time. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError, ServiceError } from '../platform/index.js';
import { readDescription, type BackupDescription } from './description.js';

/** `20261122T081500Z`, and a number behind it where two were made within a second. */
export const BACKUP_NAME = /^\d{8}T\d{6}Z(?:-\d+)?$/u;

export interface KeptBackup {
  readonly path: string;
  readonly madeUtc: string;
  readonly dataDir: string;
  readonly description: BackupDescription;
}

/** By their names, whole or not. None where there is no such folder. */
export function backupPaths(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => BACKUP_NAME.test(name));
  return names.sort().map((name) => join(folder, name));
}

/** Those that are whole, the oldest first. None where there is no such folder. */
export function backupsIn(folder: string): KeptBackup[] {
  return backupPaths(folder)
    .flatMap((path) => {
      try {
        const description = readDescription(path);
        const { made_utc: madeUtc, data_dir: dataDir } = description;
        return [{ path, madeUtc, dataDir, description }];
      } catch (error) {
        // Not one of ours, or damaged: neither a base for the next one nor anything to remove.
        if (error instanceof OperatorError) return [];
        throw error;
      }
    })
    .sort((a, b) => (a.madeUtc < b.madeUtc ? -1 : 1));
}

/**
 * Those that are there, by their times, in the order in which they were made. One whose time is still to come was made while the clock was
 * wrong, then or now: by its time it would be the newest for good, and each that is made would be the first to go.
 */
export function inOrderOfMaking<Backup>(
  backups: readonly Backup[],
  timeOf: (backup: Backup) => string,
  nowUtc: string,
): readonly Backup[] {
  const isAhead = (backup: Backup) => timeOf(backup) > nowUtc;
  return [...backups.filter(isAhead), ...backups.filter((each) => !isAhead(each))];
}

/** Of those that are there, the first to go first, the ones that go where one more is made and `keep` stay, that one among them. */
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

/** One of each data directory at a time: what it left when it was cut short has this name. */
export function unfinishedName(dataDir: string): string {
  return `.unfinished-${createHash('sha256').update(dataDir).digest('hex').slice(0, 12)}`;
}

/** Of one that is being removed. */
export function removingName(dataDir: string): string {
  return unfinishedName(dataDir).replace('unfinished', 'removing');
}

/** Whoever asked for a backup has it all the same. */
export function olderStays(made: string, why: string, cause: unknown): ServiceError {
  return new ServiceError('conflict', `${made} is whole, but what is older could not be removed: ${why}`, { cause });
}
