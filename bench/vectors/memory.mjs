/**
 * Measures the memory of a million vectors compared with hnswlib, and the start of a service that has them.
 *
 *   node bench/vectors/memory.mjs [COUNT [DIMENSIONS [memory | start]]]     default 1000000 x 128, both parts
 *
 * Prints Markdown. Memory: vector_memory_bench.cc says what is counted. Start: COUNT records with these vectors are imported once by HTTP, 50,000 per request, and kept; then the
 * service is started five times, and answers a search by a vector. All data is kept in GANNET_BENCH_VECTORS (default: a folder in the system's temporary
 * folder); hnswlib comes from npm (fetch-hnswlib.mjs). The first run takes some ten minutes of processor time for building.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { helpWhereAsked } from '../end-to-end/lib/options.mjs';
import { barRow, formatCount, machineTable, markdownTable, quantile } from '../end-to-end/lib/report.mjs';
import { ACCOUNT, call, startService } from '../end-to-end/lib/service.mjs';
import { buildBench, folder } from './fetch-hnswlib.mjs';
import { importedService, LIST, MadeRows, QUERIES } from './made-rows.mjs';

const MEMORY_BAR = 0.45;
const START_MS_BAR = 1000;
const STARTS = 5;

helpWhereAsked();
const [count, dimensions] = [Number(process.argv[2] ?? 1_000_000), Number(process.argv[3] ?? 128)];
const part = process.argv[4];
const file = join(folder, `made-${count}-${dimensions}.f32`);
const made = () => new MadeRows({ file, count, dimensions });
const mebibytes = (bytes) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;

function measureMemory(bench) {
  const printed = ['ours', 'hnswlib'].map((what) =>
    execFileSync(bench, [what, String(count), String(dimensions), file], { encoding: 'utf8' }),
  );
  const rows = printed
    .join('')
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t'));
  const bytesOf = (engine, when) => {
    const [, , own, mapped] = rows.find(([name, at]) => name === engine && at === when);
    return { own: Number.parseInt(own, 10), mapped: Number.parseInt(mapped, 10) };
  };
  const table = ['opened', '500 searches', '20,000 more'].map((when) => {
    const [ours, theirs] = [bytesOf('ours', when), bytesOf('hnswlib', when)];
    const times = ours.own / theirs.own;
    const [, found, bar, reached] = barRow('', times.toFixed(4), `≤ ${MEMORY_BAR}`, times <= MEMORY_BAR);
    return [when, mebibytes(ours.own), mebibytes(ours.mapped), mebibytes(theirs.own), found, bar, reached];
  });
  const [, , whole] = rows.find(([name, what]) => name === 'ours' && what === 'file');
  return [
    `## Memory of ${formatCount(count)} vectors\n`,
    machineTable({
      Data: `made around centres, ${dimensions} dimensions; the file has ${mebibytes(Number.parseInt(whole, 10))}`,
      Counted:
        'RssAnon, and Rss of the mapped file with what the system maps beside what is read; without what the process had before',
    }),
    markdownTable(['after', 'own', 'mapped', 'hnswlib, own', 'own, times hnswlib', 'bar', ''], table),
  ];
}

async function measureStart() {
  const { dataDir, key } = await importedService(made());
  const starts = [];
  let after;
  for (let run = 0; run < STARTS; run += 1) {
    const service = await startService(dataDir);
    const start = { ms: service.readyMs, processorMs: service.cpuMs(), memory: service.memory() };
    const { address } = service;
    const search = (vector) => call(address, key, 'POST', `/search/${ACCOUNT}/${LIST}/1`, { vector, cache: false });
    const [first, ...rest] = made().queries();
    const begun = performance.now();
    const { applied } = await search(first);
    if (applied.meaning !== 'used')
      throw new Error(`a search by a vector was answered with meaning: ${applied.meaning}`);
    starts.push({ ...start, firstMs: performance.now() - begun });
    if (run === STARTS - 1) for (const vector of rest) await search(vector);
    after = service.memory();
    const { meaning } = await call(address, key, 'GET', `/list/${ACCOUNT}/${LIST}`);
    if (meaning.embedded !== count) throw new Error(`${meaning.embedded} of ${count} vectors are there`);
    await service.stop();
  }
  const middle = (member) =>
    quantile(
      starts.map((start) => start[member]),
      0.5,
    );
  const memory = ({ anonymous, files }) =>
    `${Math.round(anonymous)} MiB of its own, ${Math.round(files)} of mapped files`;
  return [
    `## Start with ${formatCount(count)} vectors\n`,
    machineTable({
      Data: `a list of ${formatCount(count)} records, each with a vector of ${dimensions} dimensions, in the page cache`,
    }),
    markdownTable(
      ['What', 'Measured', 'Bar', ''],
      [
        barRow(
          `ready, median of ${STARTS}`,
          `${Math.round(middle('ms'))} ms`,
          `< ${START_MS_BAR} ms`,
          middle('ms') < START_MS_BAR,
        ),
        ['processor time until then', `${Math.round(middle('processorMs'))} ms`, '', ''],
        ['the first search by a vector', `${Math.round(middle('firstMs'))} ms`, '', ''],
        ['resident after the start', memory(starts[0].memory), '', ''],
        [`resident after ${QUERIES} searches`, memory(after), '', ''],
      ],
    ),
  ];
}

const bench = buildBench('vector_memory_bench');
const rows = [part === 'start' ? 'rows' : 'make', String(count), String(dimensions), file];
execFileSync(bench, rows, { stdio: ['ignore', 2, 2] });
if (part !== 'start') process.stdout.write(`${measureMemory(bench).join('\n')}\n`);
if (part !== 'memory') process.stdout.write(`${(await measureStart()).join('\n')}\n`);
