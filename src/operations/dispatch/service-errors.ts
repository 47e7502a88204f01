/** Converts whatever an operation throws to a ServiceError for the caller. */
import type { Logger } from 'pino';
import { asKnownError, isStorageError, ServiceError } from '../../platform/index.js';

const LOGGED: ReadonlySet<string> = new Set([
  'internal-error',
  'resources-exhausted',
  'program-replaced',
  'storage-damaged',
]);

/**
 * Returns what the caller may know of an error. An unexpected one is logged with its stack, and reported as
 * `internal-error`.
 */
export function asServiceError(thrown: unknown, log: Logger, requestId: string): ServiceError {
  const error = asKnownError(thrown);
  if (error instanceof ServiceError) {
    if (isOfTheMachine(error)) log.error({ requestId, err: error.cause ?? error }, error.detail);
    return error;
  }
  log.error({ requestId, err: error }, 'A request failed unexpectedly');
  return new ServiceError(
    'internal-error',
    `Something went wrong inside the service. It is logged under the request id ${requestId}.`,
  );
}

/** True for errors that the caller did not cause, so that the operator has to know. */
function isOfTheMachine(error: ServiceError): boolean {
  return LOGGED.has(error.code) || isStorageError(error);
}
