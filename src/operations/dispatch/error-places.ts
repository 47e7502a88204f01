/** Finds the places of faulty options in a request. */
import { ServiceError, type ErrorPlace } from '../../platform/index.js';
import type { Operation } from './operation.js';
import { isStreamBody } from './validation.js';

/**
 * Lets the error point into the body if the operation takes the option there. Code that reads an option knows its name,
 * but not whether it came in the query string or in the body.
 */
export function placedIn(operation: Operation, error: unknown): unknown {
  if (!(error instanceof ServiceError) || error.errors === undefined) return error;
  const inBody = ({ parameter }: ErrorPlace) => parameter !== undefined && isInBody(operation, parameter);
  if (!error.errors.some(inBody)) return error;
  const { problem, detail, retryAfterSeconds, headers, meant } = error;
  const errors = error.errors.map((place) => (inBody(place) ? pointing(place) : place));
  const waiting = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  return new ServiceError(problem, detail, {
    errors,
    headers,
    cause: error,
    ...waiting,
    ...(meant === undefined ? {} : { meant }),
  });
}

function isInBody({ params, query, body }: Operation, name: string): boolean {
  if (body === undefined || isStreamBody(body)) return false;
  return hasMember(body, name) && !hasMember(params, name) && !hasMember(query, name);
}

function hasMember(schema: unknown, name: string): boolean {
  const { properties } = (schema ?? {}) as { readonly properties?: object };
  return properties !== undefined && Object.hasOwn(properties, name);
}

function pointing({ parameter, detail }: ErrorPlace): ErrorPlace {
  return { pointer: `/${parameter ?? ''}`, detail };
}
