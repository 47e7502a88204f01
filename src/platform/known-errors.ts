/** What a disk, the limits of the process, or damage mean in an error, for whoever is told of it. */
import { asDamageError } from './damaged-storage.js';
import { asResourceError } from './process-room.js';
import { asStorageError } from './storage-space.js';

/** A ServiceError with a sentence where the error means one of these; every other error as it is. */
export function asKnownError(error: unknown): unknown {
  return asDamageError(asResourceError(asStorageError(error)));
}
