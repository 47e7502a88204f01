/** Turns a search request into the plan of one list. */
import { allOf, type FilterNode } from '../filter/filter-nodes.js';
import type { SearchRequest } from '../options/search-request.js';
import type { QueryNode, SearchPlan } from './plan-nodes.js';

const SCORE_DIGITS = 6;
const NONE: readonly string[] = Object.freeze([]);
/** What no word begins with: words are folded to letters and digits. */
const NO_VALUE: readonly string[] = Object.freeze(['\u0000']);

export interface PlanWindow {
  readonly skip: number;
  readonly size: number;
  /** Number of values wanted per facet. */
  readonly facetValues: number;
}

/** Returns the plan without its floor. With several kinds of scores, each kind has a floor of its own instead. */
export function withoutFloor(plan: SearchPlan): SearchPlan {
  return plan.minimumScore === 0 ? plan : Object.freeze({ ...plan, minimumScore: 0 });
}

/** What an option's words are, folded as those of records. */
export type FoldedWords = (text: string) => readonly string[];

export function planSearch(
  request: SearchRequest,
  { query, filter }: { readonly query: QueryNode; readonly filter: FilterNode },
  window: PlanWindow,
  wordsOf: FoldedWords = () => NONE,
): SearchPlan {
  const { radius } = request;
  return Object.freeze({
    query,
    textFields: request.searchFields,
    filter: radius === undefined ? filter : allOf([filter, Object.freeze({ kind: 'within', ...radius })]),
    order: request.order,
    storageOrder: request.storageOrder,
    origin: radius,
    minimumScore: unroundedFloor(request.options.minimum_text_score),
    skip: window.skip,
    size: window.size,
    facets: request.facets.map((name) => ({ name, values: window.facetValues })),
    facetWords: facetWords(request.options.facet_query.trim(), wordsOf),
    distinct: request.distinct,
    explain: request.options.explain,
  });
}

/** A text without any word is in no value. */
function facetWords(text: string, wordsOf: FoldedWords): readonly string[] {
  if (text === '') return NONE;
  const words = [...new Set(wordsOf(text))];
  return words.length === 0 ? NO_VALUE : words;
}

/**
 * Returns the floor for exact scores. Responses show scores with six digits: every hit whose shown score reaches the
 * floor is kept, even if its exact score is slightly lower.
 */
export function unroundedFloor(floor: number): number {
  return floor === 0 ? 0 : floor - 0.5 * 10 ** (Math.ceil(Math.log10(floor)) - SCORE_DIGITS);
}
