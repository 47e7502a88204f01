/** Sends requests to two lists of one service in turns, and measures processor time and rate of each. */
import { sendAll } from '../../end-to-end/lib/closed-loop.mjs';
import { threadTimesMs } from '../../end-to-end/lib/processor-time.mjs';
import { formatCount, quantile } from '../../end-to-end/lib/report.mjs';
import { ACCOUNT } from '../../end-to-end/lib/service.mjs';

export const CONNECTIONS = 8;

export const searchesOf = (list, queries) =>
  queries.map((query) => `/search/${ACCOUNT}/${list}/1?${new URLSearchParams({ query, cache: 'false' })}`);

/** Runs one turn: requests of one kind to one list. Measures their rate and the service's processor time. */
async function turn({ service, key }, paths) {
  const beginMs = performance.now();
  const before = threadTimesMs(service.pid).all;
  const load = { address: service.address, key, connections: CONNECTIONS, count: paths.length };
  await sendAll({ ...load, requestAt: (at) => ({ path: paths[at] }) });
  return {
    processorUs: ((threadTimesMs(service.pid).all - before) * 1000) / paths.length,
    perSecond: (paths.length * 1000) / (performance.now() - beginMs),
  };
}

/** Returns the medians of the turns for each side: `processorUs` per request and `perSecond`. `asked` has the service and a key; `sides` are paths. */
export async function measureInTurns(asked, sides, rounds) {
  const measured = sides.map((paths) => ({ paths, turns: [] }));
  for (const { paths } of measured) await turn(asked, paths);
  for (let round = 0; round < rounds; round += 1) {
    for (const side of round % 2 === 0 ? measured : measured.toReversed())
      side.turns.push(await turn(asked, side.paths));
  }
  const medians = (figure) => measured.map(({ turns }) => quantile(turns.map((each) => each[figure]), 0.5)); // prettier-ignore
  return { processorUs: medians('processorUs'), perSecond: medians('perSecond') };
}

/** Returns a row of a table: processor times of both sides and their ratio, and rates and their ratio. */
export function rowOf(kind, { processorUs, perSecond }) {
  return [
    kind,
    ...processorUs.map((us) => us.toFixed(0)),
    (processorUs[0] / processorUs[1]).toFixed(2),
    ...perSecond.map(formatCount),
    (perSecond[1] / perSecond[0]).toFixed(2),
  ];
}
