/**
 * Finds other word boundaries in a run of characters without blanks. In such scripts, boundaries depend on context: a
 * dictionary cuts 外国人参政権 into 外国, 人参 and 政権, though 外国人 alone is one word. So a run in a query stands for every
 * sequence of the list's words that has the same characters, or their letter variants (letter-variants.ts).
 */
import type { Dictionary } from './dictionary.js';
import {
  COMPOUND_WEIGHT,
  CUT_LETTERS_MAX,
  CUT_PLACES_MAX,
  CUT_SPAN_LETTERS_MAX,
  CUT_WORDS_MAX,
  CUTS_LOOKED_UP_MAX,
  CUTS_PER_SPAN_MAX,
  PART_WORDS_MAX,
  PART_WRITINGS_MAX,
  PARTS_LOOKED_UP_MAX,
  SPELLING_WEIGHT,
} from './expansion-weights.js';
import { letterVariants } from './letter-variants.js';
import type { QueryWord } from './query-words.js';
import type { Span, SpanVariant } from './spans.js';

/** Neighbouring words of a query that only the segmenter separated. */
interface Run {
  /** Index of the first word. */
  readonly begin: number;
  readonly letters: readonly string[];
  /** End of each word as typed, as offsets into `letters`. */
  readonly ends: readonly number[];
}

interface Way {
  readonly terms: readonly string[];
  /** Document frequency of the rarest term. */
  readonly frequency: number;
}

const KANA_LETTER = /^[\p{sc=Hira}\p{sc=Kana}]$/u;

type Frequencies = ReadonlyMap<string, number>;

export function cutSpans(words: readonly QueryWord[], dictionary: Dictionary): readonly Span[] {
  const typed = runsOf(words);
  if (typed.length === 0) return [];
  const runs = [...typed, ...typed.flatMap(otherwiseWritten)];
  const { pieces, lettersMax } = piecesOf(runs);
  const counts = dictionary.documentFrequencies(pieces);
  const frequencies = new Map(pieces.map((term, index) => [term, counts[index] ?? 0]));
  const cut = new Set<string>();
  const spans = runs.flatMap((run) =>
    run.ends.flatMap((_, first) => {
      const begin = beginOf(run, first);
      if (begin >= lettersMax) return [];
      const key = `${run.begin + first} ${run.letters.slice(begin, reachOf(run, first)).join('')}`;
      // Letter variants mostly have the same letters in most places, which were cut already.
      if (cut.has(key)) return [];
      cut.add(key);
      return spansFrom(run, first, frequencies);
    }),
  );
  const seen = new Set<string>();
  return spans.flatMap((span) => newSpan(span, words, seen));
}

function otherwiseWritten(run: Run): Run[] {
  return letterVariants(run.letters.join('')).map((text) => ({ ...run, letters: Array.from(text) }));
}

/**
 * Returns the span without variants that were typed or seen before, and nothing for a single kana letter, which is
 * another word in the other kana.
 */
function newSpan({ begin, end, variants }: Span, words: readonly QueryWord[], seen: Set<string>): Span[] {
  const typed = words.slice(begin, end).map(({ term }) => term);
  if (KANA_LETTER.test(typed.join(''))) return [];
  seen.add(`${begin} ${end} ${typed.join(' ')}`);
  const others = variants.filter(({ terms }) => {
    const key = `${begin} ${end} ${terms.join(' ')}`;
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  });
  return others.length === 0 ? [] : [{ begin, end, variants: others }];
}

/**
 * Finds longer words that contain neighbouring words: 清华大学 is one word, while 清华 alone is cut in two. Also finds them
 * in letter variants (清華大學). In a phrase, only the whole phrase may be contained: between other words, a longer word
 * would have extra letters.
 */
export function partSpans(words: readonly QueryWord[], dictionary: Dictionary, isPhrase: boolean): readonly Span[] {
  const looked = lookedUpParts(words, isPhrase);
  if (looked.length === 0) return [];
  const forms = dictionary.forms(
    looked.map(({ text }) => text),
    false,
  );
  return looked.flatMap(({ begin, end }, index) => {
    const compounds = forms[index]?.compounds ?? [];
    const variants = compounds.map((term): SpanVariant => ({
      kind: 'compound',
      weight: COMPOUND_WEIGHT,
      terms: [term],
    }));
    return variants.length === 0 ? [] : [{ begin, end, variants }];
  });
}

/** Neighbouring words of a run. */
interface Part {
  readonly begin: number;
  readonly end: number;
  readonly text: string;
}

/** Returns the parts to look up, each once, first as typed. */
function lookedUpParts(words: readonly QueryWord[], isPhrase: boolean): readonly Part[] {
  const typed = runsOf(words);
  const parts = new Map<string, Part>();
  for (const run of typed) {
    for (const part of partsOf(run)) {
      if (parts.size >= PARTS_LOOKED_UP_MAX) return [...parts.values()];
      // Longer words that contain a single word are looked up for every word elsewhere (word-groups.ts).
      if (isPhrase ? part.begin === 0 && part.end === words.length : part.end > part.begin + 1)
        parts.set(keyOf(part), part);
    }
  }
  for (const run of typed) {
    const asTyped = run.letters.join('');
    for (const other of otherwiseWritten(run).slice(0, PART_WRITINGS_MAX)) {
      for (const part of partsOf(other)) {
        if (parts.size >= PARTS_LOOKED_UP_MAX) return [...parts.values()];
        if (isPhrase && (part.begin > 0 || part.end < words.length)) continue;
        if (!asTyped.includes(part.text)) parts.set(keyOf(part), part);
      }
    }
  }
  return [...parts.values()];
}

