/**
 * Other ways to write the same characters: `XR-500`, `XR500` and `XR 500` find each other, as do `wi-fi`, `wifi` and
 * `wi fi`, and `node.js` and `node js`.
 *
 * A word is split where letters meet digits, and at a point, an underscore or a capital. A rare word is also split into
 * any two words that the list's records have next to each other. Neighbouring words are joined across a hyphen or
 * similar, and across a blank if letters meet digits there or neither word is a function word. Records are indexed as
 * they are written, and by the parts of their words (kernel/analysis/word_parts.h); spellings that the dictionary lacks
 * are dropped.
 */
import { conjunctionSpans } from './conjunctions.js';
import type { Dictionary } from './dictionary.js';
import type { QueryWord } from './query-words.js';
import type { Span, SpanVariant } from './spans.js';
import {
  ANY_POINT_LETTERS_MAX,
  ELIDED_LETTERS_MAX,
  INITIALS_LETTERS_MAX,
  INITIALS_LETTERS_MIN,
  JOINED_SHARE,
  MARKED_SPELLING_WEIGHT,
  SPELLING_BOUNDARIES_MAX,
  SPELLING_WEIGHT,
  SPELLING_WORDS_MAX,
  SPELLINGS_PER_QUERY_MAX,
  SPLIT_DOCUMENTS_MAX,
  SPLIT_LETTERS_MAX,
  SPLIT_LETTERS_MIN,
  SPLITS_LOOKED_AT_MAX,
  WRITING_CONTEXT_WORDS_MAX,
  WRITINGS_WORDS_MAX,
} from './expansion-weights.js';

/** The words `begin` to `end` (exclusive) of a query, and how else they may be written. */
interface Candidate {
  readonly begin: number;
  readonly end: number;
  readonly spellings: readonly (readonly string[])[];
}

const DIGIT = /\p{N}/u;
const DIGIT_OR_MARK = /[\p{N}.:_'\u2019\u00b7]/u;
/** A word in a script that is written with blanks. In others, dictionaries decide (cuts.ts). */
const LETTERS =
  /^(?:(?![\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}])[\p{L}\p{M}])+$/u;
/**
 * Function words that are initials as well. Others (`of`, `in`) are not looked up with points: these would be accidents,
 * and most searches in sentences have such a word. What looking them up would cost has not been measured.
 */
const ALSO_INITIALS: ReadonlySet<string> = new Set(['am', 'us']);
const LETTER = /^\p{L}$/u;
/** Punctuation that UAX 29 allows within a word, except between digits: 3.5 is not 35. */
const WITHIN_WORD = /(?<!\p{N})[.:_'\u2019\u00b7]|[.:_'\u2019\u00b7](?!\p{N})/u;
const LETTER_OR_DIGIT_RUNS = /\p{N}+|\P{N}+/gu;

interface Lexicon {
  readonly dictionary: Dictionary;
  readonly functionWords: ReadonlySet<string>;
}

export function spellingSpans(
  words: readonly QueryWord[],
  dictionary: Dictionary,
  functionWords: ReadonlySet<string>,
): readonly Span[] {
  const lexicon = { dictionary, functionWords };
  // Of alternatives with the same terms, the first is kept. Parts come first, as `split`, so that they do not count for
  // the idf.
  const spans: Span[] = [
    ...partsSpans(words, dictionary),
    ...joinedSpans(words, dictionary),
    ...conjunctionSpans(words, dictionary, WRITINGS_WORDS_MAX),
  ];
  words.slice(0, WRITINGS_WORDS_MAX).forEach(({ term, joint }, begin) => {
    const split = dictionary.kept('other writings', term, () => wordVariants(term, lexicon));
    if (split.length > 0) spans.push({ begin, end: begin + 1, variants: split });
    const next = joint === 'blank' ? words[begin + 1]?.term : undefined;
    if (next === undefined) return;
    const joined = dictionary.keptPair(term, next, () => blankVariants([term, next], lexicon));
    if (joined.length > 0) spans.push({ begin, end: begin + 2, variants: joined });
  });
  return spans;
}

