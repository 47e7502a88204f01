/**
 * Sentences of the arXiv abstracts as records, the same bytes on every run: short records with facets, as many as are
 * asked for (200,000 abstracts have some 1.3 million).
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync, mkdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { root, workFolder } from './service.mjs';

const DATA = join(root, '..', 'shared', 'data', 'bench');
export const ABSTRACTS = join(DATA, 'arxiv-200k.ndjson.xz');
const QUERIES = join(DATA, 'arxiv-queries.ndjson');
const SENTENCE_CHARACTERS_MIN = 20;

/** @type {Pick<import('#src/catalog/types.js').FieldDefinition, 'searchable_fields' | 'facets'>} */
export const SENTENCES_DEFINITION = {
  searchable_fields: [{ name: 'text', weight: 1 }],
  facets: [
    { name: 'category', type: 'string', cardinality: 'Single' },
    { name: 'created', type: 'date', cardinality: 'Single' },
    { name: 'words', type: 'number', cardinality: 'Single' },
  ],
};

/** Makes the file once and keeps it. Resolves with its path and size, or with undefined where the data is absent. */
export async function sentencesFile(count) {
  if (!existsSync(ABSTRACTS)) return undefined;
  mkdirSync(workFolder, { recursive: true });
  const path = join(workFolder, `sentences-${count}.ndjson`);
  if (!existsSync(path))
    await writeSentences(`${path}.unfinished`, count).then(() => renameSync(`${path}.unfinished`, path));
  return { path, count, bytes: statSync(path).size };
}

async function writeSentences(path, count) {
  const unpack = spawn('xz', ['-dc', ABSTRACTS], { stdio: ['ignore', 'pipe', 'inherit'] });
  const out = createWriteStream(path);
  let written = 0;
  for await (const line of createInterface({ input: unpack.stdout })) {
    const { id, abstract, categories, created } = JSON.parse(line);
    const sentences = abstract.split(/(?<=[.!?])\s+(?=[A-Z])/).filter((text) => text.length >= SENTENCE_CHARACTERS_MIN);
    for (const [index, text] of sentences.entries()) {
      if (written === count) break;
      written += 1;
      const record = {
        name: `${id}/${index + 1}`,
        text,
        category: categories[0],
        created,
        words: text.split(' ').length,
      };
      if (!out.write(`${JSON.stringify(record)}\n`)) await once(out, 'drain');
    }
    if (written === count) break;
  }
  unpack.kill();
  out.end();
  await once(out, 'finish');
  if (written < count) throw new Error(`the abstracts have only ${written} sentences; ${count} were asked for`);
}

/** Texts of the queries of the kinds named, of all kinds when none is, in a seeded order. */
export function arxivQueries(...kinds) {
  return readFileSync(QUERIES, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ kind }) => kinds.length === 0 || kinds.includes(kind))
    .map(({ text }) => text);
}
