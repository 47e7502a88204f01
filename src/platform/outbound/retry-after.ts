/** `Retry-After` (RFC 9110, 10.2.3). */
const SECONDS = /^\d{1,10}$/;

/** Milliseconds from now; undefined where the header is missing or makes no sense. A time that has passed is 0. */
export function retryAfterMs(value: string | undefined, nowMs: number): number | undefined {
  const text = value?.trim() ?? '';
  if (SECONDS.test(text)) return Number(text) * 1000;
  // Dates have a month in letters; a negative number is none.
  const atMs = /[a-z]{3}/i.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}
