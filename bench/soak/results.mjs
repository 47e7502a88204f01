/** Formats the results of a soak as Markdown: resources by third of the run, failures, and work done. */
import { barRow, formatCount, machineTable, markdownTable, quantile } from '../end-to-end/lib/report.mjs';
import { total } from './observation.mjs';

const GROWTH_MAX = 1.1;

const mib = (name) => (sample) => sample.metrics[name] / 2 ** 20;

/** Measures by name. The first four have a bar. */
const TAKEN = {
  'memory of its own, MiB': ({ ownMib }) => ownMib,
  descriptors: (sample) => sample.descriptors,
  maps: (sample) => sample.maps,
  threads: (sample) => sample.threads,
  'heap of the main thread, MiB': mib('nodejs_heap_size_used_bytes'),
  'bytes outside the heap of the main thread, MiB': mib('nodejs_external_memory_bytes'),
  'timers, sockets and the like of the main thread': ({ metrics }) => metrics.nodejs_active_resources_total,
  'processes beside it': ({ processes }) => total(processes),
  'disk, MiB': ({ diskMib }) => diskMib,
  'files in the data directory': ({ files }) => files,
  'p99 of searches, ms': ({ searchP99Ms }) => searchP99Ms,
};
const BOUNDED = 4;

/** Returns `[name, median of the third after the first sixth, median of the last third, ratio]` of each measure. */
function growthOf(samples) {
  const medianOf = (measure, from, to) =>
    quantile(samples.slice(Math.floor(from * samples.length), Math.floor(to * samples.length)).map(measure), 0.5);
  return Object.entries(TAKEN).map(([name, measure]) => {
    const [early, late] = [medianOf(measure, 1 / 6, 1 / 2), medianOf(measure, 2 / 3, 1)];
    return [name, early, late, early === late ? 1 : late / early];
  });
}

const sumOf = (counts) => [...counts.values()].reduce((sum, each) => sum + each, 0);
const listed = (counts) => [...counts].map(([what, times]) => `${times} × ${what}\n`).join('');

/**
 * Returns `{ text, calls, isReached }`. The Maps `faults`, `failed` and `said` count unexpected answers, answers with a failure of the service, and lines of
 * the log. `latencies` are by actor.
 */
export function resultsOf({
  settings,
  samples,
  latencies,
  faults,
  failed,
  said,
  lost,
  problems,
  operations,
  untouched,
}) {
  const growth = growthOf(samples);
  const turns = [...latencies.values()].reduce((sum, each) => sum + each.length, 0);
  const bars = [
    ['unexpected answers', sumOf(faults)],
    ['answers that say the service failed', sumOf(failed)],
    ['writes lost', lost],
    ['problems of the list', problems],
  ];
  const grown = growth.slice(0, BOUNDED).map(([name, , , ratio]) => [name, ratio]);
  const text = [
    machineTable({
      ...settings,
      Actors: `${latencies.size}, which took ${formatCount(turns)} turns and called ${operations - untouched.length} of ${operations} operations`,
    }),
    markdownTable(
      ['Taken', 'Median of the third after the first sixth', 'of the last third', 'Ratio'],
      growth.map(([name, early, late, ratio]) => [name, early.toFixed(1), late.toFixed(1), ratio.toFixed(3)]),
    ),
    markdownTable(
      ['What', 'Measured', 'Bar', ''],
      [
        ...bars.map(([name, measured]) => barRow(name, measured, 0, measured === 0)),
        ...grown.map(([name, ratio]) => barRow(`${name}: ratio`, ratio.toFixed(3), GROWTH_MAX, ratio <= GROWTH_MAX)),
      ],
    ),
    ...(untouched.length === 0 ? [] : [`Operations that no actor calls: ${untouched.join(', ')}.\n`]),
    ...[faults, failed, said].filter(({ size }) => size > 0).map(listed),
  ].join('\n');
  const calls = markdownTable(
    ['Done', 'Times', 'p50, ms', 'p99, ms'],
    [...latencies].map(([name, each]) => {
      const ms = each.map((one) => one.ms);
      return [name, formatCount(ms.length), quantile(ms, 0.5).toFixed(1), quantile(ms, 0.99).toFixed(1)];
    }),
  );
  const isReached = bars.every(([, measured]) => measured === 0) && grown.every(([, ratio]) => ratio <= GROWTH_MAX);
  return { text, calls, isReached };
}
