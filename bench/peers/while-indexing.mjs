/**
 * Queries of one thread while a second thread of the same process indexes the same corpus into another index, as fast as it can.
 * Each engine has a turn of some time to itself, in which only it indexes, and several of them: a part of the work (flushing,
 * merging, collecting garbage) comes seldom, and has to have its share in what is measured.
 */
import { deepEqual } from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';

/** What is measured so. */
export const COMMANDS_BY_KIND = new Map([
  ['union', ['TOP_10', 'TOP_100_COUNT']],
  ['intersection', ['TOP_10']],
]);

const TURNS = 3;
/** Before the first query of a turn, so that a first batch is under way. */
const LEAD_MS = 200;

/**
 * By engine: `times`, the rounds' nanoseconds of each query, and `rates`, the records that were indexed a second in each turn.
 * Throws where a query's result is another one than without indexing.
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
