/** Measures the order of results on public test collections, compared with Lucene's BM25 with its English analyzer on the same files. */
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

/** Results of Lucene 8.7: k1 1.2, b 0.75, title and text as one field, any word. */
const LUCENE = {
  cran: { gain: 0.3675, recall: 0.7358 },
  cacm: { gain: 0.4942, recall: 0.6574 },
  med: { gain: 0.6895, recall: 0.7914 },
  npl: { gain: 0.4326, recall: 0.6021 },
  scifact: { gain: 0.6988, recall: 0.9332 },
};

/** Definition of the lists. Title and text are searched; the record's name is the document's id and is not. */
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

/** Returns a row of the table. `ours` and `lucene` have nDCG@10 and recall@100. */
function row(name, ours, lucene, bar) {
  const [what, measured, against, reached] = barRow(
    name,
    ours.gain.toFixed(4),
    lucene.gain.toFixed(4),
    ours.gain / lucene.gain > bar,
  );
  const ratio = `${((ours.gain / lucene.gain - 1) * 100).toFixed(1)} %`;
  return [what, ours.queries, measured, against, ratio, ours.recall.toFixed(4), lucene.recall.toFixed(4), reached];
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
      rows.push(row(name, result, lucene, 1));
    }
  } finally {
    await service.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
  const meansOf = (all) => ({ gain: mean(all.map(({ gain }) => gain)), recall: mean(all.map((each) => each.recall)) });
  rows.push(row('mean', { queries: '', ...meansOf(measured) }, meansOf(Object.values(LUCENE)), MEAN_GAIN_BAR));
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
