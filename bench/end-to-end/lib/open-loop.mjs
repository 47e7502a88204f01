/** Load at a given rate whether answers come or not: starts bench/end-to-end/open_loop.cc, which it builds when that is new. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
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

/**
 * Resolves with requests/s, failed ones, and p50, p99, p99.9 and the longest in milliseconds; `sentLateP99`: what of it may be
 * the generator's own, which shares the processors.
 */
export async function runOpenLoop({ address, key, paths, seconds, ratePerSecond, seed = 1 }) {
  build();
  const list = join(workFolder, 'open-loop-paths.txt');
  writeFileSync(list, `${paths.join('\n')}\n`);
  const { hostname, port } = new URL(address);
  const numbers = [seconds, ratePerSecond, CONNECTIONS, seed].map(String);
  const { stdout } = await run(PROGRAM, [hostname, port, key, list, ...numbers]);
  return JSON.parse(stdout);
}
