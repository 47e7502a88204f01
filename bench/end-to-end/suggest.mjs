/**
 * Suggestions while titles of 200,000 papers are typed letter by letter: time inside the search worker and over HTTP, one
 * request at a time. `node bench/end-to-end/suggest.mjs`; the papers are those of GANNET_BENCH_PAPERS (NDJSON, xz).
 */
import { spawn } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ReadableStream } from 'node:stream/web';
import { barRow, formatCount, machineTable, markdownTable, quantile } from './lib/report.mjs';
import { ACCOUNT, call, createKey, importNdjson, startService, workFolder } from './lib/service.mjs';

const PAPERS = process.env.GANNET_BENCH_PAPERS ?? '../shared/data/bench/arxiv-200k.ndjson.xz';
const LIST = 'titles';
const TITLES_TYPED = 300;
const LETTERS_TYPED_MAX = 24;
const BAR_MS = 5;
/** Every so many-th letter that is typed is followed by its neighbour in the wrong order. */
const MISTAKE_EVERY = 7;

/** The titles are the names, as of products or places; papers of one title are told apart by their number. */
async function* records(titles) {
  const unpacked = spawn('xzcat', [PAPERS], { stdio: ['ignore', 'pipe', 'inherit'] });
  const seen = new Set();
  for await (const line of createInterface({ input: unpacked.stdout })) {
    const { id, title, abstract } = JSON.parse(line);
    const name = (seen.has(title) ? `${title} ${id}` : title).slice(0, 500);
    seen.add(title);
    titles.push(title);
    yield Buffer.from(`${JSON.stringify({ name, fields: { abstract } })}\n`);
  }
}

function typed(title, mistakes) {
  const steps = [];
  for (let length = 1; length <= Math.min(LETTERS_TYPED_MAX, title.length); length += 1) {
    let text = title.slice(0, length);
    if (mistakes && length > MISTAKE_EVERY) {
      text =
        text.slice(0, MISTAKE_EVERY - 2) +
        text[MISTAKE_EVERY - 1] +
        text[MISTAKE_EVERY - 2] +
        text.slice(MISTAKE_EVERY);
    }
    steps.push(text);
  }
  return steps;
}

async function measure(address, key, texts) {
  const [inside, outside] = [[], []];
  for (const query of texts) {
    const begin = performance.now();
    const { took_ms } = await call(address, key, 'POST', `/suggest/${ACCOUNT}/${LIST}/1`, { query });
    outside.push(performance.now() - begin);
    inside.push(took_ms);
  }
  return { inside, outside };
}

const dataDir = join(workFolder, 'suggest');
if (!existsSync(PAPERS)) throw new Error(`${PAPERS} is missing`);
rmSync(dataDir, { recursive: true, force: true });
const service = await startService(dataDir);
try {
  const key = createKey(dataDir);
  const definition = { searchable_fields: [{ name: 'name', weight: 2 }, { name: 'abstract' }] };
  await call(service.address, key, 'POST', `/list/${ACCOUNT}`, { name: LIST, ...definition });
  const titles = [];
  const { answer } = await importNdjson(service.address, key, LIST, ReadableStream.from(records(titles)));
  const step = Math.floor(titles.length / TITLES_TYPED);
  const chosen = titles.filter((_title, index) => index % step === 0);
  const rows = [];
  for (const mistakes of [false, true]) {
    const texts = chosen.flatMap((title) => typed(title, mistakes));
    await measure(service.address, key, texts.slice(0, 500));
    const { inside, outside } = await measure(service.address, key, texts);
    const ms = (values, part) => `${quantile(values, part).toFixed(2)} ms`;
    const what = mistakes ? 'two letters exchanged' : 'typed well';
    const p99 = quantile(inside, 0.99);
    rows.push(
      [`${what}, in the worker, p50`, ms(inside, 0.5), '', ''],
      barRow(`${what}, in the worker, p99`, ms(inside, 0.99), `${BAR_MS} ms`, p99 <= BAR_MS),
      [`${what}, in the worker, slowest`, ms(inside, 1), '', ''],
      [`${what}, over HTTP, p50`, ms(outside, 0.5), '', ''],
      barRow(`${what}, over HTTP, p99`, ms(outside, 0.99), `${BAR_MS} ms`, quantile(outside, 0.99) <= BAR_MS),
    );
  }
  process.stdout.write(
    [
      '## Suggestions\n',
      machineTable({
        Data: `${formatCount(answer.created)} papers, titles as names`,
        Typed: `${chosen.length} titles, letter by letter`,
      }),
      markdownTable(['What', 'Measured', 'Bar', ''], rows),
    ].join('\n'),
  );
} finally {
  await service.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
