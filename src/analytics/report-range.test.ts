import { expect, it } from 'vitest';
import { dateOf, dayOf, reportRange } from './report-range.js';

const NOW_MS = Date.parse('2026-11-21T23:59:59.999Z');

it.each<[string, { from?: string; to?: string }, string, string]>([
  ['nothing given: 30 days that end today', {}, '2026-10-23', '2026-11-21'],
  ['to in the future is today', { to: '2027-01-01' }, '2026-10-23', '2026-11-21'],
  ['from defaults to 29 days before to', { to: '2026-03-01' }, '2026-01-31', '2026-03-01'],
  ['a from after to becomes to', { from: '2026-05-02', to: '2026-05-01' }, '2026-05-01', '2026-05-01'],
  ['a from after today becomes today', { from: '2027-05-02' }, '2026-11-21', '2026-11-21'],
  ['one day', { from: '2026-05-01', to: '2026-05-01' }, '2026-05-01', '2026-05-01'],
  ['366 days are kept', { from: '2025-11-21', to: '2026-11-21' }, '2025-11-21', '2026-11-21'],
  ['an earlier from is raised', { from: '2025-11-20', to: '2026-11-21' }, '2025-11-21', '2026-11-21'],
  ['no day before the year 0', { to: '0000-01-05' }, '0000-01-01', '0000-01-05'],
  ['a leap year has 366 days', { from: '2024-01-01', to: '2024-12-31' }, '2024-01-01', '2024-12-31'],
])('reportRange: %s', (_name, given, from, to) => {
  const { fromDay, toDay } = reportRange(given, NOW_MS);
  expect([dateOf(fromDay), dateOf(toDay)]).toEqual([from, to]);
  expect(dayOf(from)).toBe(fromDay);
});
