/**
 * Compares the text of PDF documents with `pdftotext` and with what is expected of each file: words, their order, and pages per second.
 *
 *     node bench/documents/run.mjs
 *
 * Prints Markdown, and exits with 1 if a bar is missed. The files are those of ../shared/data/pdf or of GANNET_PDF_DATA, with
 * `expected.tsv` beside them. Measures processor time in turns, so that other load on the machine matters little.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Pdfium } from '#src/documents/pdfium.js';
import { readDocument } from '#src/documents/read-document.js';
import { helpWhereAsked } from '../end-to-end/lib/options.mjs';
import { root } from '../end-to-end/lib/service.mjs';

helpWhereAsked();
const folder = process.env.GANNET_PDF_DATA ?? join(root, '..', 'shared', 'data', 'pdf');
const LIMITS = { pagesMax: 1000, charactersMax: 1e8, msMax: 30_000 };
const TURNS = 5;
const F1_MIN = 0.97;
const SPEED_MIN = 0.5;
const TWO_COLUMNS = ['bug1997343.pdf', 'tracemonkey.pdf'];
/** File on which pdftotext does not end. */
const ENDLESS = ['bomb_giant.pdf'];
/** Files whose reference has wrong letters or lacks spaces, so that its words are no measure. */
const WRONG_IN_REFERENCE = ['XiaoBiaoSong.pdf', 'TAMReview.pdf', 'french_diacritics.pdf'];

if (!existsSync(join(folder, 'expected.tsv'))) {
  process.stdout.write(`Documents: skipped, ${folder} is not there.\n`);
  process.exit(0);
}
const pdfium = await Pdfium.load();

const [names, ...lines] = readFileSync(join(folder, 'expected.tsv'), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => line.split('\t'));
/** @typedef {Record<'file' | 'pages' | 'has_text' | 'readable' | 'kind' | 'text', string>} Expected */
const rows = lines.map(
  (line) => /** @type {Expected} */ (Object.fromEntries(names.map((name, index) => [name, line[index] ?? '']))),
);

/** Returns the words of a text, and each character of scripts without spaces. */
const wordsOf = (text) =>
  text
    .normalize('NFKC')
    .replace(/(?<=\p{L})-\n(?=\p{Ll})/gu, '')
    .toLowerCase()
    .match(/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]|[\p{L}\p{N}\p{M}]+/gu) ?? [];
const pairsOf = (words) => words.slice(1).map((word, index) => `${words[index]} ${word}`);

function f1(ours, reference) {
  if (ours.length + reference.length === 0) return 1;
  const left = new Map();
  for (const each of reference) left.set(each, (left.get(each) ?? 0) + 1);
  let shared = 0;
  for (const each of ours) {
    const count = left.get(each) ?? 0;
    if (count > 0) shared += 1;
    left.set(each, count - 1);
  }
  return (2 * shared) / (ours.length + reference.length);
}

function read(file) {
  try {
    return readDocument(pdfium, readFileSync(join(folder, file)), LIMITS);
  } catch (error) {
    if (error.name !== 'DocumentError') throw error;
    return { fault: error.fault, pageCount: 0, pages: [] };
  }
}

