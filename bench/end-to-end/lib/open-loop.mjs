/** Makes load at a given rate whether answers come or not, or as fast as they come: builds bench/end-to-end/open_loop.cc if it changed, and starts it. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root, workFolder } from './service.mjs';

const CONNECTIONS = 64;
const SOURCE = join(root, 'bench', 'end-to-end', 'open_loop.cc');
const PROGRAM = join(workFolder, 'open-loop');

const run = promisify(execFile);
const changedMs = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

function build() {
  mkdirSync(workFolder, { recursive: true });
  if (changedMs(PROGRAM) > changedMs(SOURCE)) return;
  execFileSync(process.env.CXX ?? 'g++', ['-std=c++20', '-O2', '-o', PROGRAM, SOURCE], { stdio: 'inherit' });
}

let runs = 0;

/**
 * Sends requests. Resolves with requests per second, failed ones, and p50, p99, p99.9 and the longest latency in milliseconds, of all, of `gets` and of `posts`;
 * `sentLateP99`, the share that the generator itself may cause, which runs on the same processors, and its `processorMs`. `paths` are paths to GET, or `POST <path> <body>`.
 * With `ratePerSecond` 0, each connection sends the next one when the last is answered. With `each`, the result has the `latencies` of all requests
 * and `dueMs`, when each was due, by `process.hrtime`.
 */
export async function runOpenLoop({
  address,
  key,
  paths,
  seconds,
  ratePerSecond,
  seed = 1,
  connections = CONNECTIONS,
  requestsMax = 0,
  each = false,
}) {
  build();
  runs += 1;
  const list = join(workFolder, `open-loop-${process.pid}-${runs}.txt`);
  writeFileSync(list, `${paths.join('\n')}\n`);
  const { hostname, port } = new URL(address);
  const numbers = [seconds, ratePerSecond, connections, seed, requestsMax].map(String);
  const file = `${list}.latencies`;
  try {
    const { stdout } = await run(PROGRAM, [hostname, port, key, list, ...numbers, ...(each ? [file] : [])]);
    const figures = JSON.parse(stdout);
    if (!each) return figures;
    const lines = readFileSync(file, 'utf8').trim().split('\n').map((line) => line.split(' ').map(Number)); // prettier-ignore
    return { ...figures, latencies: lines.map(([latency]) => latency), dueMs: lines.map(([, due]) => due) };
  } finally {
    for (const made of [list, file]) rmSync(made, { force: true });
  }
}
