/** A simple, slow report to compare with: counts events in maps by day, sorts and cuts these to 500 terms, and adds them up. */
const DAY_TERMS = 500;
const TOP_TERMS = 20;

const bytewise = (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b));
const byCount = ([a, countA], [b, countB]) => countB - countA || bytewise(a, b);
const add = (counts, term, count = 1) => counts.set(term, (counts.get(term) ?? 0) + count);
const ratio = (part, whole) => (whole === 0 ? 0 : part / whole);

/** Counts the events of one day. */
export class NaiveDay {
  sums = { searches: 0, zero: 0, clicks: 0, reranked: 0, top: 0, moved: 0, shown: 0, lift: 0, sample: 0 };
  terms = new Map();
  zeroTerms = new Map();

  onEvent({ kind, search, resultName }) {
    const { sums } = this;
    const { shown } = search;
    if (kind === 'click') {
      sums.clicks += 1;
      const place = shown?.findIndex(({ name }) => name === resultName) ?? -1;
      if (place < 0) return;
      sums.lift += shown[place].placeBefore - place;
      sums.sample += 1;
      return;
    }
    sums.searches += 1;
    add(this.terms, search.term);
    if (!search.hasResults) {
      sums.zero += 1;
      add(this.zeroTerms, search.term);
    }
    if (shown === undefined) return;
    sums.reranked += 1;
    if (shown[0].placeBefore !== 0) sums.top += 1;
    for (const [place, { placeBefore }] of shown.entries()) sums.moved += placeBefore - place;
    sums.shown += shown.length;
  }

  /** Cuts the counts to what a day keeps. */
  close() {
    for (const name of ['terms', 'zeroTerms']) this[name] = [...this[name]].sort(byCount).slice(0, DAY_TERMS);
    return this;
  }
}

/** Returns the members of the report of closed days, with `daily` as [searches, searches without hits, clicks]. */
export function naiveReport(days) {
  const total = (name) => days.reduce((sum, day) => sum + day.sums[name], 0);
  const top = (name) => {
    const counts = new Map();
    for (const day of days) for (const [term, count] of day[name]) add(counts, term, count);
    return [...counts]
      .sort(byCount)
      .slice(0, TOP_TERMS)
      .map(([term, count]) => ({ term, count }));
  };
  return {
    total_searches: total('searches'),
    zero_result_searches: total('zero'),
    total_clicks: total('clicks'),
    click_through_rate: ratio(total('clicks'), total('searches')),
    top_searches: top('terms'),
    top_zero_result_searches: top('zeroTerms'),
    daily: days.map(({ sums }) => [sums.searches, sums.zero, sums.clicks]),
    reranked_searches: total('reranked'),
    reranker_top_changed_rate: ratio(total('top'), total('reranked')),
    reranker_mean_displacement: ratio(total('moved'), total('shown')),
    reranker_click_lift: ratio(total('lift'), total('sample')),
    reranker_lift_sample_size: total('sample'),
  };
}
