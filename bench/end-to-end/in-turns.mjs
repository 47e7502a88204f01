/**
 * Compares two or more checkouts of the service in turns on the same million sentences: latencies at a given rate, and capacity. The
 * speed of a shared machine changes within minutes, so only runs in turns are comparable.
 *
 *   node bench/end-to-end/in-turns.mjs [--rate 1400] [--seconds 5] [--rounds 6] before=<folder> after=<folder>
 *
 * Each folder is a built checkout. `npm run bench -- load` must have imported the sentences once. Each service gets a copy of
 * the data and may keep its mapped files, as trimming is not measured here.
 */
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { checkoutsOf, serviceOf } from './lib/checkouts.mjs';
import { runOpenLoop } from './lib/open-loop.mjs';
import { readOptions } from './lib/options.mjs';
import { formatCount, machineTable, markdownTable, quantile } from './lib/report.mjs';
import { arxivQueries } from './lib/sentences.mjs';
import { ACCOUNT, workFolder } from './lib/service.mjs';
import { ensureWrk, runWrk } from './lib/wrk.mjs';

const DATA = join(workFolder, 'sentences-1000000');
const CONNECTIONS = 32;
const WARM_UP_SECONDS = 8;
const MAPPED_MIB = '4000';

const {
  rate: ratePerSecond,
  seconds,
  rounds,
  positionals,
} = readOptions({ rate: 1400, seconds: 5, rounds: 6 }, { positionals: true });
const checkouts = checkoutsOf(positionals);
if (![ratePerSecond, seconds, rounds].every((each) => each > 0))
  fail('--rate, --seconds and --rounds take numbers above 0');
if (!existsSync(join(DATA, 'bench-imported.json')))
  fail('there are no sentences yet: run `npm run bench -- load` first');

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}

ensureWrk();
const { key } = JSON.parse(readFileSync(join(DATA, 'bench-imported.json'), 'utf8'));
const search = (query) => `/search/${ACCOUNT}/sentences/1?${new URLSearchParams({ query, cache: 'false' })}`;
const paths = arxivQueries().map(search);
const sides = [];
const copyOf = (name) => join(workFolder, `in-turns-${name}`);
try {
  for (const checkout of checkouts) {
    const { name } = checkout;
    const data = copyOf(name);
    rmSync(data, { recursive: true, force: true });
    cpSync(DATA, data, { recursive: true, filter: (path) => !path.endsWith('.sock') });
    const { startService } = await serviceOf(checkout);
    const service = await startService(data, { GANNET_MEMORY_MAPPED_MIB: MAPPED_MIB });
    sides.push({ name, service, turns: [] });
    await runWrk({ address: service.address, key, paths, seconds: WARM_UP_SECONDS, connections: CONNECTIONS });
  }
  for (let round = 1; round <= rounds; round += 1) {
    for (const { service, turns } of round % 2 === 1 ? sides : sides.toReversed()) {
      const load = { address: service.address, key, paths, seconds };
      const beforeMs = service.cpuMs();
      const open = await runOpenLoop({ ...load, ratePerSecond, seed: round });
      const processors = (service.cpuMs() - beforeMs) / 1000 / seconds;
      const { requestsPerSecond } = await runWrk({ ...load, connections: CONNECTIONS });
      turns.push({ ...open, processors, capacity: requestsPerSecond });
    }
  }
  const median = ({ turns }, figure) => quantile(turns.map((turn) => turn[figure]), 0.5); // prettier-ignore
  process.stdout.write(
    machineTable({
      Turns: `${rounds} of ${seconds} s each at ${ratePerSecond}/s in an open loop, and as long by wrk; medians`,
    }),
  );
  process.stdout.write(
    `\n${markdownTable(
      ['Checkout', 'p50 ms', 'p99 ms', 'p99.9 ms', 'Processors', 'Generator late, p99 ms', 'Capacity /s', 'Failed'],
      sides.map((side) => [
        side.name,
        ...['p50', 'p99', 'p999', 'processors', 'sentLateP99'].map((figure) => median(side, figure).toFixed(2)),
        formatCount(median(side, 'capacity')),
        side.turns.reduce((sum, { failed }) => sum + failed, 0),
      ]),
    )}`,
  );
} finally {
  await Promise.allSettled(sides.map(({ service }) => service.stop()));
  for (const { name } of checkouts) rmSync(copyOf(name), { recursive: true, force: true });
}
