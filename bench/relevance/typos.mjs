/** Measures how well misspelt queries find what was meant: generated typos on papers, and real misspellings of English words. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { createInterface } from 'node:readline';
import { gunzipSync } from 'node:zlib';
import { barRow, machineTable, markdownTable } from '../end-to-end/lib/report.mjs';
import { ACCOUNT, call, createKey, importNdjson, root, startService, workFolder } from '../end-to-end/lib/service.mjs';

const data = join(root, '..', 'shared', 'data');
const KEPT_BAR = 0.95;
const FIRST_BAR = 0.8;
const TOP = 10;

async function names(address, key, list, query) {
  const answer = await call(address, key, 'POST', `/search/${ACCOUNT}/${list}/1`, {
    query,
    size: TOP,
    highlight: false,
    cache: false,
  });
  return answer.results.map((result) => result.name);
}

async function* papers() {
  const child = spawn('xz', ['-dc', join(data, 'bench', 'arxiv-200k.ndjson.xz')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const { id, title, abstract } = JSON.parse(line);
    yield `${JSON.stringify({ name: id, fields: { title, abstract } })}\n`;
  }
}

/** Returns, of the queries whose source paper is among the first ten if spelt correctly, how many keep it there if misspelt. */
export async function measurePapers(address, key) {
  await call(address, key, 'POST', `/list/${ACCOUNT}`, {
    name: 'papers',
    searchable_fields: [{ name: 'title' }, { name: 'abstract' }].map((field) => ({ ...field, weight: 1 })),
  });
  await importNdjson(address, key, 'papers', Readable.from(papers()));
  const queries = readFileSync(join(data, 'bench', 'arxiv-queries.ndjson'), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
    .filter((query) => query.kind === 'typo');
  let there = 0;
  let kept = 0;
  for (const { text, intended, doc } of queries) {
    if (!(await names(address, key, 'papers', intended)).includes(doc)) continue;
    there += 1;
    if ((await names(address, key, 'papers', text)).includes(doc)) kept += 1;
  }
  return { there, kept, all: queries.length };
}

/**
 * True if the contract lets the intended word come first: it is in the list, and the misspelling has four letters or more
 * and is no word of the list itself (which then comes first, as typed).
 */
const isForgiven = (query, expected, known) => [...query].length >= 4 && !known.has(query) && known.has(expected);

/** Returns the share of misspellings at a distance whose intended word is the first result, on a list of English words. */
export async function measureWords(address, key) {
  const words = gunzipSync(readFileSync(join(data, 'typos', 'frequency-dictionary.txt.gz')))
    .toString('utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split(' '));
  await call(address, key, 'POST', `/list/${ACCOUNT}`, {
    name: 'words',
    searchable_fields: [{ name: 'word', weight: 1 }],
    facets: [{ name: 'frequency', type: 'number', cardinality: 'Single' }],
  });
  const records = words.map(
    ([word, frequency]) => `${JSON.stringify({ name: word, fields: { word, frequency: Number(frequency) } })}\n`,
  );
  await importNdjson(address, key, 'words', Readable.from(records));
  const byDistance = new Map();
  const known = new Set(words.map(([word]) => word));
  const rows = readFileSync(join(data, 'typos', 'noisy-queries.tsv'), 'utf8')
    .split('\n')
    .slice(1)
    .filter(Boolean);
  for (const row of rows) {
    const [query, expected, distance] = row.split('\t');
    const seen = byDistance.get(distance) ?? { count: 0, first: 0, top: 0, forgiven: 0, forgivenFirst: 0 };
    const found = await names(address, key, 'words', query);
    seen.count += 1;
    if (isForgiven(query, expected, known)) {
      seen.forgiven += 1;
      if (found[0] === expected) seen.forgivenFirst += 1;
    }
    if (found[0] === expected) seen.first += 1;
    if (found.includes(expected)) seen.top += 1;
    byDistance.set(distance, seen);
  }
  return byDistance;
}

const share = (part, whole) => `${((100 * part) / whole).toFixed(1)} %`;

export async function measureTypos() {
  if (!existsSync(data)) return 'Typos: skipped, ../shared/data is not there.\n';
  const dataDir = join(workFolder, 'typos');
  rmSync(dataDir, { recursive: true, force: true });
  const service = await startService(dataDir);
  try {
    const key = createKey(dataDir);
    const byDistance = await measureWords(service.address, key);
    const { there, kept, all } = await measurePapers(service.address, key);
    const words = [...byDistance].sort().flatMap(([distance, { count, first, top, forgiven, forgivenFirst }]) => {
      const all = [
        `misspelt words, distance ${distance}: intended word first (in the first ten)`,
        `${share(first, count)} of ${count} (${share(top, count)})`,
        '',
        '',
      ];
      if (distance !== '1') return [all];
      const reached = forgivenFirst / forgiven >= FIRST_BAR ? 'reached' : '**missed**';
      const name = 'of these: of four letters or more, no word themselves, intended word in the list: first';
      return [all, [name, `${share(forgivenFirst, forgiven)} of ${forgiven}`, share(FIRST_BAR, 1), reached]];
    });
    return [
      '## Typos\n',
      machineTable({ Data: 'arXiv, 200,000 papers; frequency dictionary, 82,834 words' }),
      markdownTable(
        ['What', 'Measured', 'Bar', ''],
        [
          barRow(
            `papers kept in the first ten, of ${there} of ${all} there`,
            share(kept, there),
            share(KEPT_BAR, 1),
            kept / there >= KEPT_BAR,
          ),
          ...words,
        ],
      ),
    ].join('\n');
  } finally {
    await service.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}
