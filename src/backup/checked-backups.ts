/** Results of checking backups, in a folder or at a place in a media store. */
import { lstat } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { checkEnvironmentFile, isDamage, OperatorError, ServiceError, type Cancellation } from '../platform/index.js';
import { DESCRIPTION_FILE, readDescription, type BackupDescription, type KeptFile } from './description.js';
import { backupPaths } from './kept-backups.js';

/** Number of problems named per backup; there may be as many as files. */
const PROBLEMS_TOLD_MAX = 20;

export interface CheckedBackup {
  readonly path: string;
  /** Null if its description cannot be read. */
  readonly made_utc: string | null;
  readonly files: number;
  readonly bytes: number;
  readonly problem_count: number;
  /** The first problems. */
  readonly problems: readonly string[];
}

export interface CheckedBackups {
  /** In the order of their names. */
  readonly backups: readonly CheckedBackup[];
  /** Bytes that were read and compared. */
  readonly bytes_read: number;
}

/** Collects the problems of one backup. */
export class Problems {
  private count = 0;
  private readonly told: string[] = [];

  add(problem: string): void {
    this.count += 1;
    if (this.told.length < PROBLEMS_TOLD_MAX) this.told.push(problem);
  }

  of(backup: Omit<CheckedBackup, 'problems' | 'problem_count'>): CheckedBackup {
    return { ...backup, problem_count: this.count, problems: this.told };
  }
}

/** Returns the result for a backup whose description cannot be trusted. */
export function unreadable(path: string, why: string): CheckedBackup {
  return { path, made_utc: null, files: 0, bytes: 0, problem_count: 1, problems: [why] };
}

export function noBackup(told: string): ServiceError {
  return new ServiceError('unprocessable', `There is no backup at ${told}.`);
}

/**
 * Checks one backup, or all of a folder: every file exists with its length, and environments have valid meta pages.
 * Contents are not compared, since the folder has no checksums of them. Rejects with `unprocessable` if there is none.
 */
export async function checkKept(folder: string, signal: Cancellation): Promise<CheckedBackups> {
  const backups: CheckedBackup[] = [];
  for (const path of pathsAt(folder)) backups.push(await checkOne(path, signal));
  if (backups.length === 0) throw noBackup(folder);
  return { backups, bytes_read: 0 };
}

function pathsAt(folder: string): string[] {
  return existsSync(join(folder, DESCRIPTION_FILE)) ? [folder] : backupPaths(folder);
}

async function checkOne(path: string, signal: Cancellation): Promise<CheckedBackup> {
  let description: BackupDescription;
  try {
    description = readDescription(path);
  } catch (error) {
    if (error instanceof OperatorError) return unreadable(path, error.message);
    throw error;
  }
  const problems = new Problems();
  for (const file of description.files) {
    if (signal.aborted) throw signal.reason;
    const problem = await problemOf(path, file);
    if (problem !== undefined) problems.add(`${file.path} ${problem}`);
  }
  const bytes = description.files.reduce((sum, file) => sum + file.bytes, 0);
  return problems.of({ path, made_utc: description.made_utc, files: description.files.length, bytes });
}

async function problemOf(backup: string, { path, bytes }: KeptFile): Promise<string | undefined> {
  const at = join(backup, path);
  const found = await lstat(at).catch(() => undefined);
  if (found?.isFile() !== true) return 'is missing';
  if (found.size !== bytes) return `has ${found.size} bytes in place of ${bytes}`;
  if (!path.endsWith('data.mdb')) return undefined;
  try {
    checkEnvironmentFile(at);
    return undefined;
  } catch (error) {
    if (!isDamage(error)) throw error;
    return `is damaged: ${error instanceof Error ? error.message : String(error)}`;
  }
}
