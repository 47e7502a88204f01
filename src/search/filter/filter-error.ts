/** Creates the errors of filters: where, what was expected, what was found. */
import { ServiceError } from '../../platform/index.js';

const EXCERPT_CHARACTERS_MAX = 40;

/**
 * Returns an `invalid-filter` error. `at` is an offset into the filter text in UTF-16 units, from 0 (as counted by
 * `String.prototype.slice` of a client).
 */
export function filterError(at: number, message: string): ServiceError {
  const detail = `At position ${at}: ${message}${/[.?]$/.test(message) ? '' : '.'}`;
  return new ServiceError('invalid-filter', `The filter cannot be read. ${detail}`, {
    errors: [{ parameter: 'filter', detail }],
  });
}

/** Returns a piece of the filter in quotes for a message, truncated if long. */
export function excerpt(text: string): string {
  const characters = text.length > EXCERPT_CHARACTERS_MAX ? `${text.slice(0, EXCERPT_CHARACTERS_MAX)}…` : text;
  return `"${characters}"`;
}
