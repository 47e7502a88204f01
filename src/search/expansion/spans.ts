/** What a span of query words may stand for: by a synonym rule, or in another spelling. */
import type { PlanAlternativeKind } from '../../../native-bindings/query-plan.js';

export interface SpanVariant {
  readonly kind: PlanAlternativeKind;
  readonly weight: number;
  /** Terms at consecutive positions. */
  readonly terms: readonly string[];
}

/** The words `begin` to `end` (exclusive) of a query. */
export interface Span {
  readonly begin: number;
  readonly end: number;
  readonly variants: readonly SpanVariant[];
}