/**
 * Returns the parts of each word as neighbours: they match the word itself, which is indexed by its parts, and the
 * parts separated by blanks.
 */
function partsSpans(words: readonly QueryWord[], dictionary: Dictionary): readonly Span[] {
  if (!words.some(({ parts }) => parts !== undefined)) return [];
  return words.slice(0, WRITINGS_WORDS_MAX).flatMap(({ parts }, begin) => {
    if (parts === undefined || rarestOf(parts, countsOf(parts, dictionary)) === 0) return [];
    return [{ begin, end: begin + 1, variants: [splitInto(parts)] }];
  });
}

/**
 * Returns spellings of words in which letters meet digits, and of words that contain or are separated by a hyphen, a
 * point or similar.
 */
function joinedSpans(words: readonly QueryWord[], dictionary: Dictionary): readonly Span[] {
  // Most queries have no such word.
  if (!words.some(({ term, joint }) => joint === 'tight' || DIGIT_OR_MARK.test(term))) return [];
  const candidates = spellingCandidates(words);
  if (candidates.length === 0) return [];
  const counts = countsOf(
    candidates.flatMap(({ spellings }) => spellings.flat()),
    dictionary,
  );
  return candidates.flatMap(({ begin, end, spellings }) => {
    const variants = spellings.filter((spelling) => rarestOf(spelling, counts) > 0).map((terms) => variantOf(terms));
    return variants.length === 0 ? [] : [{ begin, end, variants }];
  });
}

/**
 * Returns two words separated by a blank as one word, and as one with a point between them, if the latter is not
 * indexed by its parts.
 */
function blankVariants(
  words: readonly [string, string],
  { dictionary, functionWords }: Lexicon,
): readonly SpanVariant[] {
  if (words.some((word) => functionWords.has(word) || !LETTERS.test(word))) return [];
  const together = isParted(words) ? [words.join('')] : [words.join(''), pointed(words)];
  const counts = dictionary.documentFrequencies(together);
  const found = together.filter((_, index) => (counts[index] ?? 0) > 0);
  // Nearly always none.
  if (found.length === 0) return [];
  const least = Math.min(...Array.from(dictionary.documentFrequencies(words))) / JOINED_SHARE;
  return found.filter((term) => (counts[together.indexOf(term)] ?? 0) >= least).map((term) => variantOf([term]));
}

/**
 * Returns other writings of a word without digits and marks: initials and short abbreviations with their points, and two
 * words of which it may consist.
 */
function wordVariants(term: string, { dictionary, functionWords }: Lexicon): readonly SpanVariant[] {
  if ((functionWords.has(term) && !ALSO_INITIALS.has(term)) || !LETTERS.test(term)) return [];
  const pointedWays = withPoints(term);
  const isSplit = term.length >= SPLIT_LETTERS_MIN && term.length <= SPLIT_LETTERS_MAX;
  const elided = isSplit ? withApostrophe(term, functionWords) : [];
  const ways = [term, ...pointedWays, ...elided];
  const counts = dictionary.documentFrequencies(ways);
  const variants = (begin: number, end: number) =>
    ways.slice(begin, end).flatMap((way, index) => ((counts[begin + index] ?? 0) > 0 ? [variantOf([way])] : []));
  const initials = variants(1, 1 + pointedWays.length);
  const documents = counts[0] ?? 0;
  if (!isSplit || documents > SPLIT_DOCUMENTS_MAX) return initials;
  const apostrophes = variants(1 + pointedWays.length, ways.length);
  return [
    ...initials,
    ...apostrophes,
    ...splitVariants(splitsOf(term, { dictionary, functionWords }), documents, dictionary),
  ];
}

/** Returns a short word as initials, with a point after each letter or, if it is very short, after one of them. */
function withPoints(term: string): readonly string[] {
  const letters = Array.from(term);
  if (letters.length < INITIALS_LETTERS_MIN || letters.length > INITIALS_LETTERS_MAX) return [];
  const all = letters.join('.');
  if (letters.length > ANY_POINT_LETTERS_MAX) return [all];
  const [first = '', last = ''] = [letters[0], letters.at(-1)];
  // Other words with one point are indexed by their parts as well.
  return [[first, term.slice(first.length)], [term.slice(0, -last.length), last], [all]].map(pointed);
}

