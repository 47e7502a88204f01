/**
 * Measures deliveries per second to a receiver on this machine while searches run, in turns with the same load without webhooks, and how
 * fast a backlog is delivered. Searches and writes have a fixed rate, so that slow answers do not slow down the load.
 */
import { spawn } from 'node:child_process';
import { createReadStream, readFileSync, rmSync } from 'node:fs';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { barRow, formatCount, machineTable, markdownTable, quantile } from '../end-to-end/lib/report.mjs';
import { ACCOUNT, call, createKey, importNdjson, startService, workFolder } from '../end-to-end/lib/service.mjs';
import { wordnetFile, wordnetQueries } from '../end-to-end/lib/wordnet.mjs';

const DELIVERIES_PER_SECOND_BAR = 2000;
/** Bar for the ratio to the same load without webhooks, in turns within one run. */
const P99_RATIO_BAR = 1.25;
/** Number of webhooks. With 105 writes per second, 20 webhooks get 2,100 deliveries per second. */
const WEBHOOKS = 20;
const WRITES_PER_SECOND = 105;
const SEARCHES_PER_SECOND = 200;
/** Number of turns. They are many and short, so that other load affects both sides equally. */
const ROUNDS = 13;
const PHASE_MS = 3000;
const WARM_UP_MS = 700;
const TICK_MS = 5;
const BACKLOG = 20_000;
const CLOCK_TICKS_PER_SECOND = 100;
const RECEIVER_NICENESS = 10;

