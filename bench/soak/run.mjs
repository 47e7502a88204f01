/**
 * A day in an hour: the service under everything at once (searches, writes, imports, versions, clones, deletions, groups, rules, files, documents, pictures,
 * vectors, models, feeds, stores, keys, people, agents, webhooks, analytics, backups), and what it takes of memory, descriptors, maps and disk while that goes on.
 *
 *   node bench/soak/run.mjs [minutes] [--seed 1] [--clock-days 24] [--out folder]      default 60 minutes
 *
 * `--clock-days`: the service's clock jumps ahead by a day so many times, evenly (roll-ups, expiry, schedules). Bars: no answer that was
 * not expected, no acknowledged write lost, and from the first sixth on memory, descriptors and maps that do not grow: the median of the
 * last third at most a tenth above that of the third after the first sixth.
 */
import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Agent, request } from 'undici';
import { readOptions } from '../end-to-end/lib/options.mjs';
import { barRow, formatCount, machineTable, markdownTable, quantile } from '../end-to-end/lib/report.mjs';
import { ACCOUNT, createKey, root, startService } from '../end-to-end/lib/service.mjs';
import { wordnetFile, wordnetQueries } from '../end-to-end/lib/wordnet.mjs';
import { startReceiver } from '../webhooks/receiver.mjs';
import { drawSoak } from './drawing.mjs';
import { drawOf, LIST, makeActors, vectorOf, VECTORS } from './actors.mjs';
import { makeFeatureActors, prepareFeatures } from './feature-actors.mjs';
import { startOutside } from './outside.mjs';

const defaults = { seed: 1, 'clock-days': 24, out: '' };
const { seed, 'clock-days': clockDays, positionals, ...options } = readOptions(defaults, { positionals: true });
const minutes = Number(positionals[0] ?? 60);
if (!(minutes > 0)) {
  process.stderr.write('usage: node bench/soak/run.mjs [minutes] [--seed 1] [--clock-days 24] [--out folder]\n');
  process.exit(2);
}
const SAMPLES = 120;
const RECORDS_MAX = 30_000;
/** A jump of the clock that the service is started with; the same as in its tests. */
const CLOCK = join(root, 'test', 'support', 'jumping-clock.mjs');
const GROWTH_MAX = 1.1;

const folder = mkdtempSync(join(tmpdir(), 'gannet-soak-'));
const out = options.out === '' ? folder : options.out;
mkdirSync(out, { recursive: true });
const dataDir = join(folder, 'data');
const [backups, storeFolder] = ['backups', 'store'].map((name) => join(folder, name));
for (const path of [backups, storeFolder]) mkdirSync(path);

const service = await startService(dataDir, {
  GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true',
  GANNET_MEDIA_FOLDERS: storeFolder,
  // Without a limit that is felt, memory that nobody needs is not given back either.
  GANNET_MEMORY_MIB: process.env.GANNET_MEMORY_MIB ?? '512',
  NODE_OPTIONS: `--import ${CLOCK}`,
});
const key = createKey(dataDir);
const agent = new Agent({ connections: 64 });
/** As the command line and the console have it: for what keys may not do. */
const control = new Agent({ connect: { socketPath: join(dataDir, 'control.sock') } });

const OK = [200, 201, 202, 204];
async function send(method, path, body, { expect = OK, type = 'application/json', as = key, dispatcher = agent } = {}) {
  const raw = body === undefined || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const answer = await request(`${service.address}${path}`, {
    method,
    body: raw,
    headers: { 'x-api-key': as, ...(raw === undefined ? {} : { 'content-type': type }) },
    dispatcher,
  });
  const text = await answer.body.text();
  if (!expect.includes(answer.statusCode)) {
    throw new Error(`${method} ${path.replace(/\?.*/, '')} → ${answer.statusCode} ${text.slice(0, 200)}`);
  }
  return { status: answer.statusCode, json: text.startsWith('{') ? JSON.parse(text) : undefined };
}