/**
 * Returns the word with an apostrophe that may be left out: `o'brien`, `d'angelo`, `don't`. Forms with `'s` are covered
 * by stemming.
 */
function withApostrophe(term: string, functionWords: ReadonlySet<string>): readonly string[] {
  const places = Array.from({ length: ELIDED_LETTERS_MAX }, (_, index) => index + 1);
  if (term.endsWith('t')) places.push(term.length - 1);
  return places
    .map((place) => [term.slice(0, place), term.slice(place)])
    .filter((parts) => !parts.some((part) => functionWords.has(part)))
    .map((parts) => parts.join("'"));
}

/** Two words of which a word may consist. */
interface Split {
  readonly parts: readonly [string, string];
  /** Document frequency of the rarer part. */
  readonly frequency: number;
  /** Terms of the list with a point or an underscore between the parts. */
  readonly marked: readonly string[];
}

/**
 * Returns the splits that the list's records have, as neighbours or with a mark. Splits with a function word are left
 * out, since those stand next to many words by chance: `apart` is not `a part`.
 */
function splitsOf(term: string, { dictionary, functionWords }: Lexicon): readonly Split[] {
  const counts = dictionary.splits(term);
  const splits: Split[] = [];
  let place = 0;
  let at = 0;
  for (const letter of term) {
    place += letter.length;
    const [frequency = 0, withPoint = 0, withLowLine = 0] = [counts[at], counts[at + 1], counts[at + 2]];
    at += 3;
    const parts = [term.slice(0, place), term.slice(place)] as const;
    if (functionWords.has(parts[0]) || functionWords.has(parts[1])) continue;
    const marked = [...(withPoint > 0 ? [parts.join('.')] : []), ...(withLowLine > 0 ? [parts.join('_')] : [])];
    splits.push({ parts, frequency, marked });
  }
  return splits;
}

/**
 * Returns the pairs found with a point or an underscore between them, and the pair that some record has as neighbours
 * whose rarer word is the most frequent. `documents` is the document frequency of the word itself.
 */
function splitVariants(splits: readonly Split[], documents: number, dictionary: Dictionary): readonly SpanVariant[] {
  const variants = splits.flatMap(({ parts, marked }) => {
    if (marked.length === 0) return [];
    if (!isParted(parts)) return marked.map((word) => variantOf([word]));
    return [splitInto(parts), ...marked.map((word) => variantOf([word], MARKED_SPELLING_WEIGHT))];
  });
  const best = splits
    .filter(({ frequency }) => frequency >= Math.max(1, documents))
    .sort((a, b) => b.frequency - a.frequency)
    .slice(0, SPLITS_LOOKED_AT_MAX)
    .find(({ parts }) => dictionary.areNeighbours(...parts));
  return best === undefined ? variants : [...variants, splitInto(best.parts)];
}

/**
 * True if a word of these parts, joined by marks, is also indexed by its parts. Parts of a single letter are not
 * indexed.
 */
function isParted(parts: readonly string[]): boolean {
  return parts.every((part) => Array.from(part).length > 1);
}

function splitInto(terms: readonly string[]): SpanVariant {
  return { kind: 'split', weight: SPELLING_WEIGHT, terms };
}

/** Joins the parts with points: `node.js` is one word. */
function pointed(parts: readonly string[]): string {
  return parts.join('.');
}

/**
 * Returns the other writings of the query's words that follow from the words alone: joined where they are written with a
 * hyphen, and joined or separated where letters meet digits. Whether the list has them is not asked.
 */
export function certainWritings(words: readonly QueryWord[]): readonly Candidate[] {
  return words.some(({ term, joint }) => joint === 'tight' || DIGIT_OR_MARK.test(term))
    ? spellingCandidates(words)
    : [];
}

