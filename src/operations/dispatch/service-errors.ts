/** Whatever was thrown by an operation becomes a ServiceError, before anybody outside is told. */
import type { Logger } from 'pino';
import { asKnownError, isStorageError, ServiceError } from '../../platform/index.js';

const LOGGED: ReadonlySet<string> = new Set([
  'internal-error',
  'resources-exhausted',
  'program-replaced',
  'storage-damaged',
]);

/** What the caller may know of an error. An unexpected one is logged with its stack and shown as `internal-error` only. */
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

/** Not the caller's doing: somebody who operates the service has to know. */
function isOfTheMachine(error: ServiceError): boolean {
  return LOGGED.has(error.code) || isStorageError(error);
}
