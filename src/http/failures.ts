/** Errors on their way out: whatever was thrown becomes a ServiceError, and a ServiceError a problem document. */
import type { Logger } from 'pino';
import { asDamageError, asStorageError, isStorageError, ServiceError } from '../platform/index.js';

export const PROBLEM_TYPE = 'application/problem+json';

/** What the caller may know of an error. An unexpected one is logged with its stack and shown as `internal-error` only. */
export function asServiceError(thrown: unknown, log: Logger, requestId: string): ServiceError {
  const error = asDamageError(asStorageError(thrown));
  if (error instanceof ServiceError) {
    if (error.code === 'internal-error' || error.code === 'storage-damaged' || isStorageError(error))
      log.error({ requestId, err: error.cause ?? error }, error.detail);
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
  return error.retryAfterSeconds === undefined ? [] : [['Retry-After', String(error.retryAfterSeconds)]];
}
