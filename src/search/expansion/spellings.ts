/**
 * Other ways to write the same characters: `XR-500`, `XR500` and `XR 500` find each other, as do `e-mail` and `email`.
 *
 * A word is split where letters and digits meet. Neighbouring words are joined where letters meet digits across a blank or
 * a hyphen, and letters with letters across a hyphen, apostrophe or slash only. Records are indexed as they are written, so
 * what the dictionary lacks is no alternative.
 */
import type { Dictionary } from './dictionary.js';
import type { QueryWord } from './query-words.js';
import type { Span, SpanVariant } from './spans.js';
import {
  SPELLING_BOUNDARIES_MAX,
  SPELLING_WEIGHT,
  SPELLING_WORDS_MAX,
  SPELLINGS_PER_QUERY_MAX,
} from './expansion-weights.js';

interface Candidate {
  readonly begin: number;
  readonly end: number;
  readonly spellings: readonly (readonly string[])[];
}

const DIGIT = /\p{N}/u;
const LETTER_OR_DIGIT_RUNS = /\p{N}+|\P{N}+/gu;

export function spellingSpans(words: readonly QueryWord[], dictionary: Dictionary): readonly Span[] {
  const candidates = spellingCandidates(words);
  if (candidates.length === 0) return [];
  const terms = [...new Set(candidates.flatMap(({ spellings }) => spellings.flat()))];
  const counts = dictionary.documentFrequencies(terms);
  const known = new Set(terms.filter((_, index) => (counts[index] ?? 0) > 0));
  return candidates.flatMap(({ begin, end, spellings }) => {
    const variants = spellings.filter((spelling) => spelling.every((term) => known.has(term))).map(variantOf);
    return variants.length === 0 ? [] : [{ begin, end, variants }];
  });
}

function variantOf(terms: readonly string[]): SpanVariant {
  return { kind: 'spelling', weight: SPELLING_WEIGHT, terms };
}

function spellingCandidates(words: readonly QueryWord[]): Candidate[] {
  const candidates: Candidate[] = [];
  let count = 0;
  for (let begin = 0; begin < words.length; begin += 1) {
    for (let end = begin + 1; end <= Math.min(words.length, begin + SPELLING_WORDS_MAX); end += 1) {
      if (end - begin > 1 && !joins(words, end - 2)) break;
      const spellings = spellingsOf(words.slice(begin, end).map(({ term }) => term));
      if (spellings.length === 0) continue;
      count += spellings.length;
      if (count > SPELLINGS_PER_QUERY_MAX) return candidates;
      candidates.push({ begin, end, spellings });
    }
  }
  return candidates;
}

/** Whether the word at `index` and the next one may be one word. */
function joins(words: readonly QueryWord[], index: number): boolean {
  const [left, right] = [words[index] as QueryWord, words[index + 1] as QueryWord];
  if (left.joint === 'apart' || left.joint === 'cut') return false;
  const [leftHasDigit, rightHasDigit] = [DIGIT.test(left.term), DIGIT.test(right.term)];
  // Two numbers beside each other are two numbers, whatever stands between them.
  if (leftHasDigit && rightHasDigit && isNumber(left.term) && isNumber(right.term)) return false;
  return left.joint === 'tight' || leftHasDigit || rightHasDigit;
}

function isNumber(term: string): boolean {
  return term.match(LETTER_OR_DIGIT_RUNS)?.length === 1 && DIGIT.test(term);
}

/** Every way to cut the joined terms at their boundaries and where letters meet digits, but for the way they are cut now. */
function spellingsOf(terms: readonly string[]): string[][] {
  const runs = terms.flatMap((term) => term.match(LETTER_OR_DIGIT_RUNS) ?? []);
  if (runs.length === 1) return [];
  const typed = terms.join('\u0000');
  const ways = runs.length - 1 <= SPELLING_BOUNDARIES_MAX ? cuts(runs) : [[runs.join('')], runs];
  return ways.filter((way) => way.join('\u0000') !== typed);
}

/** All joined first, all cut last. */
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
