/** Paths of the files of a list: `store/` is its LMDB environment, `segments/` has what is derived from it. */
import { existsSync, opendirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { FILE_SYSTEM_OWN, ServiceError, systemCode } from '../platform/index.js';

export function storePath(listPath: string): string {
  return join(listPath, 'store');
}
export function segmentsPath(listPath: string): string {
  return join(listPath, 'segments');
}
export function segmentFile(listPath: string, segment: number): string {
  return join(segmentsPath(listPath), `${String(segment).padStart(8, '0')}.mdb`);
}

/** Path of a segment of vectors. Segments of vectors and of words share one sequence of numbers. */
export function vectorSegmentFile(listPath: string, segment: number): string {
  return join(segmentsPath(listPath), `${String(segment).padStart(8, '0')}.gvs`);
}

/** Error codes of a file server that is away, or of a user-space file system whose process has ended. */
const GONE_CODES: ReadonlySet<unknown> = new Set(['ESTALE', 'ENOTCONN', 'ENODEV', 'EHOSTDOWN']);
/** Error codes of a process or machine that cannot open another folder; they say nothing about the folder itself. */
const PROCESS_CODES: ReadonlySet<string | undefined> = new Set(['EMFILE', 'ENFILE', 'ENOMEM']);

/**
 * True if the list has a store. An empty file was truncated and does not count: LMDB would initialise it as a new
 * store. Throws `storage-failed` if the disk is gone.
 */
export function hasStore(listPath: string): boolean {
  try {
    return (statSync(join(storePath(listPath), 'data.mdb'), { throwIfNoEntry: false })?.size ?? 0) > 0;
  } catch (error) {
    throw asGone(error, listPath);
  }
}

/** Returns the error with which requests for a list without records are answered. */
export function missingStore(listPath: string): ServiceError {
  if (areListsGone(dirname(listPath))) return new ServiceError('list-missing', LISTS_GONE);
  return new ServiceError(
    'list-missing',
    'The list is in the catalogue, but its records are not in the data directory: bring its folder back, or delete the list.',
  );
}

/**
 * True if the folder of all lists is empty or cannot be read, although the catalogue has lists: an unmounted disk
 * leaves an empty mount point, and a start creates a missing folder.
 */
export function areListsGone(listsFolder: string): boolean {
  try {
    return isAsNew(listsFolder);
  } catch (error) {
    if (PROCESS_CODES.has((error as NodeJS.ErrnoException).code)) throw error;
    return true;
  }
}

function isAsNew(path: string): boolean {
  const folder = opendirSync(path);
  try {
    for (let entry = folder.readSync(); entry !== null; entry = folder.readSync())
      if (entry.name !== FILE_SYSTEM_OWN) return false;
    return true;
  } finally {
    folder.closeSync();
  }
}

/**
 * Returns `storage-failed` for a system error that means that the folder of all lists is gone; every other error as it
 * is.
 */
export function asGone(error: unknown, listPath: string): unknown {
  const code = systemCode(error);
  const isGone = GONE_CODES.has(code) || (code === 'ENOENT' && !existsSync(dirname(listPath)));
  return isGone ? new ServiceError('storage-failed', LISTS_GONE, { cause: error }) : error;
}

/**
 * Mentions deleting last, because all lists may still be on the disk. It is mentioned at all for users who have lost
 * their only list for good.
 */
export const LISTS_GONE =
  'The folder of all lists cannot be reached, or is empty, as where its disk is not mounted or a server of files is away: ' +
  'bring it back and start the service again; if its lists are gone for good, delete them.';
