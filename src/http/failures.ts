/** Errors on their way out: a ServiceError becomes a problem document. */
import type { ServiceError } from '../platform/index.js';

export const PROBLEM_TYPE = 'application/problem+json';

/** Headers that go with an error. */
export function failureHeaders(error: ServiceError): [name: string, value: string][] {
  const own = Object.entries(error.headers);
  return error.retryAfterSeconds === undefined ? own : [...own, ['Retry-After', String(error.retryAfterSeconds)]];
}
