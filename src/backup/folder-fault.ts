/** Converts system errors of a folder that the operator has named: they are no defects of the service. */
import { realpath, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { CallsOfDisks } from '../media/index.js';
import {
  asStorageError,
  isSystemError,
  isUnreadable,
  isWithin,
  ServiceError,
  shellWord,
  systemReason,
} from '../platform/index.js';

const TOLD = new Set(['EACCES', 'EEXIST', 'ELOOP', 'ENAMETOOLONG', 'ENOENT', 'ENOTDIR', 'EPERM']);
const MAY_NOT = new Set(['EACCES', 'EPERM']);

/** Long, since a backup takes hours, and must not fail because many files of media stores are written meanwhile. */
const TURN_MS_MAX = 600_000;

const disks = new CallsOfDisks({ folder: 'The disk of this folder of backups', turnMsMax: TURN_MS_MAX });
/** Real paths of folders that have responded, so that a silent disk need not be asked. */
const realPaths = new Map<string, string>();

/**
 * Resolves when the disk of the folder has responded. Much of the work there is done synchronously on the main thread,
 * and would block everybody if a file server is gone. Rejects with `store-unavailable` if it takes too long, and at
 * once while an earlier call has not returned.
 */
export async function assertAnswers(folder: string): Promise<void> {
  const calls = disks.of(realPaths.get(folder) ?? resolve(folder));
  const code = await calls.run(() =>
    answered(folder).then(
      () => undefined,
      (error: unknown) => (isSystemError(error) ? error.code : undefined),
    ),
  );
  const above = dirname(folder);
  // The folder may not exist yet; other errors are reported when it is used.
  if (code === 'ENOENT' && above !== folder) await assertAnswers(above);
}

async function answered(folder: string): Promise<void> {
  await statfs(folder);
  realPaths.set(folder, await realpath(folder));
}

/**
 * Converts the error of a failed backup: a disk that is full or cannot be written is that of the folder, unless the
 * error names something in the data directory.
 */
export function asFolderFault(error: unknown, folder: string, dataDir: string): unknown {
  const fault = asStorageError(error, folder);
  // Errors of LMDB's copying are converted already.
  const cause = fault instanceof ServiceError && fault.code === 'storage-failed' ? fault.cause : undefined;
  if (cause === undefined || (isSystemError(cause) && isWithin(cause.path ?? '/', dataDir)))
    return asFull(fault, folder, dataDir);
  const detail = `Nothing can be written to ${folder}, the folder of backups: ${systemReason(cause)}. No backup was made; those that are there are as they were.`;
  return new ServiceError('storage-failed', detail, { cause });
}

/** Returns the error, naming the full disk, since two disks take part in a backup. */
export function asFull(fault: unknown, folder: string, dataDir: string): unknown {
  if (!(fault instanceof ServiceError) || fault.code !== 'storage-full') return fault;
  const {
    code,
    path,
    dest = path ?? folder,
  } = (fault.cause ?? {}) as NodeJS.ErrnoException & { readonly dest?: string };
  // A limit for single files has its own message.
  if (code === 'EFBIG') return fault;
  const place = isWithin(dest, dataDir) ? `${dataDir}, the data directory` : `${folder}, the folder of backups`;
  const detail = `The disk of ${place}, is full: no backup was made, and those that are there are as they were. Free space there and try again.`;
  return new ServiceError('storage-full', detail, { cause: fault.cause });
}

/**
 * Runs `work` in the folder, once its disk has responded. Rejects with `unprocessable` if the folder or something in it
 * cannot be used, with `storage-failed` if the disk reports an error, and as `assertAnswers`.
 */
export async function inFolder<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
  await assertAnswers(folder);
  try {
    return await work();
  } catch (error) {
    if (!isSystemError(error) || error.path?.startsWith(folder) !== true) throw error;
    const detail = `${error.path} cannot be used: ${systemReason(error)}.`;
    if (isUnreadable(error)) throw new ServiceError('storage-failed', detail, { cause: error });
    if (!TOLD.has(error.code)) throw error;
    throw new ServiceError('unprocessable', MAY_NOT.has(error.code) ? notAllowed(folder, error) : detail);
  }
}

/** Says whose folder it has to be: the service has another user than whoever makes folders. */
function notAllowed(folder: string, error: NodeJS.ErrnoException): string {
  const user = process.geteuid?.() ?? 'of the service';
  // What is made in the folder for a while has a name that says nothing to anybody.
  const path = dirname(error.path ?? folder) === folder && error.syscall === 'mkdir' ? folder : error.path;
  return `The user with the id ${user} may not use ${path} (${error.code}). As root, give it the folder of backups: install -d -o ${user} -m 0700 ${shellWord(folder)}`;
}
