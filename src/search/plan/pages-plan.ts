/**
 * Plans the search in pages of documents and passages of recordings, besides the words of fields. The same query
 * expands to other groups there, since pages have other spellings, stems and typos. All pages are in one part of the
 * generation; if a list has files of several kinds, each kind is a source of scores of its own, selected by its places.
 * Pure functions.
 */
import type { PartSearch } from '../../../native-bindings/index.js';
import { MATCH_ALL, type PlanFilter, type WholeQueryPlan } from '../../../native-bindings/query-plan.js';
import type { FieldDefinition } from '../../catalog/index.js';
import { TEXT_KINDS, textKindOf, type TextKind } from '../../extracts/index.js';
import { PART_PLACE_COLUMN, placesOf } from '../../index/parts/part-layout.js';
import type { SearchRequest } from '../options/search-request.js';
import { PROXIMITY_WEIGHT, WHOLE_FIELD_WEIGHT } from './bonus-weights.js';
import type { QueryNode } from './plan-nodes.js';
import { unroundedFloor } from './planner.js';

export const PAGES = 'pages';
/**
 * Score of a page that counts as 1. Besides meaning, 0: the score that the best page of such words is expected to have,
 * as for records. Otherwise 1: scores stay as they are.
 */
const FULL = { besideMeaning: 0, alone: 1 };

export interface PlannedPages {
  /** Query as expanded for pages. */
  readonly query: QueryNode;
  /** Encoded plan by which words are marked. */
  readonly plan: Uint8Array;
  readonly search: readonly PartSearch[];
}

/** Kind of files, with the filter that selects its pages. */
export interface PagesOfKind {
  readonly kind: TextKind;
  readonly filter: PlanFilter;
}

/** Returns the kinds of files of a definition. A single kind needs no filter, which saves time. */
export function kindsOfPages({ resources }: Pick<FieldDefinition, 'resources'>): readonly PagesOfKind[] {
  const kinds = TEXT_KINDS.filter((kind) => resources.some((resource) => resource.kind === kind));
  return kinds.map((kind) => ({ kind, filter: kinds.length === 1 ? MATCH_ALL : filterOf(resources, kind) }));
}

function filterOf(resources: FieldDefinition['resources'], kind: TextKind): PlanFilter {
  const column = PART_PLACE_COLUMN;
  const nodes = resources.flatMap(({ name }): PlanFilter[] => {
    const places = textKindOf({ resources }, name) === kind ? placesOf({ resources }, name) : undefined;
    if (places === undefined) return [];
    return [
      {
        op: 'and',
        nodes: [
          { op: '>=', column, value: places.first },
          { op: '<=', column, value: places.last },
        ],
      },
    ];
  });
  return { op: 'or', nodes };
}

/** Encodes the plan of the words alone: the conditions on records are applied to the records. */
export function encodePagesPlan(
  query: Extract<QueryNode, { kind: 'groups' }>,
  request: SearchRequest,
  filter: PlanFilter,
): WholeQueryPlan {
  const { groups, sequence, whole } = query;
  return {
    needTotal: true,
    explain: request.options.explain,
    storageOrder: false,
    skip: 0,
    size: 0,
    minimumScore: 0,
    proximityWeight: PROXIMITY_WEIGHT,
    wholeFieldWeight: WHOLE_FIELD_WEIGHT,
    groups,
    sequence,
    whole,
    filter,
    sort: [],
    facets: [],
    distance: undefined,
    textFields: [],
    facetWords: [],
    distinct: undefined,
    keepMatches: false,
  };
}

export function pagesSearch(
  plans: readonly { readonly kind: TextKind; readonly plan: Uint8Array }[],
  request: SearchRequest,
  hasMeaning: boolean,
): readonly PartSearch[] {
  return plans.map(({ kind, plan }) => ({
    name: PAGES,
    kind,
    plan,
    floor: unroundedFloor(request.options[`minimum_${kind}_score`]),
    full: hasMeaning ? FULL.besideMeaning : FULL.alone,
  }));
}