export async function measureWebhooks() {
  const dataDir = join(workFolder, 'webhooks');
  rmSync(dataDir, { recursive: true, force: true });
  const { file, count, definition } = await wordnetFile();
  const queries = await wordnetQueries(2000);
  const receiver = await startReceiverProcess();
  const service = await startService(dataDir, { GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true' });
  try {
    const key = createKey(dataDir);
    const api = (method, path, body) => call(service.address, key, method, path, body);
    await api('POST', `/list/${ACCOUNT}`, { name: 'wordnet', ...definition });
    await importNdjson(service.address, key, 'wordnet', createReadStream(file));
    await api('POST', `/list/${ACCOUNT}`, { name: 'writes', searchable_fields: [{ name: 'title' }] });
    const load = new Load(service.address, key, queries);
    const bench = { api, load, receiver, pid: service.pid };
    await phase(bench, false);
    const without = [];
    const during = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      without.push(await phase(bench, false));
      during.push(await phase(bench, true));
      process.stdout.write(
        `round ${round}: ${describe(without.at(-1))}; with deliveries: ${describe(during.at(-1))}\n`,
      );
    }
    const backlog = await drainBacklog(bench, service.address, key);
    await load.close();
    return report({ without, during, backlog, count });
  } finally {
    await service.stop();
    receiver.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Sends searches and writes at a fixed rate over persistent connections. */
class Load {
  constructor(address, key, queries) {
    this.pool = new Pool(address, { connections: 64 });
    this.headers = { 'x-api-key': key, 'content-type': 'application/json' };
    this.queries = queries;
    this.next = 0;
  }

  async search(latencies) {
    const query = this.queries[this.next++ % this.queries.length];
    const path = `/search/${ACCOUNT}/wordnet/1?${new URLSearchParams({ query, cache: 'false' })}`;
    const begin = performance.now();
    const { statusCode, body } = await this.pool.request({ method: 'GET', path, headers: this.headers });
    await body.dump();
    if (statusCode !== 200) throw new Error(`a search answered ${statusCode}`);
    latencies.push(performance.now() - begin);
  }

  async write() {
    const body = JSON.stringify({ name: `w${this.next % 500}`, fields: { title: `title ${this.next++}` } });
    const request = { method: 'POST', path: `/search-result/${ACCOUNT}/writes`, headers: this.headers, body };
    const answer = await this.pool.request(request);
    await answer.body.dump();
    if (answer.statusCode > 201) throw new Error(`a write answered ${answer.statusCode}`);
  }

  /** Sends for the given time. Resolves with the searches' milliseconds when all are answered. */
  async run(milliseconds) {
    const latencies = [];
    const sent = [];
    const startedMs = performance.now();
    let [searches, writes] = [0, 0];
    for (let elapsed = 0; elapsed < milliseconds; elapsed = performance.now() - startedMs) {
      for (; searches < (elapsed / 1000) * SEARCHES_PER_SECOND; searches += 1) sent.push(this.search(latencies));
      for (; writes < (elapsed / 1000) * WRITES_PER_SECOND; writes += 1) sent.push(this.write());
      await new Promise((resolve) => setTimeout(resolve, TICK_MS));
    }
    await Promise.all(sent);
    return latencies;
  }

  close() {
    return this.pool.close();
  }
}

async function phase({ api, load, receiver, pid }, withWebhooks) {
  const webhooks = [];
  for (let n = 0; withWebhooks && n < WEBHOOKS; n += 1) {
    const url = `http://127.0.0.1:${receiver.port}/${n}`;
    webhooks.push(await api('POST', '/webhook', { url, events: ['searchresult.created', 'searchresult.updated'] }));
  }
  await load.run(WARM_UP_MS);
  const [delivered, cpu, startedMs] = [await receiver.count(), cpuSeconds(pid), performance.now()];
  const latencies = await load.run(PHASE_MS);
  const seconds = (performance.now() - startedMs) / 1000;
  const result = {
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    perSecond: ((await receiver.count()) - delivered) / seconds,
    cpu: (cpuSeconds(pid) - cpu) / seconds,
  };
  for (const { id } of webhooks) await api('DELETE', `/webhook/${ACCOUNT}/${id}`);
  return result;
}

/** Measures how fast the deliveries of one deletion by filter reach one webhook. */
async function drainBacklog({ api, receiver, pid }, address, key) {
  await api('POST', `/list/${ACCOUNT}`, { name: 'backlog', facets: [{ name: 'kind', type: 'string' }] });
  const records = Array.from({ length: BACKLOG }, (_, n) => `${JSON.stringify({ name: `b${n}`, kind: 'x' })}\n`);
  await importNdjson(address, key, 'backlog', records.join(''));
  const url = `http://127.0.0.1:${receiver.port}/backlog`;
  await api('POST', '/webhook', { url, events: ['searchresult.deleted'] });
  const [before, cpu, startedMs] = [await receiver.count(), cpuSeconds(pid), performance.now()];
  await api('DELETE', `/search-result/${ACCOUNT}/backlog?filter=${encodeURIComponent("kind = 'x'")}`);
  while ((await receiver.count()) - before < BACKLOG) await new Promise((resolve) => setTimeout(resolve, 20));
  const seconds = (performance.now() - startedMs) / 1000;
  return { perSecond: BACKLOG / seconds, cpuPerDeliveryUs: ((cpuSeconds(pid) - cpu) / BACKLOG) * 1e6 };
}

/** Returns the user and system time of a process in seconds. Linux only. */
function cpuSeconds(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_SECOND;
}

async function startReceiverProcess() {
  const program = fileURLToPath(new URL('receiver.mjs', import.meta.url));
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
  // The receiver stands for other machines, which would not take processor time from the service.
  setPriority(child.pid, RECEIVER_NICENESS);
  const stop = () => child.kill();
  process.once('exit', stop);
  const port = Number(
    await new Promise((resolve) => child.stdout.once('data', (chunk) => resolve(String(chunk).trim()))),
  );
  const count = async () => Number(await (await fetch(`http://127.0.0.1:${port}/count`)).text());
  return { port, count, stop };
}

function describe({ p50, p99, perSecond, cpu }) {
  return `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms, ${formatCount(perSecond)} deliveries/s, ${cpu.toFixed(2)} processors`;
}

const median = (results, member) =>
  quantile(
    results.map((each) => each[member]),
    0.5,
  );

function report({ without, during, backlog, count }) {
  const [before, after] = [median(without, 'p99'), median(during, 'p99')];
  const rate = median(during, 'perSecond');
  const cost = ((median(during, 'cpu') - median(without, 'cpu')) / rate) * 1e6;
  const bar = `${formatCount(DELIVERIES_PER_SECOND_BAR)}/s`;
  return [
    '## Webhook deliveries beside searches\n',
    machineTable({
      Data: `WordNet 3.1, ${formatCount(count)} records`,
      Load: `${SEARCHES_PER_SECOND} searches/s (cache=false) and ${WRITES_PER_SECOND} single writes/s at a fixed rate; ${WEBHOOKS} webhooks to a receiver on this machine at niceness ${RECEIVER_NICENESS}`,
      Rounds: `${ROUNDS} of ${PHASE_MS / 1000} s each, without and with webhooks in turns; medians`,
    }),
    markdownTable(
      ['What', 'Measured', 'Bar', ''],
      [
        barRow('deliveries while searching', `${formatCount(rate)}/s`, bar, rate >= DELIVERIES_PER_SECOND_BAR),
        barRow(
          'p99 of searches meanwhile',
          `${after.toFixed(2)} ms (${before.toFixed(2)} ms without; ratio ${(after / before).toFixed(2)})`,
          `ratio up to ${P99_RATIO_BAR}`,
          after <= before * P99_RATIO_BAR,
        ),
        barRow(
          `backlog of ${formatCount(BACKLOG)} to one receiver`,
          `${formatCount(backlog.perSecond)}/s`,
          bar,
          backlog.perSecond >= DELIVERIES_PER_SECOND_BAR,
        ),
      ],
    ),
    `Processor time a delivery: ${cost.toFixed(0)} µs beside searches, ${backlog.cpuPerDeliveryUs.toFixed(0)} µs from the backlog (removal included).\n`,
  ].join('\n');
}
