/** WordNet as NDJSON, and a seeded list of queries from its words. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WORDNET } from '#src/cli/demo/lists.js';
import { wordnetRecords } from '#src/cli/demo/wordnet.js';
import { seededRandom } from './random.mjs';
import { workFolder } from './service.mjs';

/** @typedef {{ name: string; fields: { words: readonly string[]; gloss: string } }} Synset */
/** @typedef {import('#src/catalog/types.js').FieldDefinition} FieldDefinition */

/** Words that are not searched for alone. */
const FUNCTION_WORDS = new Set(
  'the and for with that from are was not but its has have had who which when where into than then this such one any all some used being having made other without'.split(
    ' ',
  ),
);

/** Synsets as records, with types for the fields that are read here. */
export const wordnetSynsets = async () => /** @type {Synset[]} */ (await wordnetRecords());

/** Returns `{ file, count, definition }`. The file is made once. */
export async function wordnetFile() {
  const definition = /** @type {Pick<FieldDefinition, 'searchable_fields' | 'facets'>} */ (WORDNET.definition);
  const records = await wordnetSynsets();
  mkdirSync(workFolder, { recursive: true });
  const file = join(workFolder, `wordnet-${records.length}.ndjson`);
  if (!existsSync(file)) writeFileSync(file, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  return { file, count: records.length, definition };
}

/** Returns queries of one to three words (a third each), each taken from the words and the gloss of one record. */
export async function wordnetQueries(count, seed = 20261121) {
  const records = await wordnetSynsets();
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
