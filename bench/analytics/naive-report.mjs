/** The report as anybody would count it: a map a day, sorted and cut to 500 terms, added up. To compare with; slow. */
const DAY_TERMS = 500;
const TOP_TERMS = 20;

const bytewise = (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b));
const byCount = ([a, countA], [b, countB]) => countB - countA || bytewise(a, b);
const add = (counts, term, count = 1) => counts.set(term, (counts.get(term) ?? 0) + count);

export function naiveReport(fromDay, toDay) {
  const days = Array.from({ length: toDay - fromDay + 1 }, () => ({ searches: 0, zero: 0, clicks: 0 }));
  const [terms, zeroTerms] = [new Map(), new Map()];
  let [today, todayTerms, todayZero] = [fromDay, new Map(), new Map()];
  const reranking = { searches: 0, top: 0, moved: 0, shown: 0, lift: 0, sample: 0 };
  function closeDay() {
    for (const [from, to] of [
      [todayTerms, terms],
      [todayZero, zeroTerms],
    ]) {
      for (const [term, count] of [...from].sort(byCount).slice(0, DAY_TERMS)) add(to, term, count);
    }
    [todayTerms, todayZero] = [new Map(), new Map()];
  }
  const top = (counts) =>
    [...counts]
      .sort(byCount)
      .slice(0, TOP_TERMS)
      .map(([term, count]) => ({ term, count }));
  return {
    /** Events come in the order of days. */
    onEvent({ kind, hour, search, resultName }) {
      const day = Math.floor(hour / 24);
      if (day !== today) closeDay();
      today = day;
      const sums = days[day - fromDay];
      if (kind === 'click') {
        sums.clicks += 1;
        const place = search.shown?.findIndex(({ name }) => name === resultName) ?? -1;
        if (place < 0) return;
        reranking.lift += search.shown[place].placeBefore - place;
        reranking.sample += 1;
        return;
      }
      sums.searches += 1;
      add(todayTerms, search.term);
      if (!search.hasResults) {
        sums.zero += 1;
        add(todayZero, search.term);
      }
      if (search.shown === undefined) return;
      reranking.searches += 1;
      if (search.shown[0].placeBefore !== 0) reranking.top += 1;
      for (const [place, { placeBefore }] of search.shown.entries()) reranking.moved += placeBefore - place;
      reranking.shown += search.shown.length;
    },
    finish() {
      closeDay();
      const total = (name) => days.reduce((sum, day) => sum + day[name], 0);
      const [searches, clicks] = [total('searches'), total('clicks')];
      const ratio = (part, whole) => (whole === 0 ? 0 : part / whole);
      return {
        total_searches: searches,
        zero_result_searches: total('zero'),
        total_clicks: clicks,
        click_through_rate: ratio(clicks, searches),
        top_searches: top(terms),
        top_zero_result_searches: top(zeroTerms),
        daily: days.map((day) => [day.searches, day.zero, day.clicks]),
        reranked_searches: reranking.searches,
        reranker_top_changed_rate: ratio(reranking.top, reranking.searches),
        reranker_mean_displacement: ratio(reranking.moved, reranking.shown),
        reranker_click_lift: ratio(reranking.lift, reranking.sample),
        reranker_lift_sample_size: reranking.sample,
      };
    },
  };
}