/** What the process and its folder take now. */
function sample(elapsedS) {
  const process_ = join('/proc', String(service.pid));
  const { all, anonymous } = service.memory();
  return {
    elapsedS,
    memoryMib: all,
    ownMib: anonymous,
    descriptors: readdirSync(join(process_, 'fd')).length,
    maps: readFileSync(join(process_, 'maps'), 'utf8').split('\n').length,
    threads: readdirSync(join(process_, 'task')).length,
    diskMib: bytesBelow(dataDir) / 2 ** 20,
  };
}

/** On disk, so that a file with holes counts as what it takes. */
function bytesBelow(path) {
  let bytes = 0;
  for (const entry of readdirSync(path, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    bytes += (statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.blocks ?? 0) * 512;
  }
  return bytes;
}

const { file, definition } = await wordnetFile();
const records = readFileSync(file, 'utf8')
  .split('\n', RECORDS_MAX)
  .filter(Boolean)
  .map((line) => JSON.parse(line));
const lines = records.map((record) => `${JSON.stringify(record)}\n`).join('');
await send('POST', `/list/${ACCOUNT}`, { name: LIST, ...definition });
await send('POST', `/search-result/${ACCOUNT}/${LIST}/bulk`, Buffer.from(lines), { type: 'application/x-ndjson' });
await send('POST', `/list/${ACCOUNT}`, { name: VECTORS, searchable_fields: [{ name: 'title' }], model: 'own' });
const withVectors = Array.from({ length: 5000 }, (_, number) => {
  const name = `v${number}`;
  return `${JSON.stringify({ name, fields: { title: records[number].name }, vector: vectorOf(name) })}\n`;
});
await send('POST', `/search-result/${ACCOUNT}/${VECTORS}/bulk`, Buffer.from(withVectors.join('')), {
  type: 'application/x-ndjson',
});

let deliveries = 0;
const receiver = await startReceiver(() => (deliveries += 1) > 0);
await send('POST', '/webhook', {
  account: ACCOUNT,
  url: `http://127.0.0.1:${receiver.port}/`,
  events: ['searchresult.created', 'searchresult.updated', 'searchresult.deleted', 'media.uploaded'],
}).catch((error) => process.stderr.write(`without webhooks: ${error.message}\n`));

const latencies = new Map();
const faults = new Map();
const done = (name, ms, error) => {
  const known = latencies.get(name) ?? [];
  latencies.set(name, known);
  known.push({ atMs: performance.now(), ms });
  if (error === undefined) return;
  const text = `${name}: ${error.message}`.replaceAll(/\d{3,}|soak-\d+|[0-9a-f]{8,}/g, '…');
  faults.set(text, (faults.get(text) ?? 0) + 1);
};

/** A command of the program beside the service; resolves with what it printed. */
async function gannet(...args) {
  const env = { ...process.env, GANNET_DATA_DIR: dataDir };
  return (await promisify(execFile)(process.execPath, [join(root, 'bin', 'gannet.js'), ...args], { env })).stdout;
}

const backup = () => gannet('backup', backups, '--keep', '2', '--json');
const queries = await wordnetQueries(3000);
const outside = await startOutside();
await prepareFeatures({ send, gannet, outside });
const draw = drawOf(seed);
/** Of the words, as far as it is known that it was built. */
const lists = { version: 1 };
const others = await makeFeatureActors({
  ...{ send, gannet, outside, draw, queries, records, lists, storeFolder },
  operate: (method, path, body) => send(method, path, body, { dispatcher: control }),
  ...{ address: service.address, key },
});
const actors = makeActors({ send, queries, records, draw, lists, backup, others });
const beginMs = performance.now();
const endMs = beginMs + minutes * 60_000;
const samples = [];
let jumps = 0;
const sampling = (async () => {
  for (let number = 0; number <= SAMPLES; number += 1) {
    const dueMs = beginMs + (number / SAMPLES) * minutes * 60_000;
    await wait(Math.max(0, dueMs - performance.now()));
    if (!existsSync(join('/proc', String(service.pid)))) throw new Error('the service is gone');
    const now = sample((performance.now() - beginMs) / 1000);
    const searches = latencies
      .get('search')
      ?.filter(({ atMs }) => atMs > performance.now() - (minutes * 60_000) / SAMPLES);
    samples.push({
      ...now,
      searchP99Ms: quantile(
        (searches ?? []).map(({ ms }) => ms),
        0.99,
      ),
    });
    while (jumps < Math.floor((number / SAMPLES) * clockDays)) {
      process.kill(service.pid, 'SIGUSR2');
      jumps += 1;
    }
  }
})();
await Promise.all([actors.run(endMs, done), sampling]);

// Every write that was acknowledged is there, and nothing else under these names.
let lost = 0;
for (const kept of actors.written.values()) {
  if (kept === null) continue;
  const path = `/search-result/${ACCOUNT}/${LIST}/${kept.id}`;
  const { status, json } = await send('GET', path, undefined, { expect: [200, 404] });
  if (status === 404 || json.fields.gloss !== kept.gloss) lost += 1;
}
const { problems } = JSON.parse(await gannet('call', 'list.check', '--param', `list=${LIST}`));
await others.close();
await service.stop();
outside.close();
receiver.close();
await Promise.all([agent, control].map((each) => each.close()));

const medianOf = (member, from, to) =>
  quantile(
    samples.slice(Math.floor(from * samples.length), Math.floor(to * samples.length)).map((each) => each[member]),
    0.5,
  );
const growth = ['ownMib', 'descriptors', 'maps', 'threads', 'diskMib', 'searchP99Ms'].map((member) => {
  const [early, late] = [medianOf(member, 1 / 6, 1 / 2), medianOf(member, 2 / 3, 1)];
  return [member, early.toFixed(1), late.toFixed(1), (late / early).toFixed(3)];
});
const calls = [...latencies].map(([name, each]) => {
  const ms = each.map((one) => one.ms);
  return [name, formatCount(ms.length), quantile(ms, 0.5).toFixed(1), quantile(ms, 0.99).toFixed(1)];
});
const bounded = growth.slice(0, 4);
const text = [
  machineTable({ Minutes: minutes, 'Jumps of the clock by a day': jumps, Deliveries: formatCount(deliveries) }),
  markdownTable(['Done', 'Times', 'p50, ms', 'p99, ms'], calls),
  markdownTable(['Taken', 'Median of the third after the first sixth', 'of the last third', 'Ratio'], growth),
  markdownTable(
    ['What', 'Measured', 'Bar', ''],
    [
      barRow(
        'unexpected answers',
        [...faults.values()].reduce((sum, each) => sum + each, 0),
        0,
        faults.size === 0,
      ),
      barRow('writes lost', lost, 0, lost === 0),
      barRow('problems of the list', problems.length, 0, problems.length === 0),
      ...bounded.map(([member, , , ratio]) => barRow(member, ratio, GROWTH_MAX, Number(ratio) <= GROWTH_MAX)),
    ],
  ),
  [...faults].map(([fault, times]) => `${times} × ${fault}\n`).join(''),
].join('\n');
process.stdout.write(text);
writeFileSync(join(out, 'soak.md'), text);
writeFileSync(join(out, 'soak.svg'), drawSoak(samples));
writeFileSync(join(out, 'samples.json'), JSON.stringify(samples));
process.stdout.write(`\nThe drawing is ${join(out, 'soak.svg')}\n`);
rmSync(dataDir, { recursive: true, force: true });
for (const path of [backups, storeFolder]) rmSync(path, { recursive: true, force: true });
const reached =
  faults.size === 0 &&
  lost === 0 &&
  problems.length === 0 &&
  bounded.every(([, , , ratio]) => Number(ratio) <= GROWTH_MAX);
process.exit(reached ? 0 : 1);
