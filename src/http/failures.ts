/** Errors on their way out: whatever was thrown becomes a ServiceError, and a ServiceError a problem document. */
import type { Logger } from 'pino';
import { asDamageError, asResourceError, asStorageError, isStorageError, ServiceError } from '../platform/index.js';

const LOGGED: ReadonlySet<string> = new Set(['internal-error', 'resources-exhausted', 'storage-damaged']);

export const PROBLEM_TYPE = 'application/problem+json';

/** What the caller may know of an error. An unexpected one is logged with its stack and shown as `internal-error` only. */
export function asServiceError(thrown: unknown, log: Logger, requestId: string): ServiceError {
  const error = asDamageError(asResourceError(asStorageError(thrown)));
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

/** Headers that go with an error. */
export function failureHeaders(error: ServiceError): [name: string, value: string][] {
  const own = Object.entries(error.headers);
  return error.retryAfterSeconds === undefined ? own : [...own, ['Retry-After', String(error.retryAfterSeconds)]];
}

/** Not the caller's doing: somebody who operates the service has to know. */
function isOfTheMachine(error: ServiceError): boolean {
  return LOGGED.has(error.code) || isStorageError(error);
}
