/** WordNet as NDJSON, and a seeded list of queries made of its words. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { seededRandom } from './random.mjs';
import { root, workFolder } from './service.mjs';

/** Words that nobody searches for by themselves. */
const FUNCTION_WORDS = new Set(
  'the and for with that from are was not but its has have had who which when where into than then this such one any all some used being having made other without'.split(
    ' ',
  ),
);

async function converters() {
  const folder = join(root, 'dist', 'src', 'cli', 'demo');
  const { wordnetRecords } = await import(join(folder, 'wordnet.js'));
  const { WORDNET } = await import(join(folder, 'lists.js'));
  return { wordnetRecords, definition: WORDNET.definition };
}

/** `{ file, count, definition }`; the file is made once. */
export async function wordnetFile() {
  const { wordnetRecords, definition } = await converters();
  const records = await wordnetRecords();
  mkdirSync(workFolder, { recursive: true });
  const file = join(workFolder, `wordnet-${records.length}.ndjson`);
  if (!existsSync(file)) writeFileSync(file, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  return { file, count: records.length, definition };
}

/** Queries of one to three words (a third each), each taken from the words and the gloss of one record. */
export async function wordnetQueries(count, seed = 20261121) {
  const { wordnetRecords } = await converters();
  const records = await wordnetRecords();
  const random = seededRandom(seed);
  const queries = [];
  while (queries.length < count) {
    const { words, gloss } = records[Math.floor(random() * records.length)].fields;
    const pool = `${words.join(' ')} ${gloss}`.toLowerCase().match(/[a-z]{3,}/g) ?? [];
    const usable = [...new Set(pool)].filter((word) => !FUNCTION_WORDS.has(word));
    const length = (queries.length % 3) + 1;
    if (usable.length < length) continue;
    const chosen = [];
    while (chosen.length < length) chosen.push(...usable.splice(Math.floor(random() * usable.length), 1));
    queries.push(chosen.join(' '));
  }
  return queries;
}
