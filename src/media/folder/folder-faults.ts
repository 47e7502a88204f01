/** Converts errors of a file system into errors of the media store on it. */
import { isOutOfSpace, ServiceError, systemCode, systemReason } from '../../platform/index.js';
import { STORE_FULL, STORE_UNAVAILABLE } from '../media-problems.js';

const FORBIDDEN: ReadonlySet<unknown> = new Set(['EACCES', 'EPERM']);
/** Errors of a disk that fails, is read-only or was removed, and of an unreachable server. */
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
 * Returns `store-full` or `store-unavailable` for errors with that meaning, and any other error unchanged. `path` is a
 * folder in the store, or '' for the store's own.
 */
export function asFolderError(error: unknown, path = ''): unknown {
  if (error instanceof ServiceError || !(error instanceof Error)) return error;
  const code = systemCode(error);
  if (isOutOfSpace(error)) {
    return new ServiceError(STORE_FULL, 'The disk of the folder of this media store has no room for this.', {
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
