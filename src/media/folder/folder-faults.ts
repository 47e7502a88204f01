/** What a file system refuses, as an error of the media store that lies on it. */
import { isOutOfSpace, ServiceError, systemCode, systemReason } from '../../platform/index.js';
import { STORE_FULL, STORE_UNAVAILABLE } from '../media-problems.js';

const FORBIDDEN: ReadonlySet<unknown> = new Set(['EACCES', 'EPERM']);
/** Of a disk that fails, may only be read, or was taken away, and of a server that is gone. */
const FAULTS: ReadonlySet<unknown> = new Set([
  'EIO',
  'EROFS',
  'ESTALE',
  'ENOTCONN',
  'ENODEV',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'EREMOTEIO',
]);

export function isForbidden(error: unknown): boolean {
  return FORBIDDEN.has((error as NodeJS.ErrnoException).code);
}

/**
 * `store-full` or `store-unavailable` where the file system says so; every other error as it is. `path`: of a folder in the store; '' for
 * the store's own.
 */
export function asFolderError(error: unknown, path = ''): unknown {
  if (error instanceof ServiceError || !(error instanceof Error)) return error;
  const code = systemCode(error);
  if (isOutOfSpace(error)) {
    return new ServiceError(STORE_FULL, 'The disk on which the folder of this media store lies has no room for this.', {
      cause: error,
    });
  }
  if (!FORBIDDEN.has(code) && !FAULTS.has(code)) return error;
  const what = path === '' || path.endsWith('/') ? 'folder' : 'file';
  const which = path === '' ? `The ${what}` : `The ${what} ${JSON.stringify(path)}`;
  return new ServiceError(STORE_UNAVAILABLE, `${which} of this media store cannot be used: ${systemReason(error)}.`, {
    cause: error,
  });
}
