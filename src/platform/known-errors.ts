/** Translates errors of the disk, of limits of the process, of damaged files or of a replaced program for clients. */
import { asDamageError } from './damaged-storage.js';
import { asResourceError } from './process-room.js';
import { asProgramError } from './program.js';
import { asStorageError } from './storage-space.js';

/** Returns a ServiceError if the error means one of these; every other error unchanged. */
export function asKnownError(error: unknown): unknown {
  return asProgramError(asDamageError(asResourceError(asStorageError(error))));
}
