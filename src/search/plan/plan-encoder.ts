/**
 * Encodes the plan of a list: turns names into the kernel's columns. Pure functions that know a layout, not a kernel.
 */
import {
  CREATED_COLUMN,
  LOCATION_COLUMN,
  MODIFIED_COLUMN,
  NAME_COLUMN,
  type KernelLayout,
} from '../../index/segments/kernel-layout.js';
import type {
  PlanFilter,
  PlanGroup,
  PlanSortKey,
  PlanValue,
  QueryPlan,
  WholeQueryPlan,
} from '../../../native-bindings/query-plan.js';
import type { FilterNode, FilterValue } from '../filter/filter-nodes.js';
import type { SortKey } from '../options/order-by.js';
import { PROXIMITY_WEIGHT, WHOLE_FIELD_WEIGHT } from './bonus-weights.js';
import type { GeoPoint, QueryNode, SearchPlan } from './plan-nodes.js';

const ALL: PlanFilter = Object.freeze({ op: 'all' });
const NONE: PlanFilter = Object.freeze({ op: 'not', node: ALL });
const NO_GROUPS: readonly PlanGroup[] = Object.freeze([]);
/** Term that no record has: terms are folded to letters and digits. */
const NO_WORD = '\u0000';
const ONLY_BY_MEANING: readonly PlanGroup[] = Object.freeze([
  { occur: 'should', boost: 1, alternatives: [{ weight: 1, terms: [NO_WORD] }] },
]);
const NO_SEQUENCE: readonly number[] = Object.freeze([]);

export function encodePlan(plan: SearchPlan, layout: KernelLayout): WholeQueryPlan {
  const groups = groupsOf(plan.query);
  const location = plan.origin === undefined ? undefined : layout.column(LOCATION_COLUMN);
  return {
    needTotal: true,
    explain: plan.explain,
    // Without words every record scores 1, so the order by score is the storage order.
    storageOrder: groups.length === 0 && plan.order.length === 0,
    skip: plan.skip,
    size: plan.size,
    minimumScore: plan.minimumScore,
    proximityWeight: PROXIMITY_WEIGHT,
    wholeFieldWeight: WHOLE_FIELD_WEIGHT,
    groups,
    sequence: plan.query.kind === 'groups' ? plan.query.sequence : NO_SEQUENCE,
    whole: plan.query.kind === 'groups' ? plan.query.whole : NO_SEQUENCE,
    filter: encodeQueryFilter(plan.query, plan.filter, layout),
    sort: encodeOrder(plan, layout),
    facets: encodeFacets(plan, layout),
    distance: location === undefined ? undefined : { column: location, ...degrees(plan.origin as GeoPoint) },
    textFields: encodeTextFields(plan.textFields, layout),
    facetWords: plan.facetWords,
    distinct: plan.distinct === undefined ? undefined : singleColumn(plan.distinct, layout),
    // Hits of a list that lacks the facet are counted with those of others.
    keepMatches: plan.distinct !== undefined,
  };
}

/** Facets of distinct hits are counted over all lists together, from the matches (`distinct-count.ts`). */
function encodeFacets({ facets, distinct }: SearchPlan, layout: KernelLayout): QueryPlan['facets'] {
  if (distinct !== undefined) return [];
  return facets.flatMap(({ name, values }) => {
    const column = layout.column(name);
    return column === undefined ? [] : [{ column, size: values }];
  });
}

/** None where these are all that the list has. */
function encodeTextFields(names: readonly string[] | undefined, layout: KernelLayout): readonly number[] {
  if (names === undefined) return NO_SEQUENCE;
  const numbers = searchedFields(names, layout).map((name) => layout.textField(name) as number);
  return numbers.length === layout.textFields.length ? NO_SEQUENCE : numbers;
}

/** The list's searchable fields of those that are named, in its order; all where none is. */
export function searchedFields(names: readonly string[] | undefined, layout: KernelLayout): readonly string[] {
  return names === undefined ? layout.textFields : layout.textFields.filter((name) => names.includes(name));
}

