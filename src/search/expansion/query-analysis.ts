/**
 * Turns the query text into groups: analyses it like the records, then expands each word with everything else it may
 * stand for.
 */
import { ServiceError } from '../../platform/index.js';
import { completionSpans } from './completions.js';
import { cutSpans, partSpans } from './cuts.js';
import type { Dictionary } from './dictionary.js';
import { otherLetterSpans } from './other-letters.js';
import { phraseGroup } from './phrase-variants.js';
import type { QueryWord } from './query-words.js';
import { signedGroups, signedPhraseGroups } from './signed-words.js';
import { spellingSpans } from './spellings.js';
import { synonymSpans, type AppliedSynonym } from './synonym-spans.js';
import type { AppliedTypo } from './group-builder.js';
import { wordGroups } from './word-groups.js';
import type { SynonymMatcher } from '../../synonyms/index.js';
import type { MatchMode } from '../types.js';
import type { QueryNode } from '../plan/plan-nodes.js';

const EVERYTHING: QueryNode = Object.freeze({ kind: 'everything' });
const NOTHING: QueryNode = Object.freeze({ kind: 'nothing' });
const NONE: readonly never[] = Object.freeze([]);
const ONLY_GROUP: readonly number[] = Object.freeze([0]);

/** What a list knows about words. */
export interface QueryVocabulary {
  readonly words: (text: string) => readonly QueryWord[];
  readonly dictionary: Dictionary;
  readonly synonyms: SynonymMatcher;
  readonly functionWords: ReadonlySet<string>;
  /** BCP 47 primary tag. */
  readonly language: string;
}

export interface QueryAnalysisOptions {
  readonly match: MatchMode;
  readonly typoTolerance: boolean;
  /** True if the last word may be unfinished. */
  readonly prefix: boolean;
  /** Limit on distinct words of one query, and on words of a phrase. */
  readonly wordsMax: number;
}

export interface AnalysedQuery {
  readonly node: QueryNode;
  readonly synonyms: readonly AppliedSynonym[];
  readonly typos: readonly AppliedTypo[];
}

/** Analyses a query. Throws `unprocessable` if it has more words than allowed: none is left out silently. */
export function analyseQuery(query: string, vocabulary: QueryVocabulary, options: QueryAnalysisOptions): AnalysedQuery {
  if (query === '') return { node: EVERYTHING, synonyms: NONE, typos: NONE };
  const words = vocabulary.words(query);
  if (words.length === 0) return { node: NOTHING, synonyms: NONE, typos: NONE };
  const { match, typoTolerance, prefix, wordsMax } = options;
  checkLength(words, match, wordsMax);
  const { spans, applied } = synonymSpans(words, vocabulary.synonyms);
  const { dictionary, functionWords } = vocabulary;
  const parts = partSpans(words, dictionary, match === 'phrase');
  const spelt = [
    ...spellingSpans(words, dictionary, functionWords),
    ...otherLetterSpans(words, vocabulary.language, dictionary),
  ];
  const allSpans = [...spelt, ...cutSpans(words, dictionary), ...parts, ...spans];
  if (match === 'phrase') {
    const groups = Object.freeze([phraseGroup(words, allSpans), ...signedPhraseGroups(words, dictionary)]);
    // The words of a longer phrase have no groups of their own.
    const whole = words.length === 1 ? ONLY_GROUP : NONE;
    return { node: Object.freeze({ kind: 'groups', groups, sequence: NONE, whole }), synonyms: applied, typos: NONE };
  }
  const using = { match, typoTolerance, functionWords, dictionary };
  const completions = prefix ? completionSpans(query, words, using) : NONE;
  const { groups: plain, sequence, whole, typos } = wordGroups(words, [...allSpans, ...completions], using);
  const signed = signedGroups(words, dictionary, wordsMax - plain.length);
  const groups = signed.length === 0 ? plain : Object.freeze([...plain, ...signed]);
  return { node: Object.freeze({ kind: 'groups', groups, sequence, whole }), synonyms: applied, typos };
}

function checkLength(words: readonly QueryWord[], match: MatchMode, wordsMax: number): void {
  if (words.length <= wordsMax) return;
  const count = match === 'phrase' ? words.length : new Set(words.map(({ term }) => term)).size;
  if (count <= wordsMax) return;
  const what = match === 'phrase' ? 'words in a phrase' : 'different words';
  const detail = `The query has ${count} ${what}; at most ${wordsMax} are allowed`;
  throw new ServiceError('unprocessable', `${detail}.`, { errors: [{ parameter: 'query', detail }] });
}
