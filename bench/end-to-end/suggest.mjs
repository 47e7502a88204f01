/**
 * Measures suggestions while titles of 200,000 papers are typed letter by letter: time inside the search worker, over HTTP one request
 * at a time, and processor time of the whole service. The titles are the names of the records, as for products or places.
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ReadableStream } from 'node:stream/web';
import { Client } from 'undici';
import { barRow, formatCount, machineTable, markdownTable, quantile } from './lib/report.mjs';
import { ACCOUNT, call, createKey, importNdjson, root, startService, untilMerged, workFolder } from './lib/service.mjs';

const PAPERS = join(root, '..', 'shared', 'data', 'bench', 'arxiv-200k.ndjson.xz');
const LIST = 'titles';
const TITLES_TYPED = 300;
const LETTERS_TYPED_MAX = 24;
const WARM_UP_REQUESTS = 500;
const BAR_MS = 5;
/** Place of the typo: this letter and the one before are swapped. */
const MISTAKE_AT = 7;
/** Ranges of the number of typed letters, from and to. */
const LENGTHS = [
  [1, 1],
  [2, 2],
  [3, 3],
  [4, 7],
  [8, 15],
  [16, LETTERS_TYPED_MAX],
];

/** Yields the papers as records. A repeated title gets the id of its paper. */
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

async function importTitles(dataDir, marker) {
  rmSync(dataDir, { recursive: true, force: true });
  const service = await startService(dataDir);
  try {
    const key = createKey(dataDir);
    const definition = { searchable_fields: [{ name: 'name', weight: 2 }, { name: 'abstract' }] };
    await call(service.address, key, 'POST', `/list/${ACCOUNT}`, { name: LIST, ...definition });
    const titles = [];
    await importNdjson(service.address, key, LIST, ReadableStream.from(records(titles)));
    await untilMerged(dataDir);
    const step = Math.floor(titles.length / TITLES_TYPED);
    const chosen = titles.filter((_title, index) => index % step === 0);
    writeFileSync(marker, JSON.stringify({ key, count: titles.length, chosen }));
  } finally {
    await service.stop();
  }
}

function typed(title, withMistake) {
  const swapped =
    title.slice(0, MISTAKE_AT - 2) + title[MISTAKE_AT - 1] + title[MISTAKE_AT - 2] + title.slice(MISTAKE_AT);
  const text = withMistake && title.length > MISTAKE_AT ? swapped : title;
  const lengths = Array.from({ length: Math.min(LETTERS_TYPED_MAX, title.length) }, (_, index) => index + 1);
  return lengths.map((length) => text.slice(0, length));
}

/** Sends requests over one connection with a cheap client, as fetch alone takes up to several milliseconds now and then. */
async function measure(service, key, texts) {
  const client = new Client(service.address);
  const headers = { 'x-api-key': key };
  const requests = [];
  const cpuBegin = service.cpuMs();
  for (const query of texts) {
    const path = `/suggest/${ACCOUNT}/${LIST}/1?${new URLSearchParams({ query })}`;
    const begin = performance.now();
    const { statusCode, body } = await client.request({ method: 'GET', path, headers });
    const text = await body.text();
    const outsideMs = performance.now() - begin;
    if (statusCode !== 200) throw new Error(`GET ${path}: ${statusCode} ${text}`);
    requests.push({ length: query.length, insideMs: JSON.parse(text).took_ms, outsideMs });
  }
  const cpuMs = (service.cpuMs() - cpuBegin) / texts.length;
  await client.close();
  return { requests, cpuMs };
}

const ms = (value) => `${value.toFixed(2)} ms`;

function summary(what, { requests, cpuMs }) {
  const inside = requests.map(({ insideMs }) => insideMs);
  const outside = requests.map(({ outsideMs }) => outsideMs);
  const p99 = quantile(inside, 0.99);
  return [
    [`${what}, in the worker, p50`, ms(quantile(inside, 0.5)), '', ''],
    barRow(`${what}, in the worker, p99`, ms(p99), `${BAR_MS} ms`, p99 <= BAR_MS),
    [`${what}, in the worker, slowest`, ms(quantile(inside, 1)), '', ''],
    [`${what}, over HTTP, p50`, ms(quantile(outside, 0.5)), '', ''],
    barRow(`${what}, over HTTP, p99`, ms(quantile(outside, 0.99)), `${BAR_MS} ms`, quantile(outside, 0.99) <= BAR_MS),
    [`${what}, processor time of the service, mean`, ms(cpuMs), '', ''],
  ];
}

/** Returns p50 / p99 in the worker by the number of letters. */
function byLength({ requests }) {
  return LENGTHS.map(([from, to]) => {
    const inside = requests.filter(({ length }) => length >= from && length <= to).map(({ insideMs }) => insideMs);
    return `${ms(quantile(inside, 0.5))} / ${ms(quantile(inside, 0.99))}`;
  });
}

export async function measureSuggest({ fresh }) {
  if (!existsSync(PAPERS)) return `## Suggestions\n\nSkipped: ${PAPERS} is not there.\n`;
  const dataDir = join(workFolder, 'suggest');
  const marker = join(dataDir, 'bench-imported.json');
  if (fresh || !existsSync(marker)) await importTitles(dataDir, marker);
  const { key, count, chosen } = JSON.parse(readFileSync(marker, 'utf8'));
  const service = await startService(dataDir);
  const measured = [];
  try {
    for (const withMistake of [false, true]) {
      const texts = chosen.flatMap((title) => typed(title, withMistake));
      await measure(service, key, texts.slice(0, WARM_UP_REQUESTS));
      measured.push(await measure(service, key, texts));
    }
  } finally {
    await service.stop();
  }
  const [well, badly] = measured;
  return [
    '## Suggestions\n',
    machineTable({
      Data: `${formatCount(count)} papers, titles as names`,
      Typed: `${chosen.length} titles, letter by letter, well and with letters ${MISTAKE_AT - 1} and ${MISTAKE_AT} exchanged`,
    }),
    markdownTable(
      ['What', 'Measured', 'Bar', ''],
      [...summary('typed well', well), ...summary('two letters exchanged', badly)],
    ),
    markdownTable(
      [
        'In the worker, p50 / p99, letters typed',
        ...LENGTHS.map(([from, to]) => (from === to ? from : `${from}–${to}`)),
      ],
      [
        ['typed well', ...byLength(well)],
        ['two letters exchanged', ...byLength(badly)],
      ],
    ),
  ].join('\n');
}
