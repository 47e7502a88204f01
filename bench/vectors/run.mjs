/**
 * Compares searches for the nearest vectors with hnswlib, USearch, FAISS and Lucene; compare.py says what is printed.
 *
 *   node bench/vectors/run.mjs [COUNT [DIMENSIONS [FILE]]]     default 100000 x 128, made around centres
 *
 * FILE has COUNT + 500 rows of f32. Peers are fetched into GANNET_BENCH_VECTORS (default: a folder in the system's temporary folder)
 * by the ordinary clients of PyPI, npm and Maven, and what is built is kept there. Takes some minutes; an hour for 1,000,000. Lucene is skipped, with a message,
 * if there is no mvn or no JDK of version 21 or later in JAVA_HOME.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { helpWhereAsked } from '../end-to-end/lib/options.mjs';
import { buildBench, folder, run } from './fetch-hnswlib.mjs';

const PACKAGES = ['numpy==2.4.6', 'usearch==2.26.6', 'faiss-cpu==1.15.1'];

helpWhereAsked();
const [count = '100000', dimensions = '128', file = join(folder, `made-${count}-${dimensions}.f32`)] =
  process.argv.slice(2);

const bench = buildBench('vector_bench');
const python = join(folder, 'python', 'bin', 'python');
if (!existsSync(python)) {
  run(['python3', '-m', 'venv', join(folder, 'python')]);
  run([python, '-m', 'pip', 'install', '-q', ...PACKAGES]);
}
const lucene = spawnSync('sh', [join(import.meta.dirname, '../peers/build.sh'), 'lucene-vectors', folder], {
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 2],
});
if (lucene.status === 0) process.env.GANNET_BENCH_LUCENE = lucene.stdout.trim();
run([python, join(import.meta.dirname, 'compare.py'), bench, file, count, dimensions], { output: 1 });
