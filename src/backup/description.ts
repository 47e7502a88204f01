/** `backup.json`: the description of a complete backup in a folder. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { OperatorError } from '../platform/index.js';

export const DESCRIPTION_FILE = 'backup.json';
/** Increases with every change after which an older release would restore something else than what was backed up. */
const FORMAT = 1;

export interface KeptFile {
  /** Path relative to the folder of the backup, with `/`. */
  readonly path: string;
  readonly bytes: number;
}

export interface BackupDescription {
  readonly format: number;
  readonly made_utc: string;
  /** Release that made the backup. */
  readonly made_by: string;
  readonly data_dir: string;
  readonly lists: number;
  readonly files: readonly KeptFile[];
}

export function describeBackup(description: Omit<BackupDescription, 'format'>): string {
  return `${JSON.stringify({ format: FORMAT, ...description })}\n`;
}

/** Throws an `OperatorError` if the folder is not a backup that this release can read. */
export function readDescription(folder: string): BackupDescription {
  const path = join(folder, DESCRIPTION_FILE);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EACCES' || code === 'EPERM')
      throw new OperatorError(
        `The user with the id ${process.geteuid?.() ?? '?'} may not read ${path}. A backup is restored as the user that the service runs as: give that user a copy of it (chown -R).`,
      );
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw new OperatorError(`${path} cannot be read: ${message}`);
    throw new OperatorError(
      `${folder} is not a backup: it has no ${DESCRIPTION_FILE}. A backup is a folder named after its time, such as 20261122T081500Z.`,
    );
  }
  const description = parsed(text);
  if (!isDescription(description)) throw new OperatorError(`${path} is damaged. Use another backup.`);
  if (description.format > FORMAT) {
    throw new OperatorError(
      `${path} has format ${description.format}, which this release does not know: restore it with the release that made it (${description.made_by}).`,
    );
  }
  // Earlier releases listed the description of the backup from which the data directory had been copied, which is not
  // in this one.
  return { ...description, files: description.files.filter(({ path: each }) => each !== DESCRIPTION_FILE) };
}

/** Returns the folder and all folders below it that these files are in. */
export function foldersOf(folder: string, files: Iterable<Pick<KeptFile, 'path'>>): ReadonlySet<string> {
  const folders = new Set([folder]);
  for (const { path } of files)
    for (let each = dirname(path); each !== '.'; each = dirname(each)) folders.add(join(folder, each));
  return folders;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isDescription(value: unknown): value is BackupDescription {
  if (typeof value !== 'object' || value === null) return false;
  const { format, made_utc, made_by, data_dir, lists, files } = value as Partial<
    Record<keyof BackupDescription, unknown>
  >;
  return (
    Number.isInteger(format) &&
    [made_utc, made_by, data_dir].every((each) => typeof each === 'string') &&
    Number.isInteger(lists) &&
    Array.isArray(files) &&
    files.every(isKeptFile)
  );
}

function isKeptFile(value: unknown): value is KeptFile {
  if (typeof value !== 'object' || value === null) return false;
  const { path, bytes } = value as Partial<Record<keyof KeptFile, unknown>>;
  return isInside(path) && Number.isSafeInteger(bytes) && (bytes as number) >= 0;
}

/** True for a path that stays below the folder to which it is relative. */
export function isInside(path: unknown): path is string {
  if (typeof path !== 'string') return false;
  return path.split('/').every((part) => part !== '' && part !== '.' && part !== '..' && !part.includes('\0'));
}
