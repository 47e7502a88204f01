/**
 * Finds single words written with other letters, and numbers written otherwise, by the list's language and the word's
 * script. Keeps only what the list has.
 */
import type { Dictionary } from './dictionary.js';
import { digraphSpellings } from './digraphs.js';
import { IRREGULAR_WEIGHT, SPELLING_WEIGHT, SPELLINGS_PER_QUERY_MAX } from './expansion-weights.js';
import { irregularForm } from './irregular-forms.js';
import { numberWritings, type OtherWriting } from './number-writings.js';
import { markSpellings } from './optional-marks.js';
import type { QueryWord } from './query-words.js';
import type { Span, SpanVariant } from './spans.js';

const NONE: readonly OtherWriting[] = Object.freeze([]);

export function otherLetterSpans(
  words: readonly QueryWord[],
  language: string,
  dictionary: Dictionary,
): readonly Span[] {
  const irregular = words.flatMap(({ term }, begin): readonly OtherWriting[] => {
    const form = irregularForm(term, language);
    return form === undefined ? [] : [{ begin, end: begin + 1, terms: [form] }];
  });
  const candidates: readonly OtherWriting[] = [
    ...irregular,
    ...words.flatMap((word, begin): readonly OtherWriting[] => {
      const [digraphs, marks] = [digraphSpellings(word, language), markSpellings(word.term)];
      if (digraphs.length === 0 && marks.length === 0) return NONE;
      return [...digraphs, ...marks].map((term) => ({ begin, end: begin + 1, terms: [term] }));
    }),
    ...numberWritings(words, language),
  ];
  const looked = candidates.slice(0, SPELLINGS_PER_QUERY_MAX);
  if (looked.length === 0) return [];
  const counts = dictionary.documentFrequencies(looked.flatMap(({ terms }) => terms));
  let at = 0;
  return looked.flatMap(({ begin, end, terms }, place) => {
    const first = at;
    at += terms.length;
    if (!terms.every((_, index) => (counts[first + index] ?? 0) > 0)) return [];
    // `split` keeps the irregular form out of the word's idf.
    const variant: SpanVariant =
      place < irregular.length
        ? { kind: 'split', weight: IRREGULAR_WEIGHT, terms }
        : { kind: 'spelling', weight: SPELLING_WEIGHT, terms };
    return [{ begin, end, variants: [variant] }];
  });
}
