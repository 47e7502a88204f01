/** Converts a ServiceError to a problem document and its headers. */
import type { ServiceError } from '../platform/index.js';

export const PROBLEM_TYPE = 'application/problem+json';

/** Returns the headers of an error's answer. */
export function failureHeaders(error: ServiceError): [name: string, value: string][] {
  const own = Object.entries(error.headers);
  return error.retryAfterSeconds === undefined ? own : [...own, ['Retry-After', String(error.retryAfterSeconds)]];
}
