/** The days and the number of terms of a report. Pure. Dates are UTC, in the form `yyyy-MM-dd`. */

export const DAY_MS = 86_400_000;
export const HOURS_PER_DAY = 24;
export const RANGE_DAYS_MAX = 366;
const RANGE_DAYS_DEFAULT = 30;
/** The earliest day with a year of four digits. */
const FIRST_DATE = '0000-01-01';
/** Number of most frequent terms in a report of the API. */
export const REPORT_TERMS_MAX = 20;

/** Days since the Unix epoch, both inclusive. */
export interface DayRange {
  readonly fromDay: number;
  readonly toDay: number;
}

/**
 * Returns the range of a report. `to` defaults to today and is capped at today; `from` defaults to 29 days before `to`;
 * a `from` after `to` becomes `to`; a `from` earlier than 366 days allow is raised.
 */
export function reportRange(given: { readonly from?: string; readonly to?: string }, nowMs: number): DayRange {
  const today = Math.floor(nowMs / DAY_MS);
  const toDay = Math.min(today, given.to === undefined ? today : dayOf(given.to));
  const wanted = given.from === undefined ? toDay - (RANGE_DAYS_DEFAULT - 1) : dayOf(given.from);
  const fromDay = Math.min(toDay, Math.max(wanted, toDay - (RANGE_DAYS_MAX - 1), dayOf(FIRST_DATE)));
  return { fromDay, toDay };
}

/** Returns the number of a valid date since the Unix epoch. */
export function dayOf(date: string): number {
  return Math.floor(Date.parse(`${date}T00:00:00Z`) / DAY_MS);
}

export function dateOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}
