/** What the system says of a folder that somebody has named is told to them: it is no defect of the service. */
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { FolderCalls } from '../media/index.js';
import { isSystemError, ServiceError, systemReason } from '../platform/index.js';

const TOLD = new Set(['EACCES', 'EEXIST', 'ELOOP', 'ENAMETOOLONG', 'ENOENT', 'ENOTDIR', 'EPERM']);

const calls = new FolderCalls({ folder: 'The disk of this folder of backups' });

/**
 * Resolves when the disk of the folder has answered. Much of what is done there is done by the thread that answers everybody, and would
 * keep all of them waiting for a server that is gone. Rejects with `store-unavailable` where it takes too long, and at once as long as
 * one that was asked before has not answered.
 */
export async function assertAnswers(folder: string): Promise<void> {
  const code = await calls.run(() =>
    statfs(folder).then(
      () => undefined,
      (error: unknown) => (isSystemError(error) ? error.code : undefined),
    ),
  );
  const above = dirname(folder);
  // It may be yet to be made; what else is wrong with it is told by who uses it.
  if (code === 'ENOENT' && above !== folder) await assertAnswers(above);
}

/**
 * Runs what works in the folder, once its disk has answered. Rejects with `unprocessable` where something in it, or the folder, cannot be
 * used, and as `assertAnswers`.
 */
export async function inFolder<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
  await assertAnswers(folder);
  try {
    return await work();
  } catch (error) {
    if (!isSystemError(error) || !TOLD.has(error.code) || error.path?.startsWith(folder) !== true) throw error;
    throw new ServiceError('unprocessable', `${error.path} cannot be used: ${systemReason(error)}.`);
  }
}
