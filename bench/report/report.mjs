/**
 * `npm run bench:report [part …]`: runs the benchmarks, prints their tables as one Markdown page, and writes it with charts
 * into docs/: benchmarks.md and benchmarks/*.svg. With parts named, only these are measured; all else on the page stays,
 * also sections that no part makes. Long parts are only measured when they are named.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { helpWhereAsked } from '../end-to-end/lib/options.mjs';
import { root } from '../end-to-end/lib/service.mjs';
import { chartsOf } from './charts.mjs';
import { pageOf, sectionsOf, withMeasured } from './page.mjs';

const END_TO_END = 'bench/end-to-end/run.mjs';
const PARTS = {
  peers: { title: 'The kernel beside other engines', command: ['bench/peers/run.mjs'] },
  services: { title: 'Services beside each other', command: ['bench/peers/http/run.mjs'] },
  vectors: { title: 'Nearest vectors', command: ['bench/vectors/run.mjs'] },
  'vectors-million': {
    title: 'A million vectors',
    command: ['bench/vectors/run.mjs', '1000000'],
    isLong: true,
  },
  'vectors-start': {
    title: 'Start with a million vectors',
    command: ['bench/vectors/memory.mjs', '1000000', '128', 'start'],
    isLong: true,
  },
  'vectors-deletions': {
    title: 'Half of a million vectors deleted',
    command: ['bench/vectors/deletions.mjs'],
    isLong: true,
  },
  micro: { title: 'Units of work', command: ['bench/micro/run.mjs'] },
  import: { title: 'Import', command: [END_TO_END, 'import'] },
  start: { title: 'Start and memory', command: [END_TO_END, 'start'] },
  search: { title: 'Search throughput', command: [END_TO_END, 'search'] },
  load: { title: 'Load', command: [END_TO_END, 'load'] },
  indexing: { title: 'Indexing', command: [END_TO_END, 'indexing'] },
  growth: {
    title: 'Growth',
    command: ['bench/end-to-end/growth.mjs', '--sizes', '100000,1000000,10000000'],
    isLong: true,
  },
  scaling: { title: 'More processors', command: ['bench/end-to-end/scaling.mjs'] },
  'many-lists': {
    title: 'Many lists',
    command: ['bench/end-to-end/many-lists.mjs', '--lists', '10000'],
    isLong: true,
  },
  rebuild: { title: 'Rebuilding an index', command: [END_TO_END, 'rebuild'] },
  suggest: { title: 'Suggestions', command: [END_TO_END, 'suggest'] },
  pages: { title: 'Pages of documents beside records', command: ['bench/documents/pages.mjs'], isLong: true },
  meaning: {
    title: 'Words and meaning of a million records',
    command: ['bench/meaning/beside-words.mjs', '--records', '1000000', '--own', '--rounds', '7', '--searches', '1000'],
    isLong: true,
  },
  writes: {
    title: 'Writes beside searches of a million records',
    command: ['bench/end-to-end/writes-beside.mjs', '--records', '1000000', '--rounds', '5', '--seconds', '5', 'new=.'],
    isLong: true,
  },
  feeds: { title: 'Feeds beside searches', command: ['bench/feeds/beside.mjs', '--rounds', '10'], isLong: true },
  soak: {
    title: 'A day in an hour',
    command: ['bench/soak/run.mjs', '60', '--drawing', 'docs/benchmarks/soak.svg'],
    drawing: 'soak',
    isLong: true,
  },
  onnx: { title: 'Models of ONNX folders', command: ['bench/meaning/onnx.mjs'], isLong: true },
  analytics: { title: 'Analytics', command: [END_TO_END, 'analytics'] },
  webhooks: { title: 'Webhooks', command: [END_TO_END, 'webhooks'] },
  relevance: { title: 'Order of results', command: ['bench/relevance/run.mjs', 'collections'] },
};
const CHART_TITLES = {
  peers: 'Time by kind of query',
  load: 'Latency by load',
  indexing: 'Import by size',
  growth: 'A search by size',
  soak: 'What a soak takes',
};
const PAGE = join(root, 'docs', 'benchmarks.md');
const CHARTS = join(root, 'docs', 'benchmarks');
const INTRODUCTION = `# Benchmarks

\`npm run bench:report\` makes this page. [bench/README.md](../bench/README.md) says what each part measures. If the machine has other work to
do, times are longer, but ratios between engines hold, because the engines take turns.
`;

helpWhereAsked();
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !Object.hasOwn(PARTS, name));
if (unknown.length > 0) {
  process.stderr.write(`Unknown: ${unknown.join(', ')}. There are: ${Object.keys(PARTS).join(', ')}.\n`);
  process.exit(2);
}

/** Runs a command. Returns its output from the first heading or table on. */
async function run(command) {
  const child = spawn(process.execPath, command, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  const code = await new Promise((resolve) => child.once('exit', resolve));
  if (code !== 0) throw new Error(`${command.join(' ')} ended with exit status ${code}:\n${output}`);
  const begin = output.search(/^(#|\|)/m);
  return (begin < 0 ? output : output.slice(begin)).replace(/^## .*\n+/, '').trim();
}

mkdirSync(CHARTS, { recursive: true });
const measured = new Map();
for (const [name, { title, command, isLong, drawing }] of Object.entries(PARTS)) {
  if (wanted.length === 0 ? isLong === true : !wanted.includes(name)) continue;
  process.stderr.write(`Measuring: ${title} …\n`);
  const text = await run(command);
  const charts = chartsOf(text).map(([chart, svg]) => {
    writeFileSync(join(CHARTS, `${chart}.svg`), svg);
    return chart;
  });
  const images = [...charts, ...(drawing === undefined ? [] : [drawing])].map(
    (chart) => `![${CHART_TITLES[chart]}](benchmarks/${chart}.svg)\n`,
  );
  measured.set(title, [...images, text].join('\n'));
}
const order = Object.values(PARTS).map(({ title }) => title);
const before = existsSync(PAGE) ? sectionsOf(readFileSync(PAGE, 'utf8')) : [];
const page = pageOf(INTRODUCTION, withMeasured(before, measured, order));
writeFileSync(PAGE, page);
process.stdout.write(page);
