/**
 * Measures what counting costs: searches per second with and without analytics, by two services with the same records that are loaded in turns; then
 * roll-ups and reports. The speed of the machine changes from minute to minute, so only the ratio and the processor time per search count.
 */
import { createReadStream, rmSync } from 'node:fs';
import { join } from 'node:path';
import { barRow, formatCount, machineTable, markdownTable } from '../end-to-end/lib/report.mjs';
import { ACCOUNT, call, createKey, importNdjson, startService, workFolder } from '../end-to-end/lib/service.mjs';
import { wordnetFile, wordnetQueries } from '../end-to-end/lib/wordnet.mjs';
import { ensureWrk, runWrk } from '../end-to-end/lib/wrk.mjs';
import { measureRollUp } from './roll-up.mjs';

const QUERIES = 3000;
const CONNECTIONS = 16;
const TURNS = 8;
const SECONDS_PER_TURN = 4;
const WARM_UP_SECONDS = 3;
const SHARE_BAR = 0.97;
const LOADS = [
  { name: 'evaluated', options: { cache: 'false' } },
  { name: 'answered from the cache', options: {} },
];

export async function measureAnalytics() {
  ensureWrk();
  const queries = await wordnetQueries(QUERIES);
  const sides = [];
  try {
    for (const enabled of [true, false]) sides.push(await startSide(enabled));
    const rows = [];
    for (const { name, options } of LOADS) {
      const paths = queries.map(
        (query) => `/search/${ACCOUNT}/wordnet/1?${new URLSearchParams({ query, ...options })}`,
      );
      rows.push(...(await compare(name, paths, sides)));
    }
    return [
      '## Analytics: what counting costs\n',
      machineTable({
        Data: 'WordNet 3.1',
        Load: `wrk, ${CONNECTIONS} connections, ${TURNS} turns of ${SECONDS_PER_TURN} s each side`,
      }),
      markdownTable(['Searches', 'With', 'Without', 'With / without', 'Bar', ''], rows),
      await measureRollUp(),
    ].join('\n');
  } finally {
    for (const { service, dataDir } of sides) {
      await service.stop();
      rmSync(dataDir, { recursive: true, force: true });
    }
  }
}

async function startSide(enabled) {
  const { file, definition } = await wordnetFile();
  const dataDir = join(workFolder, `analytics-${enabled ? 'on' : 'off'}`);
  rmSync(dataDir, { recursive: true, force: true });
  const service = await startService(dataDir, { GANNET_ANALYTICS_ENABLED: String(enabled) });
  const key = createKey(dataDir);
  await call(service.address, key, 'POST', `/list/${ACCOUNT}`, { name: 'wordnet', ...definition });
  await importNdjson(service.address, key, 'wordnet', createReadStream(file));
  return { service, key, dataDir };
}

async function compare(name, paths, sides) {
  const load = ({ service, key }, seconds) =>
    runWrk({ address: service.address, key, paths, seconds, connections: CONNECTIONS });
  for (const side of sides) await load(side, WARM_UP_SECONDS);
  const sums = sides.map(() => ({ requests: 0, seconds: 0, cpuSeconds: 0, failed: 0 }));
  for (let turn = 0; turn < TURNS; turn += 1) {
    for (const [index, side] of sides.entries()) {
      const cpuBeforeMs = side.service.cpuMs();
      const { requests, requestsPerSecond, failed } = await load(side, SECONDS_PER_TURN);
      const sum = sums[index];
      sum.requests += requests;
      sum.seconds += requests / requestsPerSecond;
      sum.cpuSeconds += (side.service.cpuMs() - cpuBeforeMs) / 1000;
      sum.failed += failed;
    }
  }
  if (sums.some(({ failed }) => failed > 0)) throw new Error('searches failed');
  const perSecond = sums.map(({ requests, seconds }) => requests / seconds);
  const perCpuSecond = sums.map(({ requests, cpuSeconds }) => requests / cpuSeconds);
  const share = ([on, off]) => `${((on / off) * 100).toFixed(1)} %`;
  const [on, off] = perSecond;
  const [label, measured, bar, reached] = barRow(
    `${name}, a second`,
    share(perSecond),
    `${SHARE_BAR * 100} %`,
    on >= off * SHARE_BAR,
  );
  return [
    [label, formatCount(on), formatCount(off), measured, bar, reached],
    // Processor time of all threads, including storing and rolling up.
    [`${name}, a second of processor time`, ...perCpuSecond.map(formatCount), share(perCpuSecond), '', ''],
  ];
}
