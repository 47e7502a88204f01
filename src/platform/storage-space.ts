/** What a full disk and one that refuses writes look like, and how the service stays alive on them. */
import { existsSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { ServiceError } from './errors.js';
import { systemCode } from './system-code.js';

/** Of the system by name and by number, of LMDB, of the kernel, and of the service: for its own disk and for that of a media store. */
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
/** A limit of the process or of the file system for a single file, as 4 GiB are where it is FAT. */
const FILE_TOO_LARGE_CODES: ReadonlySet<unknown> = new Set(['EFBIG', 27]);
const FULL_MESSAGE = /no space left|disk quota exceeded|MDB_MAP_FULL|mapsize limit/i;
/** LMDB and the kernel report the short write of a full disk as an input/output error. */
const IO_CODES: ReadonlySet<unknown> = new Set([5, 'EIO', 'io']);
/** Of a file system that was made read-only, and of LMDB where a meta page could not be written: nothing is written any more. */
const REFUSAL_CODES: ReadonlySet<unknown> = new Set([30, 'EROFS', -30795]);
const REFUSAL_MESSAGE = /input\/output error|i\/o error|read-only file system/i;
const IO_MESSAGE = /^(?:input\/output|i\/o) error$/i;
/** Of the system's calls, by what Node.js calls them: those that only who writes makes. */
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
/** Of those, what a disk or a server of files reports that cannot be used. */
const FAULT_CODES: ReadonlySet<unknown> = new Set(['EIO', 'ESTALE', 'EREMOTEIO', 'ENODEV']);
/** With less space than this, an input/output error means that the disk is full. */
const FREE_BYTES_MAX = 16 * 2 ** 20;
/** More than the readers of any environment here take. */
const LOCK_FILE_BYTES = 131_072;

/** True where the error says that no space is left: from the system, LMDB, the kernel, or as the service tells it. */
export function isOutOfSpace(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = systemCode(error);
  return (
    FULL_CODES.has(code) ||
    FILE_TOO_LARGE_CODES.has(code) ||
    (!(error instanceof ServiceError) && FULL_MESSAGE.test(error.message))
  );
}

/** True for what `asStorageError` makes of a full disk or one that refuses writes. */
export function isStorageError(error: unknown): boolean {
  return error instanceof ServiceError && (error.code === 'storage-full' || error.code === 'storage-failed');
}

/**
 * `storage-full` or `storage-failed` for an error that means it; every other error as it is. `path`: where a write was to go; an
 * input/output error means something here only of a write, which the calls of Node.js tell by themselves.
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

/** LMDB's copy of an environment has no number in its error. */
function isIoError(error: Error): boolean {
  const code = systemCode(error);
  return IO_CODES.has(code) || (code === undefined && IO_MESSAGE.test(error.message));
}

function isFaultOfWriting(error: Error): boolean {
  return FAULT_CODES.has(systemCode(error)) && WRITING_CALLS.has((error as NodeJS.ErrnoException).syscall);
}

/** Of LMDB and the kernel nothing says which call it was. */
function isOfReading(error: Error): boolean {
  const { syscall } = error as NodeJS.ErrnoException;
  return syscall !== undefined && !WRITING_CALLS.has(syscall);
}

/**
 * LMDB maps its lock file as a hole and writes into it: on a full disk that is a SIGBUS, the end of the process. So a new
 * one gets its blocks before, by writing, which fails as an error. One that exists may be in use and is never touched.
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
    // The folder is gone, or its file system does not answer: then it is not known to be full.
    return false;
  }
}
