/** What the system says of a folder that somebody has named is told to them: it is no defect of the service. */
import { realpath, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { CallsOfDisks } from '../media/index.js';
import {
  asStorageError,
  isSystemError,
  isUnreadable,
  isWithin,
  ServiceError,
  systemReason,
} from '../platform/index.js';

const TOLD = new Set(['EACCES', 'EEXIST', 'ELOOP', 'ENAMETOOLONG', 'ENOENT', 'ENOTDIR', 'EPERM']);

/** A backup takes hours, and is not given up because many files of media stores are written meanwhile. */
const TURN_MS_MAX = 600_000;

const disks = new CallsOfDisks({ folder: 'The disk of this folder of backups', turnMsMax: TURN_MS_MAX });
/** Where links lead from folders that have answered: a disk that is silent is not asked. */
const realPaths = new Map<string, string>();

/**
 * Resolves when the disk of the folder has answered. Much of what is done there is done by the thread that answers everybody, and would
 * keep all of them waiting for a server that is gone. Rejects with `store-unavailable` where it takes too long, and at once as long as
 * one that was asked before has not answered.
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
  // It may be yet to be made; what else is wrong with it is told by who uses it.
  if (code === 'ENOENT' && above !== folder) await assertAnswers(above);
}

async function answered(folder: string): Promise<void> {
  await statfs(folder);
  realPaths.set(folder, await realpath(folder));
}

/** What a failed backup is told as: a disk that is full or cannot be written is that of the folder, unless something of the data directory is named. */
export function asFolderFault(error: unknown, folder: string, dataDir: string): unknown {
  const fault = asStorageError(error, folder);
  // Of a copy that LMDB made it is one already.
  const cause = fault instanceof ServiceError && fault.code === 'storage-failed' ? fault.cause : undefined;
  if (cause === undefined || (isSystemError(cause) && isWithin(cause.path ?? '/', dataDir)))
    return asFull(fault, folder, dataDir);
  const detail = `Nothing can be written to ${folder}, the folder of backups: ${systemReason(cause)}. No backup was made; those that are there are as they were.`;
  return new ServiceError('storage-failed', detail, { cause });
}

/** The error, which says of a full disk whose it is: two take part in a backup. */
export function asFull(fault: unknown, folder: string, dataDir: string): unknown {
  if (!(fault instanceof ServiceError) || fault.code !== 'storage-full') return fault;
  const {
    code,
    path,
    dest = path ?? folder,
  } = (fault.cause ?? {}) as NodeJS.ErrnoException & { readonly dest?: string };
  // A limit of single files, which has a sentence of its own.
  if (code === 'EFBIG') return fault;
  const place = isWithin(dest, dataDir) ? `${dataDir}, the data directory` : `${folder}, the folder of backups`;
  const detail = `The disk of ${place}, is full: no backup was made, and those that are there are as they were. Free space there and try again.`;
  return new ServiceError('storage-full', detail, { cause: fault.cause });
}

/**
 * Runs what works in the folder, once its disk has answered. Rejects with `unprocessable` where something in it, or the folder, cannot be
 * used, `storage-failed` where the disk reports an error, and as `assertAnswers`.
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
    throw new ServiceError('unprocessable', detail);
  }
}
