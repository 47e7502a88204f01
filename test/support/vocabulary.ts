/**
 * A dictionary in memory, for tests of the planner without a kernel: words are runs of letters and digits, with points
 * between them. A term's document frequency is the number of times it is named.
 */
import type { ExpandedTerm, GenerationHandle, Kernel } from '../../native-bindings/index.js';
import { distance } from 'fastest-levenshtein';
import { Dictionaries } from '../../src/search/expansion/dictionary.js';
import { queryWords } from '../../src/search/expansion/query-words.js';
import { functionWords } from '../../src/search/function-words.js';
import { SynonymMatcher, type SynonymRule } from '../../src/synonyms/synonym-matcher.js';
import type { QueryVocabulary } from '../../src/search/expansion/query-analysis.js';

/** The stem of a word is the word without a final s. */
const stem = (word: string): string => word.replace(/s$/, '');

export function vocabularyOf(
  terms: readonly string[],
  rules: readonly SynonymRule[] = [],
  areNeighbours: (left: string, right: string) => boolean = () => true,
): QueryVocabulary {
  const words = (text: string) => {
    const tokens = [...text.toLowerCase().matchAll(/[\p{L}\p{N}]+(?:\.[\p{L}\p{N}]+)*/gu)].map((match, position) => {
      return { term: match[0], begin: match.index, end: match.index + match[0].length, position };
    });
    return queryWords(text, tokens);
  };
  const entry = (term: string, edits: number): ExpandedTerm => ({ term, documentFrequency: 1, distance: edits });
  const documentFrequencies: Kernel['documentFrequencies'] = (_, asked) =>
    Uint32Array.from(asked, (term) => terms.filter((each) => each === term).length);
  const findSplits: Kernel['findSplits'] = (generation, word) => {
    const frequencies = Array.from(word.slice(1), (_, index) => {
      const [first, last] = [word.slice(0, index + 1), word.slice(index + 1)];
      const asked = [first, last, `${first}.${last}`, `${first}_${last}`];
      const [before = 0, after = 0, ...marked] = documentFrequencies(generation, asked);
      return [Math.min(before, after), ...marked];
    });
    return Uint32Array.from(frequencies.flat());
  };
  const expand: Kernel['expand'] = (_, asked, { editsMax, stemsMax, typosMax }) =>
    asked.map((word, index) => {
      const others = [...new Set(terms)].filter((term) => term !== word);
      const related = others.filter((term) => stem(term) === stem(word));
      const near = others
        .filter((term) => !related.includes(term) && distance(term, word) <= (editsMax[index] ?? 0))
        .map((term) => entry(term, distance(term, word)))
        .sort((left, right) => left.distance - right.distance);
      return {
        documentFrequency: terms.includes(word) ? 1 : 0,
        stems: related.slice(0, stemsMax).map((term) => entry(term, 0)),
        typos: near.slice(0, typosMax),
        prefixes: [],
        compounds: [],
      };
    });
  const completeWord: Kernel['completeWord'] = (_, prefix, edits, limit) =>
    (edits > 0 ? [] : terms.filter((term) => term.startsWith(prefix))).slice(0, limit).map((term) => entry(term, 0));
  let lastName = 0;
  const nameExpansions: Kernel['nameExpansions'] = (_, asked) => Float64Array.from(asked, () => ++lastName);
  const kernel = {
    completeWord,
    documentFrequencies,
    findSplits,
    areNeighbours: (_: GenerationHandle, left: string, right: string) => areNeighbours(left, right),
    expand,
    nameExpansions,
    vocabulary: () => ({ name: 1, root: 1 }),
    affectedWords: (_: GenerationHandle, asked: readonly string[]) => new Uint8Array(asked.length),
  };
  return {
    words,
    dictionary: new Dictionaries(kernel).of(0),
    synonyms: new SynonymMatcher(rules, (text) => words(text).map(({ term }) => term)),
    functionWords: functionWords('en'),
    language: 'en',
  };
}
