/** What a failure of the service itself is told as to whoever owns a feed. */
import type { Logger } from 'pino';
import { asKnownError, ServiceError } from '../platform/index.js';

/** A sentence where it is known what it means; undefined for a fault of the service. Which file it was is for the log alone, with what it is `about`. */
export function toldFailure(thrown: unknown, log: Logger, about: object): string | undefined {
  const error = asKnownError(thrown);
  if (!(error instanceof ServiceError) || error.code === 'internal-error') return undefined;
  if (error !== thrown) log.error({ err: thrown, ...about }, error.detail);
  return error.detail;
}