/** Returns the other writings of these words, separated by blanks, of which letters meet digits in some. */
export function writingsWithDigits(terms: readonly string[]): readonly (readonly string[])[] {
  if (terms.length > WRITING_CONTEXT_WORDS_MAX + SPELLING_WORDS_MAX || !terms.some((term) => DIGIT.test(term)))
    return [];
  const words = terms.map((term): QueryWord => ({ term, joint: 'blank', isCut: false }));
  const ways = new Map<string, readonly string[]>();
  for (const { begin, end, spellings } of spellingCandidates(words)) {
    for (const spelling of spellings) {
      const way = [...terms.slice(0, begin), ...spelling, ...terms.slice(end)];
      ways.set(way.join('\u0000'), way);
    }
  }
  return [...ways.values()];
}

type Counts = ReadonlyMap<string, number>;

function countsOf(terms: readonly string[], dictionary: Dictionary): Counts {
  const different = [...new Set(terms)];
  const counts = dictionary.documentFrequencies(different);
  return new Map(different.map((term, index) => [term, counts[index] ?? 0]));
}

/** Returns the document frequency of the rarest term. */
function rarestOf(terms: readonly string[], counts: Counts): number {
  return Math.min(...terms.map((term) => counts.get(term) ?? 0));
}

function variantOf(terms: readonly string[], weight = SPELLING_WEIGHT): SpanVariant {
  return { kind: 'spelling', weight, terms };
}

function spellingCandidates(words: readonly QueryWord[]): Candidate[] {
  const candidates: Candidate[] = [];
  let count = 0;
  for (let begin = 0; begin < words.length; begin += 1) {
    for (let end = begin + 1; end <= Math.min(words.length, begin + SPELLING_WORDS_MAX); end += 1) {
      if (end - begin > 1 && !joins(words, end - 2)) break;
      const spellings = spellingsOf(words.slice(begin, end));
      if (spellings.length === 0) continue;
      count += spellings.length;
      if (count > SPELLINGS_PER_QUERY_MAX) return candidates;
      candidates.push({ begin, end, spellings });
    }
  }
  return candidates;
}

/** True if the word at `index` and the next one may be one word. */
function joins(words: readonly QueryWord[], index: number): boolean {
  const [left, right] = [words[index] as QueryWord, words[index + 1] as QueryWord];
  if (left.joint === 'apart' || left.joint === 'cut') return false;
  const [leftHasDigit, rightHasDigit] = [DIGIT.test(left.term), DIGIT.test(right.term)];
  // Two adjacent numbers remain two numbers, whatever separates them.
  if (leftHasDigit && rightHasDigit && isNumber(left.term) && isNumber(right.term)) return false;
  return left.joint === 'tight' || leftHasDigit || rightHasDigit;
}

function isNumber(term: string): boolean {
  return term.match(LETTER_OR_DIGIT_RUNS)?.length === 1 && DIGIT.test(term);
}

/**
 * Returns every way to cut the joined words at their boundaries and where letters meet digits, except the current way.
 */
function spellingsOf(words: readonly QueryWord[]): string[][] {
  const runs = words.flatMap(({ term }) => runsOf(term));
  if (runs.length === 1) return [];
  const typed = words.map(({ term }) => term).join('\u0000');
  // J. K., A/B and x-men are also written as one word with points, which is not indexed by a part of one letter.
  const isPointed = words.length > 1 && words.some(({ term }) => LETTER.test(term));
  const initials = isPointed && words.every(({ term }) => LETTERS.test(term)) ? [[pointed(runs)]] : [];
  const ways = runs.length - 1 <= SPELLING_BOUNDARIES_MAX ? cuts(runs) : [[runs.join('')], runs];
  return [...initials, ...ways].filter((way) => way.join('\u0000') !== typed);
}

function runsOf(term: string): readonly string[] {
  return term.split(WITHIN_WORD).flatMap((part) => part.match(LETTER_OR_DIGIT_RUNS) ?? []);
}

/** Returns all ways to join the runs: all joined first, all separate last. */
function cuts(runs: readonly string[]): string[][] {
  let ways: string[][] = [[runs[0] as string]];
  for (const run of runs.slice(1)) {
    ways = [
      ...ways.map((way) => [...way.slice(0, -1), `${way.at(-1) as string}${run}`]),
      ...ways.map((way) => [...way, run]),
    ];
  }
  return ways;
}
