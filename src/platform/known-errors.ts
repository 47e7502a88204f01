/** What a disk, the limits of the process, damage, or a program that was replaced mean in an error, for whoever is told of it. */
import { asDamageError } from './damaged-storage.js';
import { asResourceError } from './process-room.js';
import { asProgramError } from './program.js';
import { asStorageError } from './storage-space.js';

/** A ServiceError with a sentence where the error means one of these; every other error as it is. */
export function asKnownError(error: unknown): unknown {
  return asProgramError(asDamageError(asResourceError(asStorageError(error))));
}
