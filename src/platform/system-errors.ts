/** Describes system and network errors in sentences: what went wrong and, if possible, what to do. */
import { ServiceError } from './errors.js';
import { systemCode } from './system-code.js';

const SENTENCES: Readonly<Record<string, string>> = {
  EACCES: 'this user may not do that',
  EPERM: 'this user may not do that',
  ENOENT: 'it does not exist',
  ENOTDIR: 'a part of its path is not a folder',
  EISDIR: 'it is a folder',
  EEXIST: 'it exists already',
  ELOOP: 'its links go round in a circle',
  ENAMETOOLONG: 'its name is too long',
  ENOSPC: 'there is no space left on the disk',
  EDQUOT: "this user's share of the disk is used up",
  EFBIG: 'the file would become larger than the system allows',
  EROFS: 'the file system cannot be written to',
  EIO: 'the disk reports an error',
  ESTALE: 'the server of files does not know it any more',
  EREMOTEIO: 'the server of files reports an error',
  EMFILE: 'this process has too many files open (ulimit -n)',
  ENFILE: 'this machine has too many files open',
  ENOMEM: 'there is not enough memory',
  ERR_WORKER_INIT_FAILED:
    'no thread can be started, there are no descriptors (ulimit -n), threads (ulimit -u, or the tasks of its container or unit) or memory left',
  EADDRINUSE: 'something else listens there',
  EPIPE: 'whoever read it has gone away',
  ECONNREFUSED: 'nobody listens there',
  ECONNRESET: 'the other side closed the connection',
  ETIMEDOUT: 'it took too long',
};

interface SystemError extends Error {
  readonly code: string;
  readonly path?: string;
  readonly syscall?: string;
}

export function isSystemError(error: unknown): error is SystemError {
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as NodeJS.ErrnoException;
  return typeof code === 'string' && (typeof syscall === 'string' || code in SENTENCES);
}

/** Returns one sentence without its full stop: `there is no space left on the disk (ENOSPC)`. */
export function systemReason(error: unknown): string {
  if (!isSystemError(error)) return error instanceof Error ? error.message : String(error);
  const code = String(systemCode(error));
  const sentence = SENTENCES[code];
  return sentence === undefined ? error.message : `${sentence} (${code})`;
}

/** As `systemReason`, for clients of the API: without paths, and without errors that only the log explains. */
export function tellableReason(error: unknown): string {
  if (error instanceof ServiceError) return error.detail.replace(/\.$/u, '');
  if (!isSystemError(error)) return "the service's log says why";
  return String(systemCode(error)) in SENTENCES ? systemReason(error) : `the system refused it (${error.code})`;
}

/** Returns one sentence about the file or, if the error names none, about the operation. */
export function describeSystemError(error: SystemError): string {
  const reason = systemReason(error);
  return error.path === undefined
    ? `The system refused what had to be done: ${reason}.`
    : `${error.path} cannot be used: ${reason}.`;
}
