/**
 * The corpus and the queries of the comparison, the same bytes on every run.
 *
 * Text is tokenized here, so that no engine's analysis matters: words of the letters a to z in lower case, separated by
 * spaces. A record has at most 40 words, which all three engines store as an exact length, so that their scores
 * can be compared exactly.
 *
 * The corpus has a line per record: a number 0..99 (for filters), a tab, and the words. Queries have a line each: kind, tab, query. A
 * query is parts separated by spaces: `word`, `+word` (must match), `-word` (must not), `a_b` (phrase), `a~b~c`
 * (alternatives: one word with its other forms, with falling weights), `#10` (only records with a number below 10).
 */
import { createReadStream, createWriteStream, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { join } from 'node:path';

export const RECORD_COUNT = 1_000_000;
const RECORD_WORDS_MAX = 40;
const RECORD_WORDS_MIN = 3;
const FREQUENT_WORDS = 200;
const QUERIES_PER_KIND = 100;
const ALTERNATIVES = 8;
export const FILTER_PERCENTAGES = [1, 10, 50];

/** Returns a generator of numbers in [0, 1) from a seed (mulberry32). */
function seededRandom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const wordsOf = (text) => text.toLowerCase().match(/[a-z]+/g) ?? [];

function* recordsOf(abstract) {
  for (const sentence of abstract.split(/(?<=[.!?])\s+/)) {
    const words = wordsOf(sentence);
    for (let begin = 0; begin < words.length; begin += RECORD_WORDS_MAX) {
      const record = words.slice(begin, begin + RECORD_WORDS_MAX);
      if (record.length >= RECORD_WORDS_MIN) yield record;
    }
  }
}

/** Writes corpus.tsv into the folder if it is missing. Returns its path. */
export async function makeCorpus(data, folder) {
  const path = join(folder, 'corpus.tsv');
  if (existsSync(path)) return path;
  const random = seededRandom(1);
  const unpack = spawn('xz', ['-dc', join(data, 'arxiv-200k.ndjson.xz')], { stdio: ['ignore', 'pipe', 'inherit'] });
  const out = createWriteStream(`${path}.tmp`);
  let count = 0;
  for await (const line of createInterface({ input: unpack.stdout })) {
    for (const words of recordsOf(JSON.parse(line).abstract)) {
      if (count === RECORD_COUNT) break;
      count += 1;
      if (!out.write(`${Math.floor(random() * 100)}\t${words.join(' ')}\n`)) await once(out, 'drain');
    }
    if (count === RECORD_COUNT) break;
  }
  unpack.kill();
  out.end();
  await once(out, 'finish');
  renameSync(`${path}.tmp`, path);
  return path;
}

async function countWords(corpus) {
  const frequencies = new Map();
  for await (const line of createInterface({ input: createReadStream(corpus) })) {
    for (const word of new Set(line.slice(line.indexOf('\t') + 1).split(' '))) {
      frequencies.set(word, (frequencies.get(word) ?? 0) + 1);
    }
  }
  return frequencies;
}

/** Returns words with the same beginning, as substitutes for inflected forms and misspellings. */
function alternativesOf(word, sorted) {
  const begin = word.slice(0, Math.max(3, word.length - 3));
  let at = sorted.findIndex((other) => other >= begin);
  const found = [];
  for (; at >= 0 && at < sorted.length && sorted[at].startsWith(begin) && found.length < ALTERNATIVES - 1; at += 1) {
    if (sorted[at] !== word) found.push(sorted[at]);
  }
  return [word, ...found].join('~');
}

/** Writes queries.tsv into the folder if it is missing. Returns its path. */
export async function makeQueries(data, folder, corpus) {
  const path = join(folder, 'queries.tsv');
  if (existsSync(path)) return path;
  const random = seededRandom(2);
  const pick = (list) => list[Math.floor(random() * list.length)];
  const frequencies = await countWords(corpus);
  const frequent = [...frequencies.keys()].sort((a, b) => frequencies.get(b) - frequencies.get(a));
  const common = frequent.slice(0, FREQUENT_WORDS);
  const sorted = frequent.filter((word) => frequencies.get(word) >= 5).sort();
  const source = readFileSync(join(data, 'arxiv-queries.ndjson'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const known = (kind) =>
    source
      .filter((query) => query.kind === kind)
      .map((query) => wordsOf(query.text).filter((word) => frequencies.has(word)))
      .filter((words) => words.length >= 2);
  const half = QUERIES_PER_KIND / 2;
  const several = [...known('plain').slice(0, half), ...known('frequent').slice(0, half)];
  const phrases = known('phrase').slice(0, QUERIES_PER_KIND);
  const must = (words) => words.map((word) => `+${word}`).join(' ');
  const lines = [];
  const add = (kind, list, write) => list.forEach((words) => lines.push(`${kind}\t${write(words)}\n`));
  add('union', several, (words) => words.join(' '));
  add('intersection', several, must);
  add('phrase', phrases, (words) => `+${words.join('_')}`);
  add('two-phase', phrases, (words) => `+${words.join('_')} +${pick(common)}`);
  add('negated', several, (words) => `${words.join(' ')} -${pick(common)}`);
  add('expanded', several, (words) => words.map((word) => alternativesOf(word, sorted)).join(' '));
  for (const percentage of FILTER_PERCENTAGES) {
    add(`union, ${percentage} % pass`, several, (words) => `${words.join(' ')} #${percentage}`);
    add(`intersection, ${percentage} % pass`, several, (words) => `${must(words)} #${percentage}`);
  }
  writeFileSync(path, lines.join(''));
  return path;
}
