/** Formats an analytics report for a terminal. */
import type { AnalyticsReport } from './answers.js';
import { bar, sparkline } from './charts.js';
import { displayWidth, formatCount, printable, shorten, styled, type Output } from './output.js';

const MARGIN = '  ';
const LABEL_WIDTH = 10;
const TERM_WIDTH_MAX = 40;
const BAR_WIDTH_MAX = 30;
/** Columns for a count and the space around it. */
const COUNT_WIDTH = 12;

export function analyticsView(output: Output, report: AnalyticsReport): string {
  const { daily } = report;
  const title = `${report.scope} ${report.target}`;
  const lines = [
    `${MARGIN}${styled(output, 'bold', title)}  ${styled(output, 'dim', `${report.from} to ${report.to}`)}`,
    '',
    ...figures(report).map(
      ([label, value]) => `${MARGIN}${value.padStart(LABEL_WIDTH)}  ${styled(output, 'dim', label)}`,
    ),
    '',
    ...days(
      output,
      'searches',
      daily.map(({ searches }) => searches),
    ),
    ...days(
      output,
      'no result',
      daily.map((day) => day.zero_result_searches),
    ),
    ...days(
      output,
      'clicks',
      daily.map(({ clicks }) => clicks),
    ),
    ...terms(output, 'Top searches', report.top_searches),
    ...terms(output, 'Top searches without results', report.top_zero_result_searches),
  ];
  if (report.catching_up) {
    lines.push(
      '',
      `${MARGIN}${styled(output, 'yellow', 'Older searches are still being counted. Try again in a moment.')}`,
    );
  }
  return `${lines.join('\n')}\n`;
}

function figures(report: AnalyticsReport): [label: string, value: string][] {
  const rows: [string, string][] = [
    ['searches', formatCount(report.total_searches)],
    [
      `without results${share(report.zero_result_searches, report.total_searches)}`,
      formatCount(report.zero_result_searches),
    ],
    ['clicks', formatCount(report.total_clicks)],
    ['clicks per search', report.click_through_rate.toFixed(2)],
  ];
  if (report.reranked_searches === 0) return rows;
  return [
    ...rows,
    ['reranked searches', formatCount(report.reranked_searches)],
    ['first result changed by the reranker', percent(report.reranker_top_changed_rate)],
    ['places that results moved up on average', signed(report.reranker_mean_displacement)],
    [
      `places that clicked results moved up on average (${formatCount(report.reranker_lift_sample_size)} clicks)`,
      signed(report.reranker_click_lift),
    ],
  ];
}

function days(output: Output, label: string, values: readonly number[]): string[] {
  const highest = Math.max(0, ...values);
  if (highest === 0) return [];
  const width = Math.max(10, output.columns - LABEL_WIDTH - COUNT_WIDTH - 2 * MARGIN.length - 8);
  const chart = styled(output, 'green', sparkline(values, width));
  const most = styled(output, 'dim', `at most ${formatCount(highest)} a day`);
  return [`${MARGIN}${label.padEnd(LABEL_WIDTH)}${chart}  ${most}`];
}

function terms(output: Output, title: string, counted: AnalyticsReport['top_searches']): string[] {
  if (counted.length === 0) return [];
  const shown = counted.map(({ term, count }) => ({ term: shorten(printable(term), TERM_WIDTH_MAX), count }));
  const highest = Math.max(...shown.map(({ count }) => count));
  const termWidth = Math.max(...shown.map(({ term }) => displayWidth(term)));
  const room = output.columns - termWidth - COUNT_WIDTH - 2 * MARGIN.length;
  const barWidth = Math.min(BAR_WIDTH_MAX, Math.max(1, room));
  return [
    '',
    `${MARGIN}${styled(output, 'bold', title)}`,
    ...shown.map(({ term, count }) => {
      const name = term + ' '.repeat(termWidth - displayWidth(term));
      return `${MARGIN}${name}  ${formatCount(count).padStart(LABEL_WIDTH)}  ${styled(output, 'green', bar(count, highest, barWidth))}`;
    }),
  ];
}

function share(part: number, whole: number): string {
  return whole === 0 ? '' : ` (${percent(part / whole)})`;
}

function percent(fraction: number): string {
  return `${(fraction * 100).toFixed(1)} %`;
}

function signed(value: number): string {
  return `${value > 0 ? '+' : ''}${value.toFixed(2)}`;
}
