/**
 * Converts times of records to text. Caches results, because many records have the same time, and a page of hits has
 * those of several commits.
 */

/** Range of times (0000-01-01 to 9999-12-31) whose text has TIME_CHARACTERS. */
const TIME_MS_MIN = -62_167_219_200_000;
const TIME_MS_MAX = 253_402_300_799_999;
export const TIME_CHARACTERS = '2026-11-21T05:54:00.000Z'.length;
/**
 * Number of cached texts, each at the index of its time modulo this: creating one takes longer than the rest of a hit.
 */
const KEPT_TIMES = 256;

const keptMs = new Float64Array(KEPT_TIMES).fill(Number.NaN);
const keptIso: string[] = new Array<string>(KEPT_TIMES).fill('');

/**
 * Returns ISO 8601 with milliseconds. Years outside 0000..9999 have a longer form, but never occur as times of a
 * record.
 */
export function isoTime(milliseconds: number): string {
  // A time before 1970 has a negative remainder, and a fraction a fractional one. Neither is an index, so these are not
  // cached.
  const place = milliseconds % KEPT_TIMES;
  if (keptMs[place] === milliseconds) return keptIso[place] as string;
  const iso = new Date(milliseconds).toISOString();
  if (Number.isInteger(place) && place >= 0) {
    keptMs[place] = milliseconds;
    keptIso[place] = iso;
  }
  return iso;
}

/** True for whole milliseconds whose text has TIME_CHARACTERS. */
export function isTime(milliseconds: number): boolean {
  return Number.isInteger(milliseconds) && milliseconds >= TIME_MS_MIN && milliseconds <= TIME_MS_MAX;
}
