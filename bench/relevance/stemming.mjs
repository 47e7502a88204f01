/**
 * `node bench/relevance/stemming.mjs [--words 50000] [--show 20] [pl cs ru …]`: measures how well stems tell which words are forms of one another, as Markdown.
 *
 * Forms belong together if an entry of a spelling dictionary makes them by its endings (Hunspell's, npm packages `dictionary-…`), among the
 * most frequent words of the language (PyPI's `wordfreq`), weighted by frequency. For languages without such endings, forms with the same base form
 * in PyPI's `simplemma` do. All is fetched into a temporary folder and kept there; nothing of it is shipped. Derived words (`nauczyciel`, `nauczycielka`) count as different.
 *
 * - *Parted*: of the occurrences of other forms of a word, those that do not share its stem.
 * - *Wrong*: of the occurrences that share a word's stem, those of forms of other words.
 * - *Pairs parted*, *pairs wrong in a million*: of pairs of forms of one word and of pairs of forms of different words, whatever their frequency.
 *
 * The kernel's stems are compared with none, the first five letters, and Snowball's newest algorithm if it has one (PyPI's `snowballstemmer`), of words with
 * their marks. `--show` prints the most frequent words that are parted and wrong.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { kernel } from '../../dist/native-bindings/index.js';
import { readOptions } from '../end-to-end/lib/options.mjs';
import { markdownTable } from '../end-to-end/lib/report.mjs';
import { formsByEntry } from './hunspell-forms.mjs';

const TRUNCATED_LETTERS = 5;
/** Languages by tag: the list of frequencies, if it has another name, and the algorithm of Snowball. */
const LANGUAGES = {
  bg: {},
  cs: { snowball: 'czech' },
  de: { snowball: 'german' },
  es: { snowball: 'spanish' },
  fa: { lemmas: 'fa', snowball: 'persian' },
  he: { lemmas: 'he' },
  hr: { frequencies: 'sh', snowball: 'serbian' },
  pl: { snowball: 'polish' },
  ru: { snowball: 'russian' },
  sk: {},
  sl: {},
  uk: {},
};

const { positionals, ...options } = readOptions({ words: 50_000, show: 0 }, { positionals: true });
const folder = join(tmpdir(), 'gannet-stemming');
const python = join(folder, 'python');
mkdirSync(folder, { recursive: true });

const run = (command, args, input) =>
  execFileSync(command, args, { input, encoding: 'utf8', maxBuffer: 2 ** 28, stdio: ['pipe', 'pipe', 'inherit'] });

function dictionary(language) {
  const path = join(folder, 'node_modules', `dictionary-${language}`);
  if (!existsSync(path))
    run('npm', ['install', '--silent', '--ignore-scripts', '--prefix', folder, `dictionary-${language}`]);
  return { aff: readFileSync(join(path, 'index.aff'), 'utf8'), dic: readFileSync(join(path, 'index.dic'), 'utf8') };
}

if (!existsSync(python)) {
  const packages = ['wordfreq', 'snowballstemmer', 'simplemma'];
  run('python3', ['-m', 'pip', 'install', '--quiet', '--no-deps', '--target', python, ...packages]);
}

/** Runs a Python program that has the packages, with `input`. */
function runPython(program, input) {
  return run('env', [`PYTHONPATH=${python}`, 'PYTHONIOENCODING=utf-8', 'python3', '-c', program], input);
}

/** Returns the forms of each word: those of a dictionary entry, or of a base form. */
function formsByWord(language) {
  const { lemmas } = LANGUAGES[language];
  if (lemmas === undefined) return formsByEntry(dictionary(language));
  const program = `from simplemma.strategies.dictionaries.dictionary_factory import DefaultDictionaryFactory
for form, lemma in DefaultDictionaryFactory().get_dictionary('${lemmas}').items():
  text = lambda one: one.decode() if isinstance(one, bytes) else one
  print(text(form) + '\\t' + text(lemma))`;
  const forms = new Map();
  for (const line of runPython(program).split('\n')) {
    const [form, lemma] = line.split('\t');
    if (lemma === undefined) continue;
    if (!forms.has(lemma)) forms.set(lemma, new Set([lemma]));
    forms.get(lemma).add(form);
  }
  return forms.values();
}

/** Decodes MessagePack as far as these lists use it: arrays, strings, and a map of small values. */
function unpacked(bytes) {
  let at = 0;
  const take = (length) => bytes.subarray(at, (at += length));
  const size = (width) => take(width).readUIntBE(0, width);
  const items = (length) => Array.from({ length }, read);
  function read() {
    const tag = size(1);
    if (tag < 0x80) return tag;
    if (tag < 0x90) return items((tag & 0xf) * 2);
    if (tag < 0xa0) return items(tag & 0xf);
    if (tag < 0xc0) return take(tag & 0x1f).toString();
    if (tag === 0xd9) return take(size(1)).toString();
    if (tag === 0xda) return take(size(2)).toString();
    if (tag === 0xdc) return items(size(2));
    if (tag === 0xdd) return items(size(4));
    throw new Error(`a list of frequencies has a value of another kind: 0x${tag.toString(16)}`);
  }
  return read();
}

/** Returns the folded words of a language with their share of all, the most frequent first. `written` is the most frequent spelling. */
function frequentWords(language) {
  const name = LANGUAGES[language].frequencies ?? language;
  const data = join(python, 'wordfreq', 'data');
  const file = [`large_${name}`, `small_${name}`].map((each) => join(data, `${each}.msgpack.gz`)).find(existsSync);
  const words = new Map();
  unpacked(gunzipSync(readFileSync(file))).forEach((list, centibels) => {
    if (!Array.isArray(list) || centibels === 0) return;
    for (const written of list) {
      const term = folded(written);
      if (term === '' || /\d/.test(term)) continue;
      const share = 10 ** (-(centibels - 1) / 100);
      const known = words.get(term);
      if (known === undefined) words.set(term, { share, written });
      else known.share += share;
    }
  });
  return new Map([...words].sort(([, left], [, right]) => right.share - left.share));
}

