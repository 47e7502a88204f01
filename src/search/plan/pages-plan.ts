/**
 * Pages of documents beside the words of fields: what the kernel is asked for where a list has some. The same query means other groups
 * there, since other spellings, stems and typos are found in pages. Pure.
 */
import type { PartsSearch } from '../../../native-bindings/index.js';
import { MATCH_ALL, type QueryPlan } from '../../../native-bindings/query-plan.js';
import type { SearchRequest } from '../options/search-request.js';
import { PROXIMITY_WEIGHT, WHOLE_FIELD_WEIGHT } from './bonus-weights.js';
import type { QueryNode } from './plan-nodes.js';
import { unroundedFloor } from './planner.js';

export const PAGES = 'pages';
/** Beside meaning, the best page of such words is expected to have what counts as 1, as the best record is; otherwise scores are as they are. */
const FULL = { besideMeaning: 0, alone: 1 };

export interface PlannedPages {
  /** What is looked for in pages. */
  readonly query: QueryNode;
  /** The bytes of its plan. */
  readonly plan: Uint8Array;
  readonly search: PartsSearch;
}

/** Of the words alone: what the records must be is asked of these. */
export function encodePagesPlan(query: Extract<QueryNode, { kind: 'groups' }>, request: SearchRequest): QueryPlan {
  const { groups, sequence, whole } = query;
  return {
    needTotal: true,
    explain: request.explain,
    skip: 0,
    size: 0,
    proximityWeight: PROXIMITY_WEIGHT,
    wholeFieldWeight: WHOLE_FIELD_WEIGHT,
    groups,
    sequence,
    whole,
    filter: MATCH_ALL,
    sort: [],
    facets: [],
  };
}

export function pagesSearch(plan: Uint8Array, request: SearchRequest, hasMeaning: boolean): PartsSearch {
  return {
    textFloor: unroundedFloor(request.minimumTextScore),
    parts: [
      {
        name: PAGES,
        kind: 'document',
        plan,
        floor: unroundedFloor(request.minimumDocumentScore),
        full: hasMeaning ? FULL.besideMeaning : FULL.alone,
      },
    ],
  };
}
