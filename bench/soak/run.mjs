/**
 * A day in an hour: runs the service under everything at once (searches, writes, imports, versions, clones, deletions, groups, rules, files, documents, pictures,
 * recordings, vectors, models that come and go, feeds of every kind, stores, keys, people, plans, agents, webhooks, analytics, backups and restores), and measures
 * memory, descriptors, maps, processes and disk meanwhile.
 *
 *   node bench/soak/run.mjs [minutes] [--seed 1] [--clock-days 24] [--out folder] [--drawing file]      default 60 minutes
 *
 * `--clock-days` is the number of days by which the service's clock jumps ahead, evenly spread (roll-ups, expiry, schedules). `--out` is the folder for files that are
 * written meanwhile (samples.ndjson, faults.json, log.txt, and the resources of each thread; a file `snapshot` in probes/ requests a heap snapshot of each). Bars: no
 * unexpected answer or failure of the service, no acknowledged write lost, and memory, descriptors, maps and threads that do not grow from the first sixth on: the
 * median of the last third is at most a tenth above that of the third after the first sixth. Mail and buckets use servers of the tests, if these are available.
 */
import { execFile } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Agent } from 'undici';
import { readOptions } from '../end-to-end/lib/options.mjs';
import { formatCount, quantile } from '../end-to-end/lib/report.mjs';
import { ACCOUNT, createKey, root, startService } from '../end-to-end/lib/service.mjs';
import { wordnetFile, wordnetQueries } from '../end-to-end/lib/wordnet.mjs';
import { startReceiver } from '../webhooks/receiver.mjs';
import { controlAgent, makeAccountActors, RECORDS_OF_PLAN } from './account-actors.mjs';
import { drawOf, LIST, makeActors, vectorOf, VECTORS } from './actors.mjs';
import { drawSoak } from './drawing.mjs';
import { makeFeatureActors, prepareFeatures } from './feature-actors.mjs';
import { makeModelActors, prepareModels } from './model-actors.mjs';
import { callsOf, childrenOf, metricsOf, observed, saidIn } from './observation.mjs';
import { startOutside } from './outside.mjs';
import { makeRecordActors, prepareRecords } from './record-actors.mjs';
import { resultsOf } from './results.mjs';
import { makeSourceActors, prepareSources } from './source-actors.mjs';
import { testSupport } from './support.mjs';
import { sender, turnTaker } from './tools.mjs';
import { makeUpkeepActors, prepareUpkeep } from './upkeep-actors.mjs';

const defaults = { seed: 1, 'clock-days': 24, out: '', drawing: '' };
const { seed, 'clock-days': clockDays, positionals, ...options } = readOptions(defaults, { positionals: true });
const minutes = Number(positionals[0] ?? 60);
if (!(minutes > 0)) {
  process.stderr.write(
    'usage: node bench/soak/run.mjs [minutes] [--seed 1] [--clock-days 24] [--out folder] [--drawing file]\n',
  );
  process.exit(2);
}
const SAMPLES = 120;
const RECORDS_MAX = 30_000;
/** Module with a clock that can jump, loaded into the service as in its tests. */
const CLOCK = join(root, 'test', 'support', 'jumping-clock.mjs');
const PROBE = join(root, 'bench', 'soak', 'probe.mjs');

const folder = mkdtempSync(join(tmpdir(), 'gannet-soak-'));
const out = options.out === '' ? folder : options.out;
mkdirSync(out, { recursive: true });
const dataDir = join(folder, 'data');
const [backups, storeFolder] = ['backups', 'store'].map((name) => join(folder, name));
const probes = join(out, 'probes');
for (const path of [backups, storeFolder, probes]) mkdirSync(path, { recursive: true });

// Ends all child processes whenever this process ends.
process.once('exit', () => {
  for (const pid of childrenOf(process.pid)) process.kill(pid);
});
const support = await testSupport();
const provider = await support.OpenIdProvider.start();
const s3 = await support.s3Server();
const mailFault = support.greenMailFault();
if (mailFault !== undefined) process.stderr.write(`Without a mailbox: ${mailFault}\n`);
const mailServer = mailFault === undefined ? await support.startGreenMail() : undefined;

const service = await startService(dataDir, {
  GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true',
  GANNET_MEDIA_FOLDERS: storeFolder,
  GANNET_FEEDS_PAGES_PER_SECOND: '0',
  GANNET_PLANS_OFFERED: `small records=${RECORDS_OF_PLAN}`,
  GANNET_KEYS_READ_ONLY_PER_HOUR: '1000000',
  GANNET_PROPOSALS_BY_MODELS_A_WEEK: '1000',
  GANNET_SERVER_TRUSTED_PROXIES: '127.0.0.1',
  GANNET_CONSOLE_PUBLIC_URL: 'http://127.0.0.1:8400',
  GANNET_OPENID_ISSUER: provider.issuer,
  GANNET_OPENID_CLIENT_ID: 'gannet',
  GANNET_OPENID_CLIENT_SECRET: 'between us',
  GANNET_OPENID_NAME: 'Example',
  // Sets a limit that takes effect, as otherwise unneeded memory is not given back.
  GANNET_MEMORY_MIB: process.env.GANNET_MEMORY_MIB ?? '512',
  ...(mailServer === undefined ? {} : { NODE_EXTRA_CA_CERTS: mailServer.certificatePath }),
  SOAK_PROBES: probes,
  NODE_OPTIONS: `--trace-warnings --import ${CLOCK} --import ${PROBE}`,
});
const key = createKey(dataDir);
const agent = new Agent({ connections: 64 });
/** Control socket, which the command line and the console use, for operations that keys may not do. */
const control = controlAgent(join(dataDir, 'control.sock'));
const send = sender({ address: service.address, key, agent });
const operate = (method, path, body = undefined, expect = undefined) =>
  send(method, path, body, { dispatcher: control, ...(expect === undefined ? {} : { expect }) });
