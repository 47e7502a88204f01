/** Adds up roll-ups to a report. Belongs to one thread; uses no clock and no storage. */
import { dateOf, REPORT_TERMS_MAX, type DayRange } from './report-range.js';
import { addSums, noSums, type RollUp, type StoredRollUp, type Sums } from './roll-up.js';
import { TopTerms } from './top-terms.js';

export interface TermCountResource {
  readonly term: string;
  readonly count: number;
}

export interface DayResource {
  readonly date: string;
  readonly searches: number;
  readonly zero_result_searches: number;
  readonly clicks: number;
}

/** The report of the API, without the members that say what it is about. */
export interface ReportFigures {
  readonly from: string;
  readonly to: string;
  readonly total_searches: number;
  readonly zero_result_searches: number;
  readonly total_clicks: number;
  readonly click_through_rate: number;
  readonly top_searches: readonly TermCountResource[];
  readonly top_zero_result_searches: readonly TermCountResource[];
  readonly daily: readonly DayResource[];
  readonly reranked_searches: number;
  readonly reranker_top_changed_rate: number;
  readonly reranker_mean_displacement: number;
  readonly reranker_click_lift: number;
  readonly reranker_lift_sample_size: number;
  readonly catching_up: boolean;
}

export class ReportBuilder {
  private readonly days: Sums[];
  private readonly terms = new TopTerms();
  private readonly zeroResultTerms = new TopTerms();

  constructor(private readonly range: DayRange) {
    this.days = Array.from({ length: range.toDay - range.fromDay + 1 }, noSums);
  }

  /** Adds a day; ignored outside of the range. */
  addDayRollUp(day: number, stored: StoredRollUp): void {
    if (!this.addDay(day, stored.sums)) return;
    this.terms.addSorted(stored.list('terms'));
    this.zeroResultTerms.addSorted(stored.list('zeroResultTerms'));
  }

  /** Adds an hour; ignored outside of the range. */
  addHourRollUp(day: number, stored: StoredRollUp): void {
    if (!this.addDay(day, stored.sums)) return;
    this.terms.table.addList(stored.list('terms'));
    this.zeroResultTerms.table.addList(stored.list('zeroResultTerms'));
  }

  /** Adds what was just counted from raw events; ignored outside of the range. */
  addCounted(day: number, { sums, tables }: RollUp): void {
    if (!this.addDay(day, sums)) return;
    tables.terms.addTo(this.terms.table);
    tables.zeroResultTerms.addTo(this.zeroResultTerms.table);
  }

  finish(catchingUp: boolean, termsMax = REPORT_TERMS_MAX): ReportFigures {
    const { fromDay, toDay } = this.range;
    const total = noSums();
    for (const sums of this.days) addSums(total, sums);
    return {
      from: dateOf(fromDay),
      to: dateOf(toDay),
      total_searches: total.searches,
      zero_result_searches: total.zeroResultSearches,
      total_clicks: total.clicks,
      click_through_rate: ratio(total.clicks, total.searches),
      top_searches: this.terms.top(termsMax),
      top_zero_result_searches: this.zeroResultTerms.top(termsMax),
      daily: this.days.map((sums, index) => ({
        date: dateOf(fromDay + index),
        searches: sums.searches,
        zero_result_searches: sums.zeroResultSearches,
        clicks: sums.clicks,
      })),
      reranked_searches: total.rerankedSearches,
      reranker_top_changed_rate: ratio(total.topChanged, total.rerankedSearches),
      reranker_mean_displacement: ratio(total.placesMovedUp, total.resultsShown),
      reranker_click_lift: ratio(total.clickedPlacesMovedUp, total.clickedResults),
      reranker_lift_sample_size: total.clickedResults,
      catching_up: catchingUp,
    };
  }

  private addDay(day: number, sums: Sums): boolean {
    const to = this.days[day - this.range.fromDay];
    if (to !== undefined) addSums(to, sums);
    return to !== undefined;
  }
}

function ratio(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}
