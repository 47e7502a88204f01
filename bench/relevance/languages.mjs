/**
 * `node bench/relevance/languages.mjs --pages FOLDER [--words 400] [--misses] [--program PATH] [ja zh-CN …]`: measures what a search finds in languages without
 * spaces between words or with long compounds, and prints Markdown. FOLDER has a folder for each language of LibreOffice's help, from Debian's packages
 * `libreoffice-help-ja` and so on (`apt-get download`, then `dpkg-deb -x`; `usr/share/libreoffice/help`; MPL-2.0, not shipped).
 *
 * - *Entries*: entries of the help's index, which its authors gave their pages, with words in any order. The pages of an entry are relevant.
 * - *Words*: a sample of the words in these entries, alone. Pages that contain the characters should be found, wherever words end.
 *
 * Milliseconds are processor time of the whole service, and need no quiet machine. PATH is `bin/gannet.js` of another copy, to compare an earlier version.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { readOptions } from '../end-to-end/lib/options.mjs';
import { markdownTable } from '../end-to-end/lib/report.mjs';
import { ACCOUNT, call, createKey, importNdjson, startService, workFolder } from '../end-to-end/lib/service.mjs';
import { mean, normalisedDiscountedGain, recall } from './evaluation.mjs';

const DEPTH = 10;
const HITS_MAX = 1000;
const ENTITIES = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };
/** Letters of languages with their own script, which untranslated entries lack. */
const LETTERS = {
  ja: /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]/u,
  'zh-CN': /\p{sc=Han}/u,
  'zh-TW': /\p{sc=Han}/u,
  ko: /\p{sc=Hangul}/u,
  km: /\p{sc=Khmr}/u,
  el: /\p{sc=Greek}/u,
};
const WORD_LETTERS_MIN = 2;

const { positionals, ...options } = readOptions(
  { pages: '', words: 400, misses: false, program: '' },
  { positionals: true },
);
if (options.pages === '') throw new Error('--pages FOLDER says where the pages are');

