/** Counts the searches and clicks of a sequence and compares them with the reports of lists and groups. */
import type { Answer, ServiceClient } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { holdsTrue, same } from './difference.js';

const TERMS_MAX = 20;
const TERM_CHARACTERS_MAX = 100;

interface Counted {
  searches: number;
  clicks: number;
  readonly terms: Map<string, number>;
  readonly withoutResults: Map<string, number>;
  /** Number of searches without results, including those without a text. */
  zero: number;
}
interface Report {
  readonly total_searches: number;
  readonly zero_result_searches: number;
  readonly total_clicks: number;
  readonly click_through_rate: number;
  readonly top_searches: readonly { readonly term: string; readonly count: number }[];
  readonly top_zero_result_searches: readonly { readonly term: string; readonly count: number }[];
  readonly daily: readonly { readonly searches: number; readonly clicks: number }[];
  readonly catching_up: boolean;
}

export class CountedSearches {
  /** Counts by `list/NAME` or `group/NAME`. */
  readonly #counted = new Map<string, Counted>();
  #isLossy = false;

  /** Called when the service restarts, which may lose events. */
  restarted(): void {
    this.#isLossy = true;
  }

  /** Forgets a deleted target: its events are deleted with it, and a new target of the name starts at zero. */
  gone(target: string): void {
    this.#counted.delete(target);
  }

  searched(
    target: string,
    { skip, query = '' }: { readonly skip?: number; readonly query?: string },
    answer: Answer,
  ): void {
    if (answer.status !== 200 || (skip ?? 0) > 0) return;
    const counted = this.#of(target);
    counted.searches += 1;
    const isZero = (answer.body as { total_count: number }).total_count === 0;
    if (isZero) counted.zero += 1;
    if (query === '') return;
    const term = query.toLowerCase().slice(0, TERM_CHARACTERS_MAX);
    for (const terms of isZero ? [counted.terms, counted.withoutResults] : [counted.terms])
      terms.set(term, (terms.get(term) ?? 0) + 1);
  }

  async click(client: ServiceClient, target: string, answer: Answer): Promise<void> {
    const { query_id, results } = answer.body as { query_id: string; results: { name: string; list_name?: string }[] };
    const [first] = results;
    if (first === undefined) return;
    const [scope = '', name = ''] = target.split('/');
    const body = {
      query_id,
      result_id: first.name,
      ...(first.list_name !== undefined && { list_name: first.list_name }),
    };
    const { status, text } = await client.post(`/search/analytics/click/${scope}/default/${name}`, body);
    same('status of a click', [status, text], [204, '']);
    // A click on a record whose name is blank is not counted.
    if (first.name.trim() !== '') this.#of(target).clicks += 1;
  }

  async check(client: ServiceClient, targets: readonly string[]): Promise<void> {
    for (const target of targets) {
      const [scope = '', name = ''] = target.split('/');
      const report = await eventually(
        async () => (await client.get(`/analytics/${scope}/default/${name}`)).body as Report,
        ({ catching_up: isBehind }) => !isBehind,
      );
      this.#compare(this.#of(target), report);
    }
  }

  #compare(counted: Counted, report: Report): void {
    const { total_searches: searches, zero_result_searches: zero, total_clicks: clicks } = report;
    if (this.#isLossy) {
      const isLess = searches <= counted.searches && zero <= counted.zero && clicks <= counted.clicks;
      return holdsTrue('counts behind a restart', isLess, () => [report, counted]);
    }
    same(
      'searches, those without results, clicks',
      [searches, zero, clicks],
      [counted.searches, counted.zero, counted.clicks],
    );
    same('click_through_rate', report.click_through_rate, searches === 0 ? 0 : clicks / searches);
    const sums = (of: 'searches' | 'clicks') => report.daily.reduce((sum, day) => sum + day[of], 0);
    same('sums of the days', [sums('searches'), sums('clicks')], [searches, clicks]);
    compareTerms('top_searches', report.top_searches, counted.terms);
    compareTerms('top_zero_result_searches', report.top_zero_result_searches, counted.withoutResults);
  }

  #of(target: string): Counted {
    const made = { searches: 0, clicks: 0, zero: 0, terms: new Map(), withoutResults: new Map() };
    const counted = this.#counted.get(target) ?? made;
    this.#counted.set(target, counted);
    return counted;
  }
}

function compareTerms(what: string, top: Report['top_searches'], terms: ReadonlyMap<string, number>): void {
  const most = [...terms.values()].sort((left, right) => right - left).slice(0, TERMS_MAX);
  same(
    `counts of ${what}`,
    top.map(({ count }) => count),
    most,
  );
  for (const { term, count } of top) same(`count of a term of ${what}`, [term, count], [term, terms.get(term)]);
}
