/** Bar chart of two series by day, with uPlot. Loaded on demand, not with the first page. */
import uPlot from 'uplot';
import { count } from './format.js';
import 'uplot/dist/uPlot.min.css';

export interface DailyCount {
  /** Day in UTC: `2026-07-01`. */
  readonly date: string;
  readonly all: number;
  /** Part of `all`, drawn over it. */
  readonly some: number;
}

interface DailyPlotOptions {
  readonly parent: HTMLElement;
  readonly days: readonly DailyCount[];
  readonly height: number;
  /** Names in the legend. */
  readonly names: readonly [day: string, all: string, some: string];
}

const DAY_SECONDS = 86_400;
const BAR_SHARE = 0.8;
const BAR_PIXELS_MAX = 60;
const AXIS_PIXELS = 56;
const DATE_PIXELS = 70;
/** Axis steps of days and weeks, and from 30 days on, which the library treats as months. */
const DATE_STEPS = [1, 2, 3, 7, 14, 30, 60, 90, 180, 365].map((days) => days * DAY_SECONDS);
/** Integers only, since counts are whole. */
const WHOLE = Array.from({ length: 12 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat();
/** For longer periods, labels show month and year. */
const DAYS_MAX = 100;
const ofDays = new Intl.DateTimeFormat('en', { timeZone: 'UTC', day: 'numeric', month: 'short' });
const ofMonths = new Intl.DateTimeFormat('en', { timeZone: 'UTC', month: 'short', year: 'numeric' });

/** Draws the chart with the colours of the parent's current style. */
export function openDailyPlot({ parent, days, height, names: [day, all, some] }: DailyPlotOptions): uPlot {
  const style = getComputedStyle(parent);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const paths = uPlot.paths.bars?.({ size: [BAR_SHARE, BAR_PIXELS_MAX] });
  const axis: uPlot.Axis = {
    stroke: colour('--chart-words'),
    grid: { stroke: colour('--chart-lines'), width: 1 },
    ticks: { show: false },
  };
  // The legend shows the last day, unless the pointer is at another one.
  const told = (plot: uPlot, value: number | null, series: number): number => value ?? plot.data[series]?.at(-1) ?? 0;
  const bars = (label: string, name: string): uPlot.Series => ({
    label,
    value: (plot, value, series) => count(told(plot, value, series)),
    fill: colour(name),
    stroke: colour(name),
    width: 0,
    points: { show: false },
    ...(paths === undefined ? {} : { paths }),
  });
  const times = days.map(({ date }) => Date.parse(date) / 1000);
  const [first = 0, last = 0] = [times[0], times.at(-1)];
  return new uPlot(
    {
      width: parent.clientWidth,
      height,
      // Days are UTC days in every time zone.
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
      cursor: { y: false, drag: { x: false, y: false } },
      scales: {
        x: { range: [first - DAY_SECONDS / 2, last + DAY_SECONDS / 2] },
        y: { range: (_plot, _least, most) => [0, Math.max(1, most) * 1.05] },
      },
      series: [
        { label: day, value: (plot, value) => new Date(told(plot, value, 0) * 1000).toISOString().slice(0, 10) },
        bars(all, '--chart-all'),
        bars(some, '--chart-some'),
      ],
      axes: [
        { ...axis, space: DATE_PIXELS, incrs: DATE_STEPS, values: datesOver(last - first) },
        { ...axis, size: AXIS_PIXELS, incrs: WHOLE },
      ],
    },
    [times, days.map((each) => each.all), days.map((each) => each.some)],
    parent,
  );
}

function datesOver(seconds: number): uPlot.Axis.DynamicValues {
  const format = seconds > DAYS_MAX * DAY_SECONDS ? ofMonths : ofDays;
  return (_plot, splits) => splits.map((split) => format.format(new Date(split * 1000)));
}
