/** The plan of one search on one list, as small frozen nodes; `plan-encoder.ts` turns it into the kernel's bytes. */
import type { PlanAlternative, PlanAlternativeKind, PlanGroup } from '../../../native-bindings/query-plan.js';
import type { FilterNode } from '../filter/filter-nodes.js';
import type { SortKey } from '../options/order-by.js';

/** What a group may match: one term, or several at consecutive positions. */
export interface Alternative extends PlanAlternative {
  readonly kind: PlanAlternativeKind;
}

/** One query word with its expansions, or a whole phrase. Its boost grows with how often the word was typed; function words beside content words have little. */
export interface QueryGroup extends PlanGroup {
  readonly alternatives: readonly Alternative[];
}

/**
 * What was searched for: `everything` for an empty query, `nothing` for one without any searchable word; `meaning`: words find nothing, and
 * all that is found is near to a vector. */
export type QueryNode =
  | { readonly kind: 'everything' }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'meaning' }
  | {
      readonly kind: 'groups';
      readonly groups: readonly QueryGroup[];
      /** Content words of the query in their order, as indexes of `groups`: neighbours earn a bonus where they stand near each other. */
      readonly sequence: readonly number[];
      /** All words of the query in their order, as indexes of `groups`: a field that is just them earns a bonus. */
      readonly whole: readonly number[];
    };

export interface GeoPoint {
  readonly latitude: number;
  readonly longitude: number;
}

export interface SearchPlan {
  readonly query: QueryNode;
  readonly filter: FilterNode;
  /** Empty: by score, or in record number order where `storageOrder`. */
  readonly order: readonly SortKey[];
  readonly storageOrder: boolean;
  /** From where distances are measured, on a radius search. */
  readonly origin: GeoPoint | undefined;
  readonly minimumScore: number;
  readonly skip: number;
  readonly size: number;
  readonly facets: readonly { readonly name: string; readonly values: number }[];
  readonly explain: boolean;
}