/** Returns the term of a word, or an empty string if it has several. */
function folded(word) {
  const terms = kernel.analyse(word);
  return terms.length === 1 ? terms[0].term : '';
}

/** Returns `{term, written, share, entries}` of the most frequent words in the dictionary. `entries` is a set of numbers. */
function knownWords(language) {
  const frequent = frequentWords(language);
  const entriesOf = new Map();
  let number = 0;
  const folds = new Map();
  for (const forms of formsByWord(language)) {
    number += 1;
    for (const form of forms) {
      let term = folds.get(form);
      if (term === undefined) {
        term = folded(form);
        folds.set(form, term);
      }
      if (!frequent.has(term)) continue;
      if (!entriesOf.has(term)) entriesOf.set(term, new Set());
      entriesOf.get(term).add(number);
    }
  }
  const words = [];
  for (const [term, { share, written }] of frequent) {
    if (entriesOf.has(term)) words.push({ term, written, share, entries: entriesOf.get(term) });
    if (words.length === options.words) break;
  }
  return words;
}

const groupsBy = (words, keysOf) => {
  const groups = new Map();
  for (const word of words) {
    for (const key of keysOf(word)) {
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(word);
    }
  }
  return groups;
};

const isForm = (left, right) => left.entries.size > 0 && [...left.entries].some((entry) => right.entries.has(entry));

/** Returns the measures. `stems` has the stem of each word by its number. */
function measured(words, stems) {
  const stemOf = new Map(words.map((word, index) => [word, stems[index]]));
  const byStem = groupsBy(words, (word) => [stemOf.get(word)]);
  const byEntry = groupsBy(words, (word) => word.entries);
  const sums = { parted: 0, forms: 0, wrong: 0, found: 0, pairsParted: 0, pairsOfForms: 0, pairsWrong: 0 };
  const missed = [];
  const mixed = [];
  for (const word of words) {
    const others = new Set([...word.entries].flatMap((entry) => byEntry.get(entry)));
    others.delete(word);
    let share = 0;
    let parted = 0;
    for (const other of others) {
      const together = stemOf.get(other) === stemOf.get(word);
      share += other.share;
      sums.pairsOfForms += 1;
      if (together) continue;
      parted += other.share;
      sums.pairsParted += 1;
      if (options.show > 0)
        missed.push({
          pair: `${word.term}|${stemOf.get(word)} ${other.term}|${stemOf.get(other)}`,
          weight: word.share * other.share,
        });
    }
    if (share > 0) {
      sums.forms += word.share;
      sums.parted += (word.share * parted) / share;
    }
    let found = 0;
    let wrong = 0;
    for (const other of byStem.get(stemOf.get(word))) {
      found += other.share;
      if (other === word || isForm(word, other)) continue;
      wrong += other.share;
      sums.pairsWrong += 1;
      if (options.show > 0)
        mixed.push({ pair: `${word.term}, ${other.term}: ${stemOf.get(word)}`, weight: word.share * other.share });
    }
    sums.found += word.share;
    sums.wrong += (word.share * wrong) / found;
  }
  const pairsOfOthers = words.length * (words.length - 1) - sums.pairsOfForms;
  return {
    figures: [
      `${((100 * sums.parted) / sums.forms).toFixed(1)} %`,
      `${((100 * sums.wrong) / sums.found).toFixed(1)} %`,
      `${((100 * sums.pairsParted) / sums.pairsOfForms).toFixed(1)} %`,
      ((1e6 * sums.pairsWrong) / pairsOfOthers).toFixed(1),
    ],
    missed,
    mixed,
  };
}

function stemsOfSnowball(algorithm, words) {
  const program = `import sys, snowballstemmer
stemmer = snowballstemmer.stemmer('${algorithm}')
for word in sys.stdin.read().split('\\n'): print(stemmer.stemWord(word))`;
  return runPython(program, words.map(({ written }) => written).join('\n'))
    .split('\n')
    .map((stem, index) => folded(stem) || (words[index]?.term ?? ''));
}

const show = (title, pairs) => {
  const byWeight = pairs.sort((left, right) => right.weight - left.weight).filter((_, index) => index % 2 === 0);
  console.log(
    `\n${title}\n\n${byWeight
      .slice(0, options.show)
      .map(({ pair }) => `- ${pair}`)
      .join('\n')}\n`,
  );
};

const rows = [];
for (const language of positionals.length > 0 ? positionals : Object.keys(LANGUAGES)) {
  const words = knownWords(language);
  const ways = {
    none: words.map(({ term }) => term),
    [`${TRUNCATED_LETTERS} letters`]: words.map(({ term }) => [...term].slice(0, TRUNCATED_LETTERS).join('')),
  };
  const { snowball } = LANGUAGES[language];
  if (snowball !== undefined) ways.Snowball = stemsOfSnowball(snowball, words);
  ways.kernel = words.map(({ term }) => kernel.stems(term, language)[0]);
  for (const [way, stems] of Object.entries(ways)) {
    const { figures, missed, mixed } = measured(words, stems);
    rows.push([language, `${words.length}`, way, ...figures]);
    if (options.show > 0 && way === 'kernel') {
      show(`${language}: parted`, missed);
      show(`${language}: wrong`, mixed);
    }
  }
}
console.log(markdownTable(['', 'words', 'stems', 'parted', 'wrong', 'pairs parted', 'pairs wrong in a million'], rows));
