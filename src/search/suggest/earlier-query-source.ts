/** Suggests earlier searches that found something and begin with the typed text. Belongs to one thread. */
import { BoundedMap } from '../../platform/index.js';
import type { GenerationHandle, Kernel } from '../../../native-bindings/index.js';
import type { EarlierQuery, EarlierSearchesOf } from '../earlier/earlier-searches.js';
import type { ListContext } from '../execution/list-context.js';
import { ListSearcher } from '../execution/list-search.js';
import { readSearchRequest } from '../options/search-request.js';
import { marked, markedAround, typedRange } from './marking.js';
import type { Place, QuerySpelling } from './query-spelling.js';
import {
  editsAllowed,
  SUGGESTION_TIERS,
  type Suggestion,
  type SuggestionRequest,
  type SuggestionSource,
  type Written,
} from './suggestion-source.js';

/** More are asked for, since some earlier searches no longer find anything, or not with all words. */
const ASKED_PER_WANTED = 2;
/** Cached numbers of results. Never stale: handles of generations are not reused. */
const COUNTS_MAX = 4096;

export class EarlierQuerySource implements SuggestionSource {
  private readonly searcher: ListSearcher;
  private readonly counts = new BoundedMap<string, number>(COUNTS_MAX);

  constructor(
    kernel: Kernel,
    private readonly spelling: QuerySpelling,
    private readonly earlierSearchesOf: EarlierSearchesOf,
  ) {
    this.searcher = new ListSearcher(kernel);
  }

  suggest(list: ListContext, generation: GenerationHandle, request: SuggestionRequest): readonly Suggestion[] {
    const { text, size, learned, typoTolerance } = request;
    const earlier = learned === undefined || text === '' ? undefined : this.earlierSearchesOf(learned.listId);
    if (earlier === undefined || learned === undefined) return [];
    const place = { list, generation };
    const options = { max: size * ASKED_PER_WANTED, requireClick: learned.requireClick };
    const found = this.withResults(list, generation, earlier.completions(text, options), size);
    const edits = editsAllowed(text, typoTolerance);
    if (found.length > 0 || edits === 0) return found.map((each) => this.suggestionOf(each, text, place));
    const near = earlier.nearCompletions(text, edits, options);
    return this.withResults(list, generation, near, size).map((each) => this.suggestionOf(each, undefined, place));
  }

  private withResults(
    list: ListContext,
    generation: GenerationHandle,
    queries: readonly EarlierQuery[],
    size: number,
  ): CountedQuery[] {
    const found: CountedQuery[] = [];
    for (const query of queries) {
      if (found.length >= size) break;
      const recordCount = this.count(list, generation, query.text);
      if (recordCount > 0) found.push({ ...query, recordCount });
    }
    return found;
  }

  /**
   * Returns how many records the search finds now with all its words, without typo tolerance: a misspelt search is no
   * suggestion.
   */
  private count(list: ListContext, generation: GenerationHandle, query: string): number {
    const key = `${generation} ${query}`;
    let count = this.counts.get(key);
    if (count === undefined) {
      const options = { query, match: 'all', typo_tolerance: false, highlight: false, size: 0 } as const;
      const request = readSearchRequest(options, [list.settings.definition]);
      const window = { skip: 0, size: 0, facetValues: 0 };
      count = this.searcher.search(list, generation, {
        request,
        listIndex: 0,
        window,
        target: {},
      }).result.total;
      this.counts.set(key, count);
    }
    return count;
  }

  /**
   * Creates a suggestion. `typed` is the beginning that the search shares with the typed text; undefined if it only
   * nearly does.
   */
  private suggestionOf(query: CountedQuery, typed: string | undefined, place: Place): Suggestion {
    const { text, searches, recordCount } = query;
    return {
      text,
      kind: 'query',
      folded: this.spelling.folded(text),
      // Users often leave out marks.
      written: () => shown(this.spelling.spelt(text, place), typed, (part) => this.spelling.folded(part)),
      tier: typed === undefined ? SUGGESTION_TIERS.corrected : SUGGESTION_TIERS.earlier,
      recordCount,
      popularity: searches,
    };
  }
}

interface CountedQuery extends EarlierQuery {
  readonly recordCount: number;
}

function shown(text: string, typed: string | undefined, fold: (text: string) => string): Written {
  const range = typed === undefined ? undefined : typedRange(text, fold(typed), fold);
  return { text, highlight: range === undefined ? marked(text) : markedAround(text, range.begin, range.end) };
}
