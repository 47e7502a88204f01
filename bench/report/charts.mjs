/** Draws charts as SVG from the tables of the report. */
import * as echarts from 'echarts';
import { numberOf, tableWith } from './tables.mjs';

const WIDTH = 860;
const BACKGROUND = '#ffffff';
const SHARE_HEADING = /ms at (\d+) %$/;

export function drawChart(height, options) {
  const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height });
  chart.setOption({ animation: false, backgroundColor: BACKGROUND, legend: { bottom: 0 }, ...options });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return svg;
}

/** Draws the median time of each kind of query by engine. */
function peersChart(markdown) {
  const table = tableWith(markdown, 'Queries', 'Command');
  if (table === undefined) return undefined;
  const engines = table.heading.filter((name) => name.endsWith(', µs'));
  const rows = table.rows.toReversed();
  return drawChart(120 + rows.length * 26, {
    title: { text: 'Microseconds a query (geometric mean of medians); shorter is better', left: 'center' },
    grid: { left: 260, right: 30, top: 50, bottom: 60 },
    xAxis: { type: 'log' },
    yAxis: { type: 'category', data: rows.map((row) => `${row.Queries}, ${row.Command}`) },
    series: engines.map((engine) => ({
      type: 'bar',
      name: engine.replace(', µs', ''),
      data: rows.map((row) => numberOf(row[engine])),
    })),
  });
}

/** Draws p99 by load and kind of request. */
function loadChart(markdown) {
  const table = tableWith(markdown, 'Requests', 'Capacity /s');
  if (table === undefined) return undefined;
  const shares = table.heading.filter((name) => SHARE_HEADING.test(name));
  return drawChart(480, {
    title: { text: 'p99 in milliseconds by load', left: 'center' },
    grid: { left: 70, right: 30, top: 50, bottom: 110 },
    xAxis: {
      type: 'category',
      name: '% of capacity',
      nameLocation: 'middle',
      nameGap: 30,
      data: shares.map((name) => SHARE_HEADING.exec(name)[1]),
    },
    yAxis: { type: 'log', name: 'ms' },
    series: table.rows.map((row) => ({
      type: 'line',
      name: row.Requests,
      data: shares.map((name) => numberOf(row[name].split(' / ')[1])),
    })),
  });
}

const byRecords = ({ rows }) => ({
  grid: { left: 90, right: 90, top: 60, bottom: 70 },
  xAxis: {
    type: 'category',
    name: 'records',
    nameLocation: 'middle',
    nameGap: 30,
    data: rows.map((row) => row.Records),
  },
});

/** Draws the cost of an import as the list grows. */
function indexingChart(markdown) {
  const table = tableWith(markdown, 'Records', 'Records/s', 'Peak memory of its own MiB');
  if (table === undefined) return undefined;
  return drawChart(360, {
    title: { text: 'Import by size', left: 'center' },
    ...byRecords(table),
    yAxis: [
      { type: 'value', name: 'records/s' },
      { type: 'value', name: 'peak MiB' },
    ],
    series: [
      { type: 'bar', name: 'records/s', data: table.rows.map((row) => numberOf(row['Records/s'])) },
      {
        type: 'line',
        name: 'peak memory of its own, MiB',
        yAxisIndex: 1,
        data: table.rows.map((row) => numberOf(row['Peak memory of its own MiB'])),
      },
    ],
  });
}

/** Draws the cost of a search as the list grows. */
function growthChart(markdown) {
  const table = tableWith(markdown, 'Records', 'µs of processor a search');
  if (table === undefined) return undefined;
  const latencies = table.heading.find((name) => name.startsWith('p50 / p99 ms'));
  const [p50, p99] = [0, 1].map((at) => table.rows.map((row) => numberOf(row[latencies].split(' / ')[at])));
  return drawChart(360, {
    title: { text: 'A search by size of the list', left: 'center' },
    ...byRecords(table),
    yAxis: [
      { type: 'log', name: 'µs of processor' },
      { type: 'log', name: 'ms' },
    ],
    series: [
      {
        type: 'bar',
        name: 'µs of processor',
        data: table.rows.map((row) => numberOf(row['µs of processor a search'])),
      },
      { type: 'line', name: 'p50, ms', yAxisIndex: 1, data: p50 },
      { type: 'line', name: 'p99, ms', yAxisIndex: 1, data: p99 },
    ],
  });
}

/** Returns the charts by file name, for the tables that are in the report. */
export function chartsOf(markdown) {
  const charts = {
    peers: peersChart(markdown),
    load: loadChart(markdown),
    indexing: indexingChart(markdown),
    growth: growthChart(markdown),
  };
  return Object.entries(charts).filter(([, svg]) => svg !== undefined);
}
