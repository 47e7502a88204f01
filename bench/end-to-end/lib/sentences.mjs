/**
 * Sentences of the arXiv abstracts as records, the same bytes on every run: any number of short records with facets.
 * If the abstracts have too few, sentences are repeated with every fifth word taken from another sentence (seeded).
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { seededRandom } from './random.mjs';
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

/** Number of original sentences, of which the abstracts have some 1,095,000. Further ones are variations of these. */
const SENTENCES_MAX = 1_000_000;
/** Of so many words, one is taken from another sentence. */
const VARIED_EACH = 5;
const DONORS = 10_000;

/** Makes the file once and keeps it. Resolves with its path and size, or with undefined if the data is missing. */
export async function sentencesFile(count) {
  if (!existsSync(ABSTRACTS)) return undefined;
  mkdirSync(workFolder, { recursive: true });
  const path = join(workFolder, `sentences-${count}.ndjson`);
  if (!existsSync(path)) {
    await writeLines(`${path}.unfinished`, count > SENTENCES_MAX ? grown(count) : sentences(count));
    renameSync(`${path}.unfinished`, path);
  }
  return { path, count, bytes: statSync(path).size };
}

async function writeLines(path, records) {
  const out = createWriteStream(path);
  for await (const record of records) {
    if (!out.write(`${JSON.stringify(record)}\n`)) await once(out, 'drain');
  }
  out.end();
  await once(out, 'finish');
}

async function* sentences(count) {
  const unpack = spawn('xz', ['-dc', ABSTRACTS], { stdio: ['ignore', 'pipe', 'inherit'] });
  let written = 0;
  try {
    for await (const line of createInterface({ input: unpack.stdout })) {
      const { id, abstract, categories, created } = JSON.parse(line);
      const texts = abstract.split(/(?<=[.!?])\s+(?=[A-Z])/).filter((text) => text.length >= SENTENCE_CHARACTERS_MIN);
      for (const [index, text] of texts.entries()) {
        yield {
          name: `${id}/${index + 1}`,
          text,
          category: categories[0],
          created,
          words: text.split(' ').length,
        };
        written += 1;
        if (written === count) return;
      }
    }
  } finally {
    unpack.kill();
  }
  throw new Error(`the abstracts have only ${written} sentences; ${count} were asked for`);
}

async function* grown(count) {
  const random = seededRandom(20);
  const { path } = await sentencesFile(SENTENCES_MAX);
  const donors = [];
  let number = 0;
  for (let round = 0; number < count; round += 1) {
    for await (const line of createInterface({ input: createReadStream(path) })) {
      const record = JSON.parse(line);
      if (round === 0 && donors.length < DONORS) donors.push(record.text.split(' '));
      yield round === 0
        ? record
        : { ...record, name: `${record.name}#${round}`, text: varied(record.text, donors, random) };
      number += 1;
      if (number === count) return;
    }
  }
}

function varied(text, donors, random) {
  const words = text.split(' ');
  for (let at = Math.floor(random() * VARIED_EACH); at < words.length; at += VARIED_EACH) {
    const donor = donors[Math.floor(random() * donors.length)];
    words[at] = donor[Math.floor(random() * donor.length)];
  }
  return words.join(' ');
}

/** Returns the texts of the queries of the given kinds, or of all kinds without any, in a seeded order. */
export function arxivQueries(...kinds) {
  return readFileSync(QUERIES, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ kind }) => kinds.length === 0 || kinds.includes(kind))
    .map(({ text }) => text);
}
