/** The files of a list: `store/` is its LMDB environment, `segments/` what is made of it. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { ServiceError } from '../platform/index.js';

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

/** True where a store was made. One of no bytes was cut off: LMDB would take it for a new one. */
export function hasStore(listPath: string): boolean {
  return (statSync(join(storePath(listPath), 'data.mdb'), { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/** What is asked of a list whose records are not there. */
export function missingStore(): ServiceError {
  return new ServiceError(
    'list-missing',
    'The list is in the catalogue, but its records are not in the data directory: bring its folder back, or delete the list.',
  );
}
