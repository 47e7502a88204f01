/** The files of a list: `store/` is its LMDB environment, `segments/` what is made of it. */
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

/** A segment of vectors; numbered together with those of words. */
export function vectorSegmentFile(listPath: string, segment: number): string {
  return join(segmentsPath(listPath), `${String(segment).padStart(8, '0')}.gvs`);
}

/** Of a server of files that is away, or a file system that lies in another process which has ended. */
const GONE_CODES: ReadonlySet<unknown> = new Set(['ESTALE', 'ENOTCONN', 'ENODEV', 'EHOSTDOWN']);
/** Of a process or a machine that has no room for one more open folder, which says nothing of the folder. */
const PROCESS_CODES: ReadonlySet<string | undefined> = new Set(['EMFILE', 'ENFILE', 'ENOMEM']);

/** True where a store was made. One of no bytes was cut off: LMDB would take it for a new one. Throws `storage-failed` where the disk is gone. */
export function hasStore(listPath: string): boolean {
  try {
    return (statSync(join(storePath(listPath), 'data.mdb'), { throwIfNoEntry: false })?.size ?? 0) > 0;
  } catch (error) {
    throw asGone(error, listPath);
  }
}

/** What is asked of a list whose records are not there. */
export function missingStore(listPath: string): ServiceError {
  if (areListsGone(dirname(listPath))) return new ServiceError('list-missing', LISTS_GONE);
  return new ServiceError(
    'list-missing',
    'The list is in the catalogue, but its records are not in the data directory: bring its folder back, or delete the list.',
  );
}

/**
 * True where the folder of all lists has nothing in it, which the catalogue says has some, or cannot be read: an unmounted disk leaves the empty
 * folder that it was mounted at, and a start makes one that is not there.
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

/** `storage-failed` for what the system says where the folder of all lists is gone; every other error as it is. */
export function asGone(error: unknown, listPath: string): unknown {
  const code = systemCode(error);
  const isGone = GONE_CODES.has(code) || (code === 'ENOENT' && !existsSync(dirname(listPath)));
  return isGone ? new ServiceError('storage-failed', LISTS_GONE, { cause: error }) : error;
}

/** Deleting comes last: all of it may be where the disk is. Without it who lost the only list for good would be told of disks alone. */
export const LISTS_GONE =
  'The folder of all lists cannot be reached, or is empty, as where its disk is not mounted or a server of files is away: ' +
  'bring it back and start the service again; if its lists are gone for good, delete them.';
