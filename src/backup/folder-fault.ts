/** What the system says of a folder that somebody has named is told to them: it is no defect of the service. */
import { isSystemError, ServiceError, systemReason } from '../platform/index.js';

const TOLD = new Set(['EACCES', 'EEXIST', 'ELOOP', 'ENAMETOOLONG', 'ENOENT', 'ENOTDIR', 'EPERM']);

/** Runs what works in the folder. Rejects with `unprocessable` where something in it, or the folder, cannot be used. */
export async function inFolder<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isSystemError(error) || !TOLD.has(error.code) || error.path?.startsWith(folder) !== true) throw error;
    throw new ServiceError('unprocessable', `${error.path} cannot be used: ${systemReason(error)}.`);
  }
}
