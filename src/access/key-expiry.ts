/** Parses expiry dates of keys. */
import { ServiceError } from '../platform/index.js';

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/;
const END_OF_DAY = 'T23:59:59.999Z';

/** As `parseExpiry`, for a new key. Throws `unprocessable` for a time in the past, because the key would never work. */
export function parseFutureExpiry(text: string, nowMs: number): string {
  const expiry = parseExpiry(text);
  if (Date.parse(expiry) > nowMs) return expiry;
  const detail = `The expiry ${expiry} is in the past: it is now ${new Date(nowMs).toISOString()}. Give a later date or time.`;
  throw new ServiceError('unprocessable', detail, { errors: [{ pointer: '/expires_at', detail }] });
}

/**
 * Returns the time as `2027-01-01T12:00:00.000Z`. A date alone means the end of that day in UTC, so that the key still
 * works on that day. Throws `invalid-parameter` for anything else.
 */
export function parseExpiry(text: string): string {
  const written = DATE.test(text) ? text + END_OF_DAY : text;
  const ms = DATE_TIME.test(written) ? Date.parse(written) : Number.NaN;
  if (!Number.isNaN(ms) && isCalendarDay(text.slice(0, 10))) return new Date(ms).toISOString();
  const detail =
    'The expiry must be a date (2027-01-01: until the end of that day in UTC) or a time (2027-01-01T12:00:00Z).';
  throw new ServiceError('invalid-parameter', detail, { errors: [{ pointer: '/expires_at', detail }] });
}

/** Date.parse reads February 30th as March 2nd; converting back reveals that. */
function isCalendarDay(day: string): boolean {
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}
