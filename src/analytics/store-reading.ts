/** Derives from the roll-ups of one target: days from hours, and reports. */
import type { AnalyticsStore } from './analytics-store.js';
import { countBlocks, joinEarlierSearches } from './block-counting.js';
import { HOURS_PER_DAY, type DayRange } from './report-range.js';
import { ReportBuilder, type ReportFigures } from './report.js';
import { RollUp } from './roll-up.js';

/** Makes days of the hours before `today`. Hours of late events are added to a day that was closed before. */
export async function closeDays(store: AnalyticsStore, number: number, today: number): Promise<void> {
  const hours = store.hoursBefore(number, today * HOURS_PER_DAY);
  for (const day of new Set(hours.map((hour) => Math.floor(hour / HOURS_PER_DAY)))) {
    const rollUp = new RollUp();
    for (const [, stored] of store.dayRollUps(number, day, day)) rollUp.addStored(stored);
    const [first, last] = [day * HOURS_PER_DAY, (day + 1) * HOURS_PER_DAY - 1];
    for (const [, stored] of store.hourRollUps(number, first, last)) rollUp.addStored(stored);
    const ofDay = hours.filter((hour) => hour >= first && hour <= last);
    await store.closeDay(number, day, rollUp.encodeDay(), ofDay);
  }
}

export interface ReportReading {
  readonly number: number;
  readonly isList: boolean;
  readonly range: DayRange;
  readonly termsMax: number;
  /** Time for reading events that are not rolled up yet. */
  readonly rawReadMsMax: number;
}

/** Returns a report of one state of the store: it does not yield while reading, so LMDB shows it one snapshot. */
export function readReport(
  store: AnalyticsStore,
  { number, isList, range, termsMax, rawReadMsMax }: ReportReading,
): ReportFigures {
  const { fromDay, toDay } = range;
  const builder = new ReportBuilder(range);
  for (const [day, stored] of store.dayRollUps(number, fromDay, toDay)) builder.addDayRollUp(day, stored);
  const [firstHour, lastHour] = [fromDay * HOURS_PER_DAY, (toDay + 1) * HOURS_PER_DAY - 1];
  for (const [hour, stored] of store.hourRollUps(number, firstHour, lastHour))
    builder.addHourRollUp(dayOfHour(hour), stored);
  const endMs = performance.now() + rawReadMsMax;
  const isOver = () => performance.now() >= endMs;
  const { counter, isCut } = countBlocks(store.blocksToRollUp(number), isList, isOver);
  joinEarlierSearches(store, number, counter);
  for (const [hour, rollUp] of counter.hours) builder.addCounted(dayOfHour(hour), rollUp);
  return builder.finish(isCut, termsMax);
}

function dayOfHour(hour: number): number {
  return Math.floor(hour / HOURS_PER_DAY);
}
