/**
 * Makes `rock'n'roll`, `rock n roll`, `rock & roll` and `rock and roll` find each other, by what can stand for `and`
 * between two words.
 */
import type { Dictionary } from './dictionary.js';
import { SPELLING_WEIGHT } from './expansion-weights.js';
import type { QueryWord } from './query-words.js';
import type { Span, SpanVariant } from './spans.js';

const AND = 'and';
const SHORT = 'n';
const SHORT_BETWEEN_MARKS = "'n";
const IN_ONE_WORD = /^(\p{L}{2,})'n'?(\p{L}{2,})$/u;

/**
 * Returns spans for three words with `n` or `and` in the middle, and for single words containing `'n'`. Looks only at
 * the first `wordsMax` words.
 */
export function conjunctionSpans(
  words: readonly QueryWord[],
  dictionary: Dictionary,
  wordsMax: number,
): readonly Span[] {
  if (!words.some(({ term }) => term === AND || term === SHORT || term.includes(SHORT_BETWEEN_MARKS))) return [];
  return words.slice(0, wordsMax).flatMap(({ term }, begin): Span[] => {
    const [, first = '', second = ''] = IN_ONE_WORD.exec(term) ?? [];
    if (first !== '') return spanOf(begin, begin + 1, variantsOf([first, term, second], dictionary));
    const [middle, last] = [words[begin + 1]?.term, words[begin + 2]?.term];
    if (last === undefined || (middle !== AND && middle !== SHORT)) return [];
    return spanOf(begin, begin + 3, variantsOf([term, middle, last], dictionary));
  });
}

/**
 * Returns the other ways to write the words. `n` is rare enough to be taken as a conjunction; for `and`, the list must
 * have the joined word.
 */
function variantsOf([first, middle, last]: readonly [string, string, string], dictionary: Dictionary) {
  return dictionary.kept('and', `${first} ${middle} ${last}`, (): readonly SpanVariant[] => {
    const whole = `${first}'n'${last}`;
    const [wholes = 0, firsts = 0, lasts = 0] = Array.from(dictionary.documentFrequencies([whole, first, last]));
    const inOne: SpanVariant[] = wholes === 0 ? [] : [{ kind: 'spelling', weight: SPELLING_WEIGHT, terms: [whole] }];
    if ((middle === AND && wholes === 0) || firsts === 0 || lasts === 0) return inOne;
    // A sign such as & is not indexed, so the two words are then neighbours.
    const apart = [[first, SHORT, last], [first, AND, last], ...(middle === AND ? [] : [[first, last]])];
    return [...inOne, ...apart.map((terms): SpanVariant => ({ kind: 'split', weight: SPELLING_WEIGHT, terms }))];
  });
}

function spanOf(begin: number, end: number, variants: readonly SpanVariant[]): Span[] {
  return variants.length === 0 ? [] : [{ begin, end, variants }];
}
