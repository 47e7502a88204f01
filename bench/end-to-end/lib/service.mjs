/** Runs the measured service as a separate process, with its own data directory and port. */
import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import os from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const root = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));
/** Work folder, kept between runs, so that 200,000 papers need not be imported for each measured start. */
export const workFolder = process.env.GANNET_BENCH_FOLDER ?? join(os.tmpdir(), 'gannet-bench');
export const ACCOUNT = 'default';

/** Time after which the service maps more memory under lasting load (src/platform/mapped-memory.ts): two windows of 15 s. */
export const STEADY_AFTER_SECONDS = 33;

const START_TIMEOUT_MS = 120_000;
const program = join(root, 'bin', 'gannet.js');

function environment(dataDir, env) {
  return {
    ...process.env,
    GANNET_DATA_DIR: dataDir,
    GANNET_PORT: '0',
    GANNET_LOG_LEVEL: 'warn',
    // Otherwise the rate limit would be measured instead of the service.
    GANNET_SEARCH_RATE_PER_MINUTE: '1000000000',
    ...env,
  };
}

/** Starts the service. Resolves when GET /ready answers 200; `readyMs` counts from the start of the process. `started` is the program of another copy. */
export async function startService(dataDir, env = {}, started = program) {
  mkdirSync(dataDir, { recursive: true });
  const startedMs = performance.now();
  const child = spawn(process.execPath, [started, 'serve'], {
    env: environment(dataDir, env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let complaints = '';
  child.stderr.on('data', (chunk) => {
    complaints += chunk;
  });
  const stopWithParent = () => child.kill('SIGTERM');
  process.once('exit', stopWithParent);
  const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal)));
  const address = await new Promise((resolve, reject) => {
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
      const found = /http:\/\/\S+/.exec(output);
      if (found !== null) resolve(found[0].replace(/[.,]$/, ''));
    });
    void ended.then((code) => reject(new Error(`the service ended with ${code}: ${complaints}`)));
    setTimeout(() => reject(new Error('the service was not ready in time')), START_TIMEOUT_MS).unref();
  });
  const ready = await fetch(`${address}/ready`);
  if (ready.status !== 200) throw new Error(`/ready answered ${ready.status} after the ready line`);
  const readyMs = performance.now() - startedMs;
  return {
    address,
    pid: child.pid,
    readyMs,
    memory: () => residentMemory(child.pid),
    cpuMs: () => processorTimeMs(child.pid),
    /** Returns what it has written to standard error so far. */
    said: () => complaints,
    async stop() {
      process.off('exit', stopWithParent);
      child.kill('SIGTERM');
      const code = await ended;
      if (code !== 0) throw new Error(`the service ended with ${code}: ${complaints.slice(-2000)}`);
    },
  };
}

/** Returns MiB of resident memory: all, without file pages (which the system may drop at any time), and of files. Linux only. */
export function residentMemory(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mebibytes = (name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) / 1024;
  return { all: mebibytes('VmRSS'), anonymous: mebibytes('RssAnon'), files: mebibytes('RssFile') };
}

const CLOCK_TICKS_PER_SECOND = 100;

/** Returns the processor time of all threads so far, in steps of 10 ms. Linux only. */
function processorTimeMs(pid) {
  // The second field is the program's name in parentheses, which may contain spaces.
  const members = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return ((Number(members[11]) + Number(members[12])) * 1000) / CLOCK_TICKS_PER_SECOND;
}

/** Creates an API key with full access, as an operator would. */
export function createKey(dataDir) {
  const args = [program, 'key', 'create', '--account', ACCOUNT, '--access', 'full', '--json'];
  const output = execFileSync(process.execPath, args, { env: environment(dataDir, {}), encoding: 'utf8' });
  return JSON.parse(output).key;
}

/** Adds a model of a server with `/v1/embeddings`, which may be this process. */
export async function addModel(dataDir, { name, url, tokensMax }) {
  const args = ['--account', ACCOUNT, '--provider', 'openai', '--url', url, '--served-name', name];
  const all = [program, 'model', 'add', name, ...args, '--tokens-max', String(tokensMax)];
  await promisify(execFile)(process.execPath, all, { env: environment(dataDir, {}) });
}

/** Returns the results of these checks of `gannet doctor`. */
export function doctorSays(dataDir, env, names) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'doctor', '--json'], {
    env: environment(dataDir, env),
    encoding: 'utf8',
  });
  if (stdout === '') throw new Error(`gannet doctor ended with exit status ${status}: ${stderr}`);
  const said = JSON.parse(stdout).checks.filter(({ name }) => names.includes(name));
  return said.map(({ name, state, detail }) => `${name}: ${state}, ${detail}`);
}

/** Makes a JSON call. Throws unless it succeeds. */
export async function call(address, key, method, path, body) {
  const response = await fetch(`${address}${path}`, {
    method,
    headers: { 'x-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

/** @typedef {{ readonly created: number; readonly updated: number; readonly failed: number }} Imported what an import says when it is done */

/** Streams NDJSON into a list over HTTP. Resolves with the answer and the seconds until every record was acknowledged. */
export async function importNdjson(address, key, list, stream) {
  const startedMs = performance.now();
  const response = await fetch(`${address}/search-result/${ACCOUNT}/${list}/bulk`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/x-ndjson' },
    body: stream,
    duplex: 'half',
  });
  const answer = /** @type {Imported} */ (await response.json());
  const seconds = (performance.now() - startedMs) / 1000;
  if (!response.ok || answer.failed > 0)
    throw new Error(`import: ${response.status} ${JSON.stringify(answer).slice(0, 500)}`);
  return { answer, seconds };
}

/** Merging is over when segments have not changed for so long, and none is being written. */
const SETTLED_MS = 5000;
const SAMPLE_MS = 50;
const UNFINISHED = /\.tmp$/;

/** Resolves when the lists in the data directory are merged as far as possible without further writes. */
export async function untilMerged(dataDir) {
  const names = () => readdirSync(join(dataDir, 'lists'), { recursive: true }).map(String);
  let before = '';
  for (let sinceMs = performance.now(); performance.now() - sinceMs < SETTLED_MS; await wait(SAMPLE_MS)) {
    const now = names();
    // The merge of millions of records keeps its unfinished file for longer.
    if (now.join() !== before || now.some((name) => UNFINISHED.test(name))) sinceMs = performance.now();
    before = now.join();
  }
}
