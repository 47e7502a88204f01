/** The plan of one search on one list, as small frozen nodes. `plan-encoder.ts` turns it into the kernel's bytes. */
import type { PlanAlternative, PlanAlternativeKind, PlanGroup } from '../../../native-bindings/query-plan.js';
import type { FilterNode } from '../filter/filter-nodes.js';
import type { SortKey } from '../options/order-by.js';

/** What a group may match: one term, or several at consecutive positions. */
export interface Alternative extends PlanAlternative {
  readonly kind: PlanAlternativeKind;
}

/**
 * One query word with its expansions, or a whole phrase. Its boost grows with how often the word was typed; function
 * words next to content words have a low one.
 */
export interface QueryGroup extends PlanGroup {
  readonly alternatives: readonly Alternative[];
}

/**
 * What is searched for. `everything`: the query is empty. `nothing`: it has no searchable word. `meaning`: words find
 * nothing, and all hits are near a vector.
 */
export type QueryNode =
  | { readonly kind: 'everything' }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'meaning' }
  | {
      readonly kind: 'groups';
      readonly groups: readonly QueryGroup[];
      /**
       * Indexes into `groups` of the query's content words, in order: neighbours that are near each other in a record
       * earn a bonus.
       */
      readonly sequence: readonly number[];
      /**
       * Indexes into `groups` of all words of the query, in order: a field that consists of just these earns a bonus.
       */
      readonly whole: readonly number[];
    };

export interface GeoPoint {
  readonly latitude: number;
  readonly longitude: number;
}

export interface SearchPlan {
  readonly query: QueryNode;
  /** Names of the searchable fields in which words are looked for, of which the list may lack some; undefined: all. */
  readonly textFields: readonly string[] | undefined;
  readonly filter: FilterNode;
  /** If empty, the order is by score, or by record number if `storageOrder`. */
  readonly order: readonly SortKey[];
  readonly storageOrder: boolean;
  /** Point from which distances are measured, on a radius search. */
  readonly origin: GeoPoint | undefined;
  readonly minimumScore: number;
  readonly skip: number;
  readonly size: number;
  readonly facets: readonly { readonly name: string; readonly values: number }[];
  /** Folded; of facets, values are told in which each of them begins a word. */
  readonly facetWords: readonly string[];
  /** Name of the facet by which hits are distinct, which the list may lack. Undefined: each match is a hit. */
  readonly distinct: string | undefined;
  readonly explain: boolean;
}
