/** Query text to groups: analysed by the kernel like the records were, then expanded. */
import { ServiceError } from '../../platform/index.js';
import type { MatchMode } from '../types.js';
import { expandWord, type ExpansionContext } from './expansion.js';
import type { QueryGroup, QueryNode } from './plan-nodes.js';

const EVERYTHING: QueryNode = Object.freeze({ kind: 'everything' });
const NOTHING: QueryNode = Object.freeze({ kind: 'nothing' });

/** Folded words of a text in their order; the kernel's analysis with dictionary segmentation before it. */
export type Analyse = (text: string) => readonly string[];

export interface QueryAnalysisOptions {
  readonly analyse: Analyse;
  readonly expansion: ExpansionContext;
  /** The kernel's bounds on groups, and on the words of a phrase. */
  readonly groupsMax: number;
  readonly phraseTermsMax: number;
}

/** Throws `unprocessable` for a query with more words than one search may have: none is left out silently. */
export function analyseQuery(query: string, match: MatchMode, options: QueryAnalysisOptions): QueryNode {
  if (query === '') return EVERYTHING;
  const words = options.analyse(query);
  if (words.length === 0) return NOTHING;
  const groups = match === 'phrase' ? [phraseGroup(words, options)] : wordGroups(words, match, options);
  return Object.freeze({ kind: 'groups', groups: Object.freeze(groups) });
}

function wordGroups(words: readonly string[], match: 'any' | 'all', options: QueryAnalysisOptions): QueryGroup[] {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  if (counts.size > options.groupsMax) throw tooManyWords(counts.size, options.groupsMax, 'different words');
  const occur = match === 'all' ? 'must' : 'should';
  return [...counts].map(([word, boost]) =>
    Object.freeze({ occur, boost, alternatives: expandWord(word, options.expansion) }),
  );
}

/** A phrase is exact: no expansion, every word in its place. */
function phraseGroup(words: readonly string[], options: QueryAnalysisOptions): QueryGroup {
  if (words.length > options.phraseTermsMax)
    throw tooManyWords(words.length, options.phraseTermsMax, 'words in a phrase');
  return Object.freeze({
    occur: 'must',
    boost: 1,
    alternatives: Object.freeze([Object.freeze({ weight: 1, terms: Object.freeze([...words]) })]),
  });
}

function tooManyWords(count: number, maximum: number, what: string): ServiceError {
  const detail = `The query has ${count} ${what}; one search takes ${maximum} at most`;
  return new ServiceError('unprocessable', `${detail}.`, { errors: [{ parameter: 'query', detail }] });
}
