/** Words that are written with other letters, each by itself: in the list's language, and in the word's script. Only what the list has is looked for. */
import type { Dictionary } from './dictionary.js';
import { digraphSpellings } from './digraphs.js';
import { SPELLING_WEIGHT, SPELLINGS_PER_QUERY_MAX } from './expansion-weights.js';
import { markSpellings } from './optional-marks.js';
import type { QueryWord } from './query-words.js';
import type { Span } from './spans.js';

export function otherLetterSpans(
  words: readonly QueryWord[],
  language: string,
  dictionary: Dictionary,
): readonly Span[] {
  const candidates = words.flatMap((word, begin) =>
    [...digraphSpellings(word, language), ...markSpellings(word.term)].map((term) => ({ begin, end: begin + 1, term })),
  );
  const looked = candidates.slice(0, SPELLINGS_PER_QUERY_MAX);
  if (looked.length === 0) return [];
  const counts = dictionary.documentFrequencies(looked.map(({ term }) => term));
  return looked.flatMap(({ begin, end, term }, index) =>
    (counts[index] ?? 0) === 0
      ? []
      : [{ begin, end, variants: [{ kind: 'spelling', weight: SPELLING_WEIGHT, terms: [term] }] }],
  );
}
