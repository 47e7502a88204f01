/** Draws the course of a soak as an SVG: each measure relative to its value after the first sixth. */
import { drawChart } from '../report/charts.mjs';

const MEASURES = {
  ownMib: 'memory of its own',
  descriptors: 'descriptors',
  maps: 'maps',
  files: 'files',
  diskMib: 'disk',
  searchP99Ms: 'p99 of searches',
};

export function drawSoak(samples) {
  return drawChart(420, {
    title: { text: 'What a soak takes, by what it took after the first sixth', left: 'center' },
    grid: { left: 70, right: 30, top: 50, bottom: 80 },
    xAxis: { type: 'value', name: 'minutes', nameLocation: 'middle', nameGap: 30 },
    yAxis: { type: 'value', min: 0 },
    series: Object.entries(MEASURES).map(([member, name]) => {
      const reference = samples[Math.floor(samples.length / 6)][member] || 1;
      return {
        type: 'line',
        name,
        showSymbol: false,
        data: samples.map((each) => [each.elapsedS / 60, each[member] / reference]),
      };
    }),
  });
}
