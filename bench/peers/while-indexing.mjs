/**
 * Measures queries in one thread while a second thread of the same process indexes the same corpus into another index at full speed.
 * Engines take several turns in which only one indexes. The turns last some time, as some of the work (flushes,
 * merges, garbage collection) is rare and must be included in its proportion.
 */
import { deepEqual } from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';

/** Commands that are measured, by kind of query. */
export const COMMANDS_BY_KIND = new Map([
  ['union', ['TOP_10', 'TOP_100_COUNT']],
  ['intersection', ['TOP_10']],
]);

const TURNS = 3;
/** Time before the first query of a turn, so that a first batch is in progress. */
const LEAD_MS = 200;

/**
 * Returns by engine `times`, the nanoseconds of each query by round, and `rates`, the records indexed per second in each turn.
 * Throws if a query has another result than without indexing.
 */
export async function measureWhileIndexing(engines, command, range, turnMs) {
  const measured = engines.map(() => ({ times: [], rates: [] }));
  for (let turn = 0; turn < TURNS; turn += 1) {
    for (const [index, engine] of engines.entries()) {
      const { times, rates } = measured[index];
      const expected = await engine.show(command, 'all', range);
      await engine.startIndexing();
      await wait(LEAD_MS);
      deepEqual(
        await engine.show(command, 'all', range),
        expected,
        `${engine.name} finds something else while it indexes`,
      );
      for (const endMs = performance.now() + turnMs; performance.now() < endMs;) {
        times.push(await engine.time(command, 'all', range));
      }
      rates.push(await engine.stopIndexing());
    }
  }
  return measured;
}
