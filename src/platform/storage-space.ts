/** Recognizes errors of a full disk and of one that refuses writes, and prevents those that would end the process. */
import { existsSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { ServiceError } from './errors.js';
import { systemCode } from './system-code.js';

/**
 * Codes of the system (by name and number), LMDB, the kernel, and the service, for its own disk and for that of a media
 * store.
 */
const FULL_CODES: ReadonlySet<unknown> = new Set([
  'ENOSPC',
  'EDQUOT',
  28,
  122,
  -30792,
  'disk-full',
  'storage-full',
  'store-full',
]);
/** Codes of a limit for a single file, by the process or by the file system (4 GiB on FAT). */
const FILE_TOO_LARGE_CODES: ReadonlySet<unknown> = new Set(['EFBIG', 27]);
const FULL_MESSAGE = /no space left|disk quota exceeded|MDB_MAP_FULL|mapsize limit/i;
/** LMDB and the kernel report the short write of a full disk as an input/output error. */
const IO_CODES: ReadonlySet<unknown> = new Set([5, 'EIO', 'io']);
/**
 * Codes of a read-only file system, and of LMDB after a meta page could not be written: nothing is written any more.
 */
const REFUSAL_CODES: ReadonlySet<unknown> = new Set([30, 'EROFS', -30795]);
const REFUSAL_MESSAGE = /input\/output error|i\/o error|read-only file system/i;
const IO_MESSAGE = /^(?:input\/output|i\/o) error$/i;
/** System calls, as named by Node.js, that only occur when writing. */
const WRITING_CALLS: ReadonlySet<unknown> = new Set([
  'write',
  'fsync',
  'fdatasync',
  'ftruncate',
  'rename',
  'link',
  'unlink',
  'rm',
  'rmdir',
  'copyfile',
  'futime',
  'utime',
  'fchmod',
  'chmod',
]);
/** Codes of a disk or file server that cannot be used, if a writing call reports them. */
const FAULT_CODES: ReadonlySet<unknown> = new Set(['EIO', 'ESTALE', 'EREMOTEIO', 'ENODEV']);
/** Free bytes below which an input/output error means that the disk is full. */
const FREE_BYTES_MAX = 16 * 2 ** 20;
/** More than the reader table of any environment here. */
const LOCK_FILE_BYTES = 131_072;

/** True if an error of the system, LMDB, the kernel or the service says that no space is left. */
export function isOutOfSpace(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = systemCode(error);
  return (
    FULL_CODES.has(code) ||
    FILE_TOO_LARGE_CODES.has(code) ||
    (!(error instanceof ServiceError) && FULL_MESSAGE.test(error.message))
  );
}

/** True for the errors that `asStorageError` returns. */
export function isStorageError(error: unknown): boolean {
  return error instanceof ServiceError && (error.code === 'storage-full' || error.code === 'storage-failed');
}

/**
 * Returns `storage-full` or `storage-failed` if the error means that; every other error unchanged. `path`: where a
 * write was to go. Without it, input/output errors are not converted, since they only count for writes; errors of
 * Node.js calls tell whether it was one.
 */
export function asStorageError(error: unknown, path?: string): unknown {
  if (error instanceof ServiceError || !(error instanceof Error)) return error;
  const isIo = path !== undefined && isIoError(error) && !isOfReading(error);
  if (FILE_TOO_LARGE_CODES.has(systemCode(error))) {
    const detail =
      'A file would become larger than the system allows (ulimit -f, or the file system): nothing was written.';
    return new ServiceError('storage-full', detail, { cause: error });
  }
  if (isOutOfSpace(error) || (isIo && isNearlyFull(path))) {
    return new ServiceError('storage-full', 'The disk is full: nothing was written. Free space and try again.', {
      cause: error,
    });
  }
  if (
    REFUSAL_CODES.has(systemCode(error)) ||
    isFaultOfWriting(error) ||
    (isIo && REFUSAL_MESSAGE.test(error.message))
  ) {
    const detail =
      'The disk refuses to be written: nothing was written. What is stored can be read; the log has the cause.';
    return new ServiceError('storage-failed', detail, { cause: error });
  }
  return error;
}

/** LMDB's copying of an environment reports errors without a number. */
function isIoError(error: Error): boolean {
  const code = systemCode(error);
  return IO_CODES.has(code) || (code === undefined && IO_MESSAGE.test(error.message));
}

function isFaultOfWriting(error: Error): boolean {
  return FAULT_CODES.has(systemCode(error)) && WRITING_CALLS.has((error as NodeJS.ErrnoException).syscall);
}

/** True if a Node.js call that does not write failed. Errors of LMDB and the kernel do not name their call. */
function isOfReading(error: Error): boolean {
  const { syscall } = error as NodeJS.ErrnoException;
  return syscall !== undefined && !WRITING_CALLS.has(syscall);
}

/**
 * Allocates the blocks of a new LMDB lock file. LMDB maps it as a sparse file and writes into it; on a full disk that
 * raises SIGBUS, which ends the process, while a write fails with an error. An existing file may be in use and is never
 * touched.
 */
export function allocateLockFile(path: string): void {
  if (existsSync(path)) return;
  try {
    writeFileSync(path, Buffer.alloc(LOCK_FILE_BYTES), { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
    rmSync(path, { force: true });
    throw asStorageError(error);
  }
}

function isNearlyFull(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize < FREE_BYTES_MAX;
  } catch {
    // The folder is gone, or its file system does not respond: not known to be full.
    return false;
  }
}