/** Encodes the plan that matches what the filter matches, for deleting records. */
export function encodeFilterPlan(filter: FilterNode, layout: KernelLayout): QueryPlan {
  return {
    needTotal: true,
    storageOrder: true,
    skip: 0,
    size: 0,
    groups: NO_GROUPS,
    filter: encodeFilter(filter, layout),
    sort: [],
    facets: [],
  };
}

function groupsOf(query: QueryNode): readonly PlanGroup[] {
  if (query.kind === 'groups') return query.groups;
  return query.kind === 'meaning' ? ONLY_BY_MEANING : NO_GROUPS;
}

function encodeQueryFilter(query: QueryNode, filter: FilterNode, layout: KernelLayout): PlanFilter {
  return query.kind === 'nothing' ? NONE : encodeFilter(filter, layout);
}

function encodeFilter(node: FilterNode, layout: KernelLayout): PlanFilter {
  switch (node.kind) {
    case 'all':
      return ALL;
    case 'none':
      return NONE;
    case 'and':
    case 'or':
      return { op: node.kind, nodes: node.nodes.map((operand) => encodeFilter(operand, layout)) };
    case 'not':
      return { op: 'not', node: encodeFilter(node.node, layout) };
    case 'compare':
      return {
        op: node.operator,
        column: facetColumn(node.field, layout),
        value: encodeValue(node.value),
      };
    case 'in':
      return { op: 'in', column: facetColumn(node.field, layout), values: node.values.map(encodeValue) };
    case 'is-null':
      return { op: 'isNull', column: facetColumn(node.field, layout) };
    case 'within': {
      // A list of a group may have no locations; none of its records is near anything.
      const column = layout.column(LOCATION_COLUMN);
      return column === undefined ? NONE : { op: 'within', column, ...degrees(node), metres: node.metres };
    }
    case 'in-box': {
      const column = layout.column(LOCATION_COLUMN);
      const { south, west, north, east } = node;
      return column === undefined ? NONE : { op: 'inBox', column, south, west, north, east };
    }
  }
}

function facetColumn(name: string, layout: KernelLayout): number {
  const column = layout.column(name);
  if (column === undefined) throw new Error(`the filter names ${name}, which has no column`);
  return column;
}

function encodeValue(value: FilterValue): PlanValue {
  return value.kind === 'string' ? value.key : value.value;
}

function encodeOrder(plan: SearchPlan, layout: KernelLayout): PlanSortKey[] {
  const isScored = plan.query.kind === 'groups' || plan.query.kind === 'meaning';
  if (plan.storageOrder && isScored) return [{ by: 'recordNumber', descending: false }];
  return plan.order.flatMap((key) => encodeSortKey(key, plan.origin, layout));
}

/** Encodes a sort key. In a list of a group that lacks the key, it is left out, since no record there has a value. */
function encodeSortKey(key: SortKey, origin: GeoPoint | undefined, layout: KernelLayout): PlanSortKey[] {
  const { descending } = key;
  if (key.by === 'distance') {
    const column = layout.column(LOCATION_COLUMN);
    return column === undefined || origin === undefined
      ? []
      : [{ by: 'distance', descending, column, ...degrees(origin) }];
  }
  const column = singleColumn(key.column, layout);
  return column === undefined ? [] : [{ by: 'column', descending, column }];
}

const RECORD_COLUMNS: ReadonlySet<string> = new Set([NAME_COLUMN, CREATED_COLUMN, MODIFIED_COLUMN]);

/** Undefined also for a column that is Many in this list of a group, and Single in another. */
export function singleColumn(name: string, layout: KernelLayout): number | undefined {
  const column = layout.column(name);
  if (column === undefined || RECORD_COLUMNS.has(name)) return column;
  return layout.schema.columns[column]?.many === true ? undefined : column;
}

function degrees({ latitude, longitude }: GeoPoint): GeoPoint {
  return { latitude, longitude };
}
