/** Completes the last word of a query while somebody types it: with words of the list that begin with it. */
import type { Dictionary } from './dictionary.js';
import { COMPLETION_WEIGHT, MISSPELT_COMPLETION_WEIGHT } from './expansion-weights.js';
import type { QueryWord } from './query-words.js';
import { isSigned } from './signed-words.js';
import type { Span } from './spans.js';
import { editsAllowed } from './typo-choice.js';

const ENDS_IN_A_WORD = /[\p{L}\p{N}\p{M}]$/u;

export interface CompletionOptions {
  readonly typoTolerance: boolean;
  readonly functionWords: ReadonlySet<string>;
  readonly dictionary: Dictionary;
}

/**
 * Returns the completions of the last word. None if the query ends behind the word, as with a blank or punctuation
 * mark.
 */
export function completionSpans(
  query: string,
  words: readonly QueryWord[],
  { dictionary, functionWords, typoTolerance }: CompletionOptions,
): readonly Span[] {
  const last = words.at(-1);
  if (last === undefined || !ENDS_IN_A_WORD.test(query)) return [];
  const spanOf = (terms: readonly string[], weight: number): readonly Span[] => {
    // Function words are left out: half of the records have them. Each word with signs is indexed without them, too.
    const completions = terms.filter((term) => term !== last.term && !functionWords.has(term) && !isSigned(term));
    if (completions.length === 0) return [];
    const variants = completions.map((term) => ({ kind: 'completion', weight, terms: [term] }) as const);
    return [{ begin: words.length - 1, end: words.length, variants }];
  };
  const exact = dictionary.completions(last.term, 0);
  const edits = typoTolerance ? editsAllowed(last.term) : 0;
  // Completions with typos are used only if no word of the list begins with the word exactly.
  if (exact.length > 0 || edits === 0) return spanOf(exact, COMPLETION_WEIGHT);
  return spanOf(dictionary.completions(last.term, edits), MISSPELT_COMPLETION_WEIGHT);
}
