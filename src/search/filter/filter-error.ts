/** The one way a filter is refused: where, what was expected, what stood there. */
import { ServiceError } from '../../platform/index.js';

const EXCERPT_CHARACTERS_MAX = 40;

/** `at` is the offset in the filter text, from 0, in UTF-16 units (what `String.prototype.slice` of a client counts). */
export function filterError(at: number, message: string): ServiceError {
  const detail = `At position ${at}: ${message}${/[.?]$/.test(message) ? '' : '.'}`;
  return new ServiceError('invalid-filter', `The filter cannot be read. ${detail}`, {
    errors: [{ parameter: 'filter', detail }],
  });
}

/** A piece of the filter for a message, cut where it is long. */
export function excerpt(text: string): string {
  const characters = text.length > EXCERPT_CHARACTERS_MAX ? `${text.slice(0, EXCERPT_CHARACTERS_MAX)}…` : text;
  return `"${characters}"`;
}
