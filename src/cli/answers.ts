/**
 * Types of operation answers that the command line reads. They are not checked here, since the service validates what
 * it sends.
 */

import type { ReportFigures } from '../analytics/index.js';

/** Returns the array of a collection answer: the answer itself, or the named member of an object. */
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
  readonly '@image_score'?: number;
  readonly '@document_score'?: number;
  /** Page by which the record was found. */
  readonly document?: {
    readonly field: string;
    readonly page: number;
    readonly page_count: number;
    readonly highlight: string;
  };
  readonly '@video_score'?: number;
  readonly '@audio_score'?: number;
  /** Second of a recording by which the record was found. */
  readonly media?: { readonly field: string; readonly seconds: number; readonly highlight?: string };
  readonly distance?: number;
  readonly distinct_count?: number;
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly highlights?: Readonly<Record<string, string>>;
  readonly explain?: ExplainedHit;
  /** Reason why a record that is damaged on disk is not shown. */
  readonly error?: string;
}

/** `explain` of a hit, as far as it is shown. */
export interface ExplainedHit {
  readonly groups?: readonly {
    readonly word?: string;
    readonly terms: readonly { readonly term: string; readonly kind?: string }[];
  }[];
  readonly sources?: readonly {
    readonly kind: string;
    readonly score: number;
    readonly weight: number;
    readonly cosine?: number;
    readonly way?: string;
    readonly compared?: number;
  }[];
  readonly meaning?: { readonly like?: readonly string[] };
  readonly reranker?: { readonly place_before: number };
}

export interface SearchResponse {
  readonly query_id: string;
  readonly total_count: number;
  readonly results: readonly SearchHit[];
  readonly facets?: Readonly<Record<string, readonly { readonly value: unknown; readonly count: number }[]>>;
  readonly took_ms: number;
  readonly applied?: {
    readonly meaning?: string;
    readonly reranker?: { readonly name: string; readonly reordered: boolean } | null;
  };
}

export interface AnalyticsReport extends ReportFigures {
  readonly scope: 'list' | 'group';
  readonly target: string;
}
