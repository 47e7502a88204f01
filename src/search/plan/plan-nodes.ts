/** The plan of one search on one list, as small frozen nodes; `plan-encoder.ts` turns it into the kernel's bytes. */
import type { FilterNode } from '../filter/filter-nodes.js';
import type { SortKey } from '../options/order-by.js';

/** What a group may match: one term, or several at consecutive positions. */
export interface Alternative {
  /** 0 exclusive to 1; as typed 1. */
  readonly weight: number;
  readonly terms: readonly string[];
}

/** One query word with its expansions, or a whole phrase. */
export interface QueryGroup {
  readonly occur: 'should' | 'must' | 'must-not';
  /** How often the word was typed. */
  readonly boost: number;
  readonly alternatives: readonly Alternative[];
}

/** What was searched for: `everything` for an empty query, `nothing` for one without any searchable word. */
export type QueryNode =
  | { readonly kind: 'everything' }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'groups'; readonly groups: readonly QueryGroup[] };

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
