/**
 * Pages of documents and passages of recordings beside the words of fields: what the kernel is asked for where a list has some. The same query
 * means other groups there, since other spellings, stems and typos are found in them. All are in one part; where a list has files of several
 * kinds, each is a source of scores of its own, told from the others by its place. Pure.
 */
import type { PartSearch } from '../../../native-bindings/index.js';
import { MATCH_ALL, type PlanFilter, type QueryPlan } from '../../../native-bindings/query-plan.js';
import type { FieldDefinition } from '../../catalog/index.js';
import { TEXT_KINDS, textKindOf, type TextKind } from '../../extracts/index.js';
import { PART_PLACE_COLUMN, placesOf } from '../../index/parts/part-layout.js';
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
  /** The bytes of its plan, by which words are marked. */
  readonly plan: Uint8Array;
  readonly search: readonly PartSearch[];
}

/** A kind of files, and what is asked of those. */
export interface PagesOfKind {
  readonly kind: TextKind;
  readonly filter: PlanFilter;
}

/** Where there is one kind alone, nothing is asked: that costs nothing. */
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

/** Of the words alone: what the records must be is asked of these. */
export function encodePagesPlan(
  query: Extract<QueryNode, { kind: 'groups' }>,
  request: SearchRequest,
  filter: PlanFilter,
): QueryPlan {
  const { groups, sequence, whole } = query;
  return {
    needTotal: true,
    explain: request.options.explain,
    skip: 0,
    size: 0,
    proximityWeight: PROXIMITY_WEIGHT,
    wholeFieldWeight: WHOLE_FIELD_WEIGHT,
    groups,
    sequence,
    whole,
    filter,
    sort: [],
    facets: [],
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