const plain = (html) =>
  html
    .replace(/<(script|style)[\s\S]*?<\/\1>/g, ' ')
    .replace(/<\/?(?:span|b|i|em|strong|a)\b[^>]*>/g, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(?:#(\d+)|(\w+));/g, (whole, code, name) =>
      code === undefined ? (ENTITIES[name] ?? whole) : String.fromCodePoint(Number(code)),
    )
    .replace(/\s+/g, ' ')
    .trim();

function pagesOf(language) {
  const folder = join(options.pages, language, 'text');
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.html'))
    .sort()
    .map((file) => {
      const html = readFileSync(join(folder, file), 'utf8');
      const body = html.slice(html.indexOf('id="DisplayArea"'), html.indexOf('id="SearchFrame"'));
      return {
        name: file,
        fields: { title: plain(/<title>(.*?)<\/title>/s.exec(html)?.[1] ?? ''), text: plain(`<${body}`) },
      };
    });
}

/** Returns the pages of each entry by its text. */
function entriesOf(language) {
  const entries = new Map();
  const source = readFileSync(join(options.pages, language, 'bookmarks.js'), 'utf8');
  for (const [, page, text] of source.matchAll(/\{url:"[^"/]+\/text\/([^"?]+)[^"]*", app:"\w+", text:"([^"]+)"\}/g)) {
    const entry = plain(text.replaceAll('--', ' '));
    if (!(LETTERS[language] ?? /\p{L}/u).test(entry)) continue;
    if (!entries.has(entry)) entries.set(entry, new Map());
    entries.get(entry).set(page, 1);
  }
  return entries;
}

const folded = (text) => text.normalize('NFKD').toLowerCase().normalize('NFC');

/** Returns a sample of words, spread evenly over all in the order of their characters. */
function wordsOf(language, entries) {
  const words = new Set();
  const segmenter = new Intl.Segmenter(language, { granularity: 'word' });
  for (const entry of entries) {
    for (const { segment, isWordLike } of segmenter.segment(entry)) {
      const word = folded(segment);
      if (isWordLike && Array.from(word).length >= WORD_LETTERS_MIN && (LETTERS[language] ?? /\p{L}/u).test(word))
        words.add(word);
    }
  }
  const all = [...words].sort();
  const step = Math.max(1, all.length / options.words);
  return all.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step));
}

async function measure(service, key, language) {
  const { address } = service;
  const name = `help-${language.toLowerCase()}`;
  const fields = { title: 2, text: 1 };
  const searchable = Object.entries(fields).map(([field, weight]) => ({ name: field, weight }));
  await call(address, key, 'POST', `/list/${ACCOUNT}`, {
    name,
    language: language.slice(0, 2),
    searchable_fields: searchable,
  });
  const pages = pagesOf(language);
  await importNdjson(address, key, name, Readable.from(pages.map((page) => `${JSON.stringify(page)}\n`)));
  const asked = { highlight: false, cache: false };
  const search = async (body) => {
    const answer = await call(address, key, 'POST', `/search/${ACCOUNT}/${name}/1`, { ...asked, ...body });
    return answer.results.map((result) => result.name);
  };

  const entries = entriesOf(language);
  const texts = new Map(pages.map((page) => [page.name, folded(`${page.fields.title}\n${page.fields.text}`)]));
  const gains = [];
  const founds = [];
  const entriesBeginMs = service.cpuMs();
  for (const [query, grades] of entries) {
    const ranked = await search({ query, match: 'any', size: DEPTH });
    gains.push(normalisedDiscountedGain(ranked, grades, DEPTH));
    founds.push(recall(ranked, grades, DEPTH));
  }
  const entryMs = (service.cpuMs() - entriesBeginMs) / entries.size;
  const recalls = [];
  const precisions = [];
  const precisionsAtTen = [];
  const wordsBeginMs = service.cpuMs();
  const words = wordsOf(language, entries.keys());
  for (const word of words) {
    const holding = new Map([...texts].flatMap(([page, text]) => (text.includes(word) ? [[page, 1]] : [])));
    const ranked = await search({ query: word, match: 'all', size: HITS_MAX, typo_tolerance: false });
    if (holding.size === 0 || holding.size > HITS_MAX) continue;
    const right = ranked.filter((page) => holding.has(page)).length;
    recalls.push(right / holding.size);
    if (ranked.length > 0) {
      precisions.push(right / ranked.length);
      const first = ranked.slice(0, DEPTH);
      precisionsAtTen.push(first.filter((page) => holding.has(page)).length / first.length);
    }
    if (options.misses && right < holding.size)
      process.stdout.write(`${language}\t${word}\t${right} of ${holding.size}\n`);
  }
  const wordMs = (service.cpuMs() - wordsBeginMs) / words.length;
  const info = await call(address, key, 'GET', `/list/${ACCOUNT}/${name}`);
  const shown = [gains, founds, recalls, precisions, precisionsAtTen].map((values) => mean(values).toFixed(4));
  return [
    language,
    info.record_count,
    entries.size,
    ...shown.slice(0, 2),
    recalls.length,
    ...shown.slice(2),
    entryMs.toFixed(2),
    wordMs.toFixed(2),
  ];
}

const languages = positionals.length > 0 ? positionals : Object.keys(LETTERS);
const dataDir = join(workFolder, 'languages');
rmSync(dataDir, { recursive: true, force: true });
const service = await startService(dataDir, {}, options.program || undefined);
try {
  const key = createKey(dataDir);
  const rows = [];
  for (const language of languages) rows.push(await measure(service, key, language));
  const heading = [
    'Help in',
    'pages',
    'entries',
    'nDCG@10',
    'recall@10',
    'words',
    'recall',
    'precision',
    'precision@10',
    'ms an entry',
    'ms a word',
  ];
  process.stdout.write(`${markdownTable(heading, rows)}\n`);
} finally {
  await service.stop();
  if (process.env.KEEP === undefined) rmSync(dataDir, { recursive: true, force: true });
}