const metrics = async () => (await operate('GET', '/metrics')).bytes.toString();

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

/** Runs a command of the program, on the service's data directory or on another one (`gannet.in`). Resolves with its output. */
const gannet = (...args) => gannet.in(dataDir, ...args);
gannet.in = async (folder, ...args) => {
  const env = { ...process.env, GANNET_DATA_DIR: folder };
  return (await promisify(execFile)(process.execPath, [join(root, 'bin', 'gannet.js'), ...args], { env })).stdout;
};

/** Lets one backup be made at a time. */
const whileBackingUp = turnTaker();
const backup = () => whileBackingUp(() => gannet('backup', backups, '--keep', '2', '--json'));
const queries = await wordnetQueries(3000);
const outside = await startOutside();
const draw = drawOf(seed);
const clock = { jumps: 0 };
/** Version of the list `words`, as far as it is known to be built. */
const lists = { version: 1 };
const given = {
  ...{ send, operate, gannet, outside, support, provider, s3, mailServer, draw, clock, queries, records, lists },
  ...{
    storeFolder,
    backups,
    whileBackingUp,
    modelsFolder: join(dataDir, 'models'),
    address: service.address,
    key,
    agent,
  },
};
for (const prepare of [prepareFeatures, prepareSources, prepareModels, prepareRecords, prepareUpkeep])
  await prepare(given);
const features = await makeFeatureActors(given);
const kinds = [makeAccountActors, makeSourceActors, makeModelActors, makeRecordActors, makeUpkeepActors];
const all = [features, ...kinds.map((make) => make(given))];
const others = {
  actions: Object.assign({}, ...all.map((each) => each.actions)),
  rates: Object.assign({}, ...all.map((each) => each.rates)),
};
const actors = makeActors({ send, queries, records, draw, lists, backup, others });
const beginMs = performance.now();
const endMs = beginMs + minutes * 60_000;
const samples = [];
const series = join(out, 'samples.ndjson');
writeFileSync(series, '');
const sampling = (async () => {
  for (let number = 0; number <= SAMPLES; number += 1) {
    const dueMs = beginMs + (number / SAMPLES) * minutes * 60_000;
    await wait(Math.max(0, dueMs - performance.now()));
    if (!existsSync(join('/proc', String(service.pid)))) throw new Error(`the service is gone: ${service.said()}`);
    const elapsedS = (performance.now() - beginMs) / 1000;
    const now = observed({ pid: service.pid, dataDir, elapsedS, metrics: await metrics() });
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
    appendFileSync(series, `${JSON.stringify(samples.at(-1))}\n`);
    writeFileSync(join(out, 'faults.json'), JSON.stringify([...faults], undefined, 1));
    writeFileSync(join(out, 'log.txt'), service.said());
    while (clock.jumps < Math.floor((number / SAMPLES) * clockDays)) {
      clock.jumps += 1;
      process.kill(service.pid, 'SIGUSR2');
    }
  }
})();
await Promise.all([actors.run(endMs, done), sampling]);

// Checks that every acknowledged write is there, and nothing else under these names.
let lost = 0;
for (const kept of actors.written.values()) {
  if (kept === null) continue;
  const path = `/search-result/${ACCOUNT}/${LIST}/${kept.id}`;
  const { status, json } = await send('GET', path, undefined, { expect: [200, 404] });
  if (status === 404 || json.fields.gloss !== kept.gloss) lost += 1;
}
const { problems } = JSON.parse(await gannet('call', 'list.check', '--param', `list=${LIST}`));
const { times, failed } = callsOf(metricsOf(await metrics()));
const operations = Object.values((await send('GET', '/openapi.json')).json.paths)
  .flatMap((methods) => Object.values(methods))
  .map(({ operationId }) => operationId)
  .filter(Boolean);
const untouched = operations.filter((name) => !(name in times));
await features.close();
await service.stop();
const said = saidIn(service.said());
outside.close();
receiver.close();
await Promise.all([agent, control, provider, ...[s3, mailServer].filter(Boolean)].map((each) => each.close()));

const { text, calls, isReached } = resultsOf({
  settings: { Minutes: minutes, 'Jumps of the clock by a day': clock.jumps, Deliveries: formatCount(deliveries) },
  ...{ samples, latencies, faults, failed: new Map(Object.entries(failed)), said: new Map(Object.entries(said)) },
  ...{ lost, problems: problems.length, operations: operations.length, untouched },
});
process.stdout.write(text);
const drawing = options.drawing === '' ? join(out, 'soak.svg') : options.drawing;
writeFileSync(join(out, 'soak.md'), `${text}\n${calls}`);
writeFileSync(drawing, drawSoak(samples));
process.stderr.write(`What each actor took is in ${join(out, 'soak.md')}, the drawing ${drawing}\n`);
for (const path of [dataDir, backups, storeFolder]) rmSync(path, { recursive: true, force: true });
if (out !== folder) rmSync(folder, { recursive: true, force: true });
process.exit(isReached ? 0 : 1);
