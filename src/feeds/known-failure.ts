/** What the owner of a feed is told about a failure of the service itself. */
import type { Logger } from 'pino';
import { asKnownError, ServiceError } from '../platform/index.js';

/**
 * Returns a sentence if the meaning of the failure is known, and undefined for a fault of the service. The name of an
 * affected file is written to the log only, together with `about`.
 */
export function toldFailure(thrown: unknown, log: Logger, about: object): string | undefined {
  const error = asKnownError(thrown);
  if (!(error instanceof ServiceError) || error.code === 'internal-error') return undefined;
  if (error !== thrown) log.error({ err: thrown, ...about }, error.detail);
  return error.detail;
}
