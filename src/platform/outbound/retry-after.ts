/** Seconds form of `Retry-After` (RFC 9110, 10.2.3). */
const SECONDS = /^\d{1,10}$/;

/** Returns milliseconds from now; undefined if the header is missing or invalid. A past time gives 0. */
export function retryAfterMs(value: string | undefined, nowMs: number): number | undefined {
  const text = value?.trim() ?? '';
  if (SECONDS.test(text)) return Number(text) * 1000;
  // Dates contain a month in letters; requiring it excludes negative numbers.
  const atMs = /[a-z]{3}/i.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}
