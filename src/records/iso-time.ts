/** Times of records as text. Many records have one time in common, and a page of hits has those of several commits. */

/** Times 0000-01-01 to 9999-12-31, which as text have TIME_CHARACTERS. */
const TIME_MS_MIN = -62_167_219_200_000;
const TIME_MS_MAX = 253_402_300_799_999;
export const TIME_CHARACTERS = '2026-11-21T05:54:00.000Z'.length;
/** Texts that are kept, each in the place that its time leads to: making one takes longer than the rest of a hit. */
const KEPT_TIMES = 256;

const keptMs = new Float64Array(KEPT_TIMES).fill(Number.NaN);
const keptIso: string[] = new Array<string>(KEPT_TIMES).fill('');

/** ISO 8601 with milliseconds; years outside 0000..9999, whose form is longer, never occur as times of a record. */
export function isoTime(milliseconds: number): string {
  // The remainder of a time before 1970 is negative, and of a fraction one: neither is a place, and both are made anew.
  const place = milliseconds % KEPT_TIMES;
  if (keptMs[place] === milliseconds) return keptIso[place] as string;
  const iso = new Date(milliseconds).toISOString();
  if (Number.isInteger(place) && place >= 0) {
    keptMs[place] = milliseconds;
    keptIso[place] = iso;
  }
  return iso;
}

/** True of whole milliseconds whose text has TIME_CHARACTERS. */
export function isTime(milliseconds: number): boolean {
  return Number.isInteger(milliseconds) && milliseconds >= TIME_MS_MIN && milliseconds <= TIME_MS_MAX;
}
