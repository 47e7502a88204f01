/** Answers of operations, typed where the command line reads them. The service validates what it sends; these only name it. */

/** The array of a collection answer: the array itself, or the named member of an object. */
export function membersOf<Item>(answer: unknown, member: string): readonly Item[] {
  if (Array.isArray(answer)) return answer as Item[];
  const value = (answer as Readonly<Record<string, unknown>> | undefined)?.[member];
  return Array.isArray(value) ? (value as Item[]) : [];
}

export interface BulkAnswer {
  readonly created: number;
  readonly updated: number;
  readonly failed: number;
  readonly errors: readonly { readonly line: number; readonly name: string | null; readonly detail: string }[];
  readonly took_ms: number;
}

export interface SearchHit {
  readonly id: string;
  readonly name: string;
  readonly '@text_score'?: number;
  readonly distance?: number;
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly highlights?: Readonly<Record<string, string>>;
}

export interface SearchResponse {
  readonly query_id: string;
  readonly total_count: number;
  readonly results: readonly SearchHit[];
  readonly facets?: Readonly<Record<string, readonly { readonly value: unknown; readonly count: number }[]>>;
  readonly took_ms: number;
}

interface CountedTerm {
  readonly term: string;
  readonly count: number;
}

export interface AnalyticsReport {
  readonly scope: 'list' | 'group';
  readonly target: string;
  readonly from: string;
  readonly to: string;
  readonly total_searches: number;
  readonly zero_result_searches: number;
  readonly total_clicks: number;
  readonly click_through_rate: number;
  readonly top_searches: readonly CountedTerm[];
  readonly top_zero_result_searches: readonly CountedTerm[];
  readonly daily: readonly {
    readonly date: string;
    readonly searches: number;
    readonly zero_result_searches: number;
    readonly clicks: number;
  }[];
  readonly reranked_searches: number;
  readonly reranker_top_changed_rate: number;
  readonly reranker_mean_displacement: number;
  readonly reranker_click_lift: number;
  readonly reranker_lift_sample_size: number;
  readonly catching_up: boolean;
}
