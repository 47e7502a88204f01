import { describe, expect, it } from 'vitest';
import { analyticsView } from './analytics-view.js';
import type { AnalyticsReport } from './answers.js';
import { bar, sparkline } from './charts.js';
import type { Output } from './output.js';

const paper: Output = {
  isTerminal: false,
  columns: 80,
  write: () => undefined,
  settle: () => Promise.resolve(),
  note: () => undefined,
};
const REPORT: AnalyticsReport = {
  scope: 'list',
  target: 'films',
  from: '2026-11-19',
  to: '2026-11-21',
  total_searches: 1500,
  zero_result_searches: 30,
  total_clicks: 750,
  click_through_rate: 0.5,
  top_searches: [
    { term: 'dive', count: 1000 },
    { term: 'red\u001b[2J sea', count: 500 },
  ],
  top_zero_result_searches: [],
  daily: [
    { date: '2026-11-19', searches: 0, zero_result_searches: 0, clicks: 0 },
    { date: '2026-11-20', searches: 1000, zero_result_searches: 30, clicks: 1 },
    { date: '2026-11-21', searches: 500, zero_result_searches: 0, clicks: 749 },
  ],
  reranked_searches: 0,
  reranker_top_changed_rate: 0,
  reranker_mean_displacement: 0,
  reranker_click_lift: 0,
  reranker_lift_sample_size: 0,
  catching_up: false,
};

describe('analyticsView', () => {
  it('shows figures, a chart for each series, and terms with bars', () => {
    expect(analyticsView(paper, REPORT)).toBe(
      [
        '  list films  2026-11-19 to 2026-11-21',
        '',
        '       1,500  searches',
        '          30  without results (2.0 %)',
        '         750  clicks',
        '        0.50  clicks per search',
        '',
        '  searches  ▁█▅  at most 1,000 a day',
        '  no result ▁█▁  at most 30 a day',
        '  clicks    ▁▂█  at most 749 a day',
        '',
        '  Top searches',
        `  dive              1,000  ${'█'.repeat(30)}`,
        `  red [2J sea         500  ${'█'.repeat(15)}`,
        '',
      ].join('\n'),
    );
  });

  it('shows no charts for an empty report, and the figures of a reranker', () => {
    const empty = { ...REPORT, total_searches: 0, zero_result_searches: 0, top_searches: [], daily: [] };
    expect(analyticsView(paper, empty)).not.toMatch(/[▁█]/);
    const reranked = analyticsView(paper, {
      ...REPORT,
      reranked_searches: 10,
      reranker_top_changed_rate: 0.25,
      reranker_click_lift: 1.5,
      reranker_lift_sample_size: 4,
      catching_up: true,
    });
    expect(reranked).toContain('25.0 %');
    expect(reranked).toContain('+1.50  places that clicked results moved up on average (4 clicks)');
    expect(reranked).toContain('Try again in a moment');
  });
});

it('sparkline adds up neighbouring values if there is too little room', () => {
  expect(sparkline([1, 1, 1, 1, 0, 0], 3)).toBe('██▁');
  expect(sparkline(Array<number>(366).fill(1), 50).length).toBeLessThanOrEqual(50);
  expect(sparkline([0, 0], 10)).toBe('▁▁');
  expect(sparkline([1000, 1], 10)).toBe('█▂');
});

it('bar is as long as its share, and never empty for a positive value', () => {
  expect(bar(8, 8, 4)).toBe('████');
  expect(bar(5, 8, 4)).toBe('██▌');
  expect(bar(1, 1000, 4)).toBe('▏');
  expect(bar(0, 8, 4)).toBe('');
});
