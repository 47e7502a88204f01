/** Order of results on public test collections, against Lucene's BM25 with its English analyser on the same files. */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { barRow, machineTable, markdownTable } from '../end-to-end/lib/report.mjs';
import { ACCOUNT, call, createKey, importNdjson, startService, workFolder } from '../end-to-end/lib/service.mjs';
import { collectionsFolder, judgements, queriesOf, recordsOf } from './collection-files.mjs';
import { mean, normalisedDiscountedGain, recall } from './evaluation.mjs';

const NDCG_DEPTH = 10;
const RECALL_DEPTH = 100;
const MEAN_GAIN_BAR = 1.03;

/** nDCG@10 and recall@100 of Lucene 8.7: k1 1.2, b 0.75, title and text as one field, any word. */
const LUCENE = {
  cran: [0.3675, 0.7358],
  cacm: [0.4942, 0.6574],
  med: [0.6895, 0.7914],
  npl: [0.4326, 0.6021],
  scifact: [0.6988, 0.9332],
};

/** Title and text carry the words; the record's name is the document's id and is not searched. */
const DEFINITION = {
  language: 'en',
  searchable_fields: [
    { name: 'title', weight: 1 },
    { name: 'text', weight: 1 },
  ],
};

async function importCollection(address, key, name) {
  await call(address, key, 'POST', `/list/${ACCOUNT}`, { name, ...DEFINITION });
  const records = recordsOf(name).map((record) => `${JSON.stringify(record)}\n`);
  await importNdjson(address, key, name, Readable.from(records));
}

async function measureCollection(address, key, name) {
  const grades = judgements(name);
  const queries = queriesOf(name);
  const gains = [];
  const recalls = [];
  for (const { id, text } of queries) {
    if (!grades.has(id)) continue;
    const answer = await call(address, key, 'POST', `/search/${ACCOUNT}/${name}/1`, {
      query: text.toLowerCase(),
      match: 'any',
      size: RECALL_DEPTH,
      highlight: false,
      cache: false,
    });
    const ranked = answer.results.map((result) => result.name);
    gains.push(normalisedDiscountedGain(ranked, grades.get(id), NDCG_DEPTH));
    recalls.push(recall(ranked, grades.get(id), RECALL_DEPTH));
  }
  return { queries: gains.length, gain: mean(gains), recall: mean(recalls) };
}

function row(name, queries, gain, found, [luceneGain, luceneRecall], bar) {
  const [what, measured, against, reached] = barRow(
    name,
    gain.toFixed(4),
    luceneGain.toFixed(4),
    gain / luceneGain > bar,
  );
  const ratio = `${((gain / luceneGain - 1) * 100).toFixed(1)} %`;
  return [what, queries, measured, against, ratio, found.toFixed(4), luceneRecall.toFixed(4), reached];
}

export async function measureCollections() {
  if (!existsSync(collectionsFolder)) return 'Relevance: skipped, ../shared/data/relevance is not there.\n';
  const dataDir = join(workFolder, 'relevance');
  rmSync(dataDir, { recursive: true, force: true });
  const service = await startService(dataDir);
  const rows = [];
  const measured = [];
  try {
    const key = createKey(dataDir);
    for (const [name, lucene] of Object.entries(LUCENE)) {
      await importCollection(service.address, key, name);
      const result = await measureCollection(service.address, key, name);
      measured.push(result);
      rows.push(row(name, result.queries, result.gain, result.recall, lucene, 1));
    }
  } finally {
    await service.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
  const of = (member) => mean(measured.map((result) => result[member]));
  const lucene = [0, 1].map((index) => mean(Object.values(LUCENE).map((pair) => pair[index])));
  rows.push(row('mean', '', of('gain'), of('recall'), lucene, MEAN_GAIN_BAR));
  const heading = [
    'Collection',
    'queries',
    'nDCG@10',
    'Lucene',
    'gain',
    'recall@100',
    'Lucene',
    'above (mean: by 3 %)',
  ];
  return [
    '## Order of results\n',
    machineTable({ Settings: 'defaults; match any; queries in lower case; gain = grade, log2 discount' }),
    markdownTable(heading, rows),
  ].join('\n');
}
