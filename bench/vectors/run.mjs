/**
 * Nearest vectors beside hnswlib, USearch and FAISS; compare.py says what is printed.
 *
 *   node bench/vectors/run.mjs [COUNT [DIMENSIONS [FILE]]]     default 100000 x 128, made around centres
 *
 * FILE has COUNT + 500 rows of f32. Peers are fetched into GANNET_BENCH_VECTORS (default: a folder in the system's for temporary files)
 * by the ordinary clients of PyPI and npm, and what is built is kept there. Some minutes; an hour for 1,000,000.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const PACKAGES = ['numpy==2.4.6', 'usearch==2.26.6', 'faiss-cpu==1.15.1'];
const HNSWLIB = 'hnswlib-node@3.0.0';

const root = dirname(dirname(import.meta.dirname));
const folder = process.env.GANNET_BENCH_VECTORS ?? join(tmpdir(), 'gannet-bench-vectors');
const [count = '100000', dimensions = '128', file = join(folder, `made-${count}-${dimensions}.f32`)] =
  process.argv.slice(2);

/** Runs it, its lines to `output`; ends with it where it fails. */
function run(command, { cwd = root, output = 2 } = {}) {
  const { status, error } = spawnSync(command[0], command.slice(1), { cwd, stdio: ['ignore', output, 2] });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

mkdirSync(folder, { recursive: true });
if (!existsSync(join(folder, 'hnswlib'))) {
  run(['npm', 'pack', '--silent', HNSWLIB], { cwd: folder });
  mkdirSync(join(folder, 'hnswlib'));
  run(['tar', 'xzf', `${HNSWLIB.replace('@', '-')}.tgz`, '-C', 'hnswlib'], { cwd: folder });
}
const python = join(folder, 'python', 'bin', 'python');
if (!existsSync(python)) {
  run(['python3', '-m', 'venv', join(folder, 'python')]);
  run([python, '-m', 'pip', 'install', '-q', ...PACKAGES]);
}
const build = join(folder, 'build');
const bench = join(build, 'bench-vector_bench');
run(['make', '-s', '-C', 'native-bindings', `HNSWLIB_DIR=${folder}/hnswlib/package/src`, `BUILD=${build}`, bench]);
run([python, join(import.meta.dirname, 'compare.py'), bench, file, count, dimensions], { output: 1 });