function keyOf({ begin, end, text }: Part): string {
  return `${begin} ${end} ${text}`;
}

function* partsOf(run: Run): Generator<Part> {
  const { begin, ends, letters } = run;
  for (let first = 0; first < ends.length; first += 1) {
    for (let last = first; last < Math.min(first + PART_WORDS_MAX, ends.length); last += 1) {
      const text = letters.slice(beginOf(run, first), ends[last]).join('');
      yield { begin: begin + first, end: begin + last + 1, text };
    }
  }
}

function runsOf(words: readonly QueryWord[]): readonly Run[] {
  const runs: Run[] = [];
  for (let begin = 0; begin < words.length; begin += 1) {
    if (words[begin]?.isCut !== true) continue;
    let last = begin;
    while (words[last]?.joint === 'cut' && words[last + 1]?.isCut === true) last += 1;
    runs.push(runOf(words.slice(begin, last + 1), begin));
    begin = last;
  }
  return runs;
}

function runOf(words: readonly QueryWord[], begin: number): Run {
  const letters: string[] = [];
  const ends = words.map(({ term }) => letters.push(...term));
  return { begin, letters, ends };
}

/** Returns where a word begins, as an offset into the letters. */
function beginOf({ ends }: Run, word: number): number {
  return word === 0 ? 0 : (ends[word - 1] as number);
}

/** Returns where other cuts that start at a word end at the latest, as an offset into the letters. */
function reachOf(run: Run, first: number): number {
  const end = run.ends[Math.min(first + CUT_WORDS_MAX, run.ends.length) - 1] as number;
  return Math.min(end, beginOf(run, first) + CUT_SPAN_LETTERS_MAX);
}

/**
 * Returns the substrings of the runs that may be words, each once. The substrings start within the first `lettersMax`
 * letters of any run, so that every run gets its share of the lookups.
 */
function piecesOf(runs: readonly Run[]): { readonly pieces: readonly string[]; readonly lettersMax: number } {
  const pieces = new Set<string>();
  const longest = Math.min(Math.max(...runs.map(({ letters }) => letters.length)), CUT_PLACES_MAX);
  let begin = 0;
  for (; begin < longest; begin += 1) {
    for (const { letters } of runs) {
      for (let end = begin + 1; end <= Math.min(letters.length, begin + CUT_LETTERS_MAX); end += 1) {
        if (pieces.size >= CUTS_LOOKED_UP_MAX) return { pieces: [...pieces], lettersMax: begin };
        pieces.add(letters.slice(begin, end).join(''));
      }
    }
  }
  return { pieces: [...pieces], lettersMax: longest };
}

/**
 * Returns the ways to cut the letters from the start of a typed word up to the next place where a found word and a
 * typed word end together. Cuts behind that place form a span of their own.
 */
function spansFrom(run: Run, first: number, frequencies: Frequencies): readonly Span[] {
  const { letters, ends } = run;
  const begin = beginOf(run, first);
  const further = ends.slice(first, first + CUT_WORDS_MAX);
  const last = reachOf(run, first);
  const waysTo = new Map<number, Way[]>([[begin, [{ terms: [], frequency: Infinity }]]]);
  const spans: Span[] = [];
  for (let place = begin; place < last; place += 1) {
    const ways = waysTo.get(place);
    if (ways === undefined || (place > begin && further.includes(place))) continue;
    for (let end = place + 1; end <= Math.min(last, place + CUT_LETTERS_MAX); end += 1) {
      const term = letters.slice(place, end).join('');
      const frequency = frequencies.get(term) ?? 0;
      if (frequency === 0) continue;
      const longer = ways.map((way) => ({
        terms: [...way.terms, term],
        frequency: Math.min(way.frequency, frequency),
      }));
      waysTo.set(end, best([...(waysTo.get(end) ?? []), ...longer]));
    }
  }
  further.forEach((end, index) => {
    const variants = (waysTo.get(end) ?? []).map(({ terms }) => variantOf(terms));
    if (variants.length > 0) spans.push({ begin: run.begin + first, end: run.begin + first + index + 1, variants });
  });
  return spans;
}

/** Returns the best ways: those with the fewest words first, and among these the most frequent. */
function best(ways: Way[]): Way[] {
  return ways
    .sort((left, right) => left.terms.length - right.terms.length || right.frequency - left.frequency)
    .slice(0, CUTS_PER_SPAN_MAX);
}

function variantOf(terms: readonly string[]): SpanVariant {
  return { kind: 'spelling', weight: SPELLING_WEIGHT, terms };
}
