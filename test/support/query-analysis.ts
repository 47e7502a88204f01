/** What a query becomes in a real list: its groups of words with everything that they may stand for. */
import { kernel } from '../../native-bindings/index.js';
import { segmentForKernel } from '../../native-bindings/segmentation.js';
import type { ListIndex } from '../../src/index/index.js';
import { ListContexts } from '../../src/search/execution/list-context.js';
import { Dictionaries } from '../../src/search/expansion/dictionary.js';
import {
  analyseQuery,
  type AnalysedQuery,
  type QueryAnalysisOptions,
} from '../../src/search/expansion/query-analysis.js';
import { queryWords, type QueryWord } from '../../src/search/expansion/query-words.js';

const DEFAULTS: QueryAnalysisOptions = { match: 'any', typoTolerance: false, prefix: false, wordsMax: 1000 };
const contexts = new ListContexts(kernel);

export function wordsOf(text: string): QueryWord[] {
  const segmented = segmentForKernel(text);
  return queryWords(segmented, kernel.analyse(segmented));
}

export interface AnalysisOptions extends Partial<QueryAnalysisOptions> {
  /** Default: those of the list's language. */
  readonly functionWords?: ReadonlySet<string>;
}

/** Leases are held until the process ends. */
export function analysed(list: ListIndex, query: string, options: AnalysisOptions = {}): AnalysedQuery {
  const generation = list.lease().handle;
  const context = contexts.get(generation);
  const { synonyms, settings } = context;
  const { functionWords = context.functionWords, ...given } = options;
  const dictionary = Dictionaries.ofThread(kernel).of(generation);
  const vocabulary = { words: wordsOf, dictionary, synonyms, functionWords, language: settings.language };
  return analyseQuery(query, vocabulary, { ...DEFAULTS, ...given });
}

/** Returns the alternatives of each group, as `kind: terms`. */
export function alternatives(list: ListIndex, query: string, options: AnalysisOptions = {}): string[][] {
  const { node } = analysed(list, query, options);
  if (node.kind !== 'groups') return [];
  return node.groups.map((group) => group.alternatives.map(({ kind, terms }) => `${kind}: ${terms.join(' ')}`));
}
