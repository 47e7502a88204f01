/** Load at a given rate whether answers come or not, or as much as is answered: starts bench/end-to-end/open_loop.cc, which it builds when that is new. */
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
 * Resolves with requests/s, failed ones, and p50, p99, p99.9 and the longest in milliseconds, of all, of `gets` and of `posts`; `sentLateP99`: what of it may be
 * the generator's own, which shares the processors, and `processorMs`, what it took of them. `paths`: to GET, or `POST <path> <body>`. `ratePerSecond` 0: on each
 * connection the next one when the last is answered. With `each`, the answer has `latencies`, one of each request,
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