const textOf = ({ pages }) => pages.map(({ text }) => text).join('\n');
const reference = (file) => {
  try {
    return execFileSync('pdftotext', ['-enc', 'UTF-8', join(folder, file), '-'], {
      encoding: 'utf8',
      maxBuffer: 1e8,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    return '';
  }
};

/** Returns how a file differs from `expected.tsv`. Text of a damaged file is fine, as one extractor may read more than another. */
function misses({ file, pages, has_text, readable, kind, text }, got) {
  const ours = textOf(got);
  if (kind === 'locked' && readable === 'no') return got.fault === 'encrypted' ? [] : ['is not told to be encrypted'];
  if (kind === 'image') return got.fault === 'no-text' || file === 'scan-bad.pdf' ? [] : [`is told as ${got.fault}`];
  if (readable === 'no') return got.fault !== undefined || ours !== '' ? [] : ['has neither text nor a fault'];
  if (got.fault !== undefined) return has_text === 'yes' ? [`is told as ${got.fault}`] : [];
  const found = new Set(wordsOf(ours));
  const wanted = wordsOf(text.replace(/\S*$/, ''));
  const missing = wanted.filter((word) => !found.has(word));
  return [
    ...(got.pageCount === Number(pages) ? [] : [`has ${got.pageCount} pages for ${pages}`]),
    ...(missing.length <= wanted.length / 10 || WRONG_IN_REFERENCE.includes(file)
      ? []
      : [`lacks ${missing.join(' ')}`]),
  ];
}

const compared = rows
  .filter(({ file }) => !ENDLESS.includes(file))
  .map((row) => {
    const got = read(row.file);
    const ours = wordsOf(textOf(got));
    const theirs = wordsOf(reference(row.file));
    return {
      ...row,
      got,
      words: f1(ours, theirs),
      pairs: f1(pairsOf(ours), pairsOf(theirs)),
      missed: misses(row, got),
    };
  });
const judged = compared.filter(
  ({ file, has_text, readable }) => has_text === 'yes' && readable === 'yes' && !WRONG_IN_REFERENCE.includes(file),
);
const mean = judged.reduce((sum, { words }) => sum + words, 0) / judged.length;

const timed = rows.filter(({ readable, has_text }) => readable === 'yes' && has_text === 'yes').map(({ file }) => file);
const pages = compared.filter(({ file }) => timed.includes(file)).reduce((sum, { got }) => sum + got.pages.length, 0);
const seconds = { ours: [], theirs: [] };
const paths = timed.map((file) => join(folder, file));
for (let turn = 0; turn < TURNS; turn += 1) {
  const before = process.cpuUsage();
  for (const file of timed) read(file);
  const { user, system } = process.cpuUsage(before);
  seconds.ours.push((user + system) / 1e6);
  const script = 'TIMEFORMAT="%U %S"; time (for f in "$@"; do pdftotext -enc UTF-8 "$f" /dev/null 2>/dev/null; done)';
  const told = execFileSync('bash', ['-c', `{ ${script}; } 2>&1`, 'bash', ...paths], { encoding: 'utf8' });
  seconds.theirs.push(
    told
      .trim()
      .split(' ')
      .map(Number)
      .reduce((sum, each) => sum + each, 0),
  );
}
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const speed = { ours: pages / median(seconds.ours), theirs: pages / median(seconds.theirs) };
const ratio = speed.ours / speed.theirs;
const failed = compared.flatMap(({ file, missed }) => missed.map((miss) => `${file} ${miss}`));
const two = compared.filter(({ file }) => TWO_COLUMNS.includes(file));

process.stdout.write(`| What | Value | Bar |
|---|--:|--:|
| Files whose expectations hold | ${compared.length - new Set(failed.map((each) => each.split(' ')[0])).size} of ${compared.length} | all |
| Word F1, mean of ${judged.length} files | ${mean.toFixed(4)} | ${F1_MIN} |
${two.map(({ file, words, pairs }) => `| ${file}, two columns: F1 of words, of pairs of words | ${words.toFixed(3)}, ${pairs.toFixed(3)} | |`).join('\n')}
| Pages a second of the processor, one process (${pages} pages) | ${speed.ours.toFixed(0)} | |
| pdftotext, the same | ${speed.theirs.toFixed(0)} | |
| Ratio | ${ratio.toFixed(2)} | ${SPEED_MIN} |
`);
for (const each of failed) process.stdout.write(`\nMissed: ${each}`);
for (const { file, words } of judged.filter(({ words }) => words < F1_MIN))
  process.stdout.write(`\n${file}: word F1 ${words.toFixed(3)}`);
process.stdout.write('\n');
process.exitCode = failed.length > 0 || mean < F1_MIN || ratio < SPEED_MIN ? 1 : 0;
