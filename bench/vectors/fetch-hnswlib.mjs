/** Fetches hnswlib from the npm package `hnswlib-node`, and builds programs of native-bindings/bench with it. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const HNSWLIB = 'hnswlib-node@3.0.0';

const root = dirname(dirname(import.meta.dirname));
export const folder = process.env.GANNET_BENCH_VECTORS ?? join(tmpdir(), 'gannet-bench-vectors');

/** Runs a command with its output to `output`. Exits if it fails. */
export function run(command, { cwd = root, output = 2 } = {}) {
  const { status, error } = spawnSync(command[0], command.slice(1), { cwd, stdio: ['ignore', output, 2] });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

/** Builds a program of native-bindings/bench. Returns its path. */
export function buildBench(name) {
  mkdirSync(folder, { recursive: true });
  if (!existsSync(join(folder, 'hnswlib'))) {
    run(['npm', 'pack', '--silent', HNSWLIB], { cwd: folder });
    mkdirSync(join(folder, 'hnswlib'));
    run(['tar', 'xzf', `${HNSWLIB.replace('@', '-')}.tgz`, '-C', 'hnswlib'], { cwd: folder });
  }
  const build = join(folder, 'build');
  const bench = join(build, `bench-${name}`);
  run(['make', '-s', '-C', 'native-bindings', `HNSWLIB_DIR=${folder}/hnswlib/package/src`, `BUILD=${build}`, bench]);
  return bench;
}
