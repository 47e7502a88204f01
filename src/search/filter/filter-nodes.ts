/**
 * Trees of the filter language. Text is parsed into a syntax tree, with names and literals as written and their
 * positions. Resolving that against a field definition gives a filter tree, whose values have the form of the columns.
 */
import type { PlanComparison } from '../../../native-bindings/query-plan.js';

export type ComparisonOperator = PlanComparison;

/** A value as written. `date` is an unquoted date; a quoted one is a string until the facet's type is known. */
export type Literal =
  | { readonly kind: 'string'; readonly text: string; readonly at: number }
  | { readonly kind: 'date'; readonly text: string; readonly at: number }
  | { readonly kind: 'number'; readonly value: number; readonly at: number }
  | { readonly kind: 'boolean'; readonly value: boolean; readonly at: number }
  /**
   * Text with captures, in filters of query rules only. Captures are replaced by values before the filter is resolved.
   */
  | { readonly kind: 'template'; readonly parts: readonly (string | CaptureReference)[]; readonly at: number };

/** Capture group of a pattern, by number or name. */
export interface CaptureReference {
  readonly group: string;
}

export interface FieldReference {
  readonly name: string;
  /** Offset in the text, in UTF-16 units from 0. */
  readonly at: number;
}

export type SyntaxLeaf =
  | {
      readonly kind: 'compare';
      readonly field: FieldReference;
      readonly operator: ComparisonOperator;
      readonly operatorAt: number;
      readonly literal: Literal;
    }
  | { readonly kind: 'in'; readonly field: FieldReference; readonly literals: readonly Literal[] }
  | { readonly kind: 'is-null'; readonly field: FieldReference };

export type SyntaxNode =
  | SyntaxLeaf
  | { readonly kind: 'and'; readonly nodes: readonly SyntaxNode[] }
  | { readonly kind: 'or'; readonly nodes: readonly SyntaxNode[] }
  | { readonly kind: 'not'; readonly node: SyntaxNode };

/** A value as columns hold it: the folded key of a string, or a number (dates in milliseconds, booleans as 0 and 1). */
export type FilterValue =
  { readonly kind: 'string'; readonly key: string } | { readonly kind: 'number'; readonly value: number };

export type FilterNode =
  | { readonly kind: 'all' }
  | { readonly kind: 'none' }
  | { readonly kind: 'and'; readonly nodes: readonly FilterNode[] }
  | { readonly kind: 'or'; readonly nodes: readonly FilterNode[] }
  | { readonly kind: 'not'; readonly node: FilterNode }
  | {
      readonly kind: 'compare';
      readonly field: string;
      readonly operator: ComparisonOperator;
      readonly value: FilterValue;
    }
  | { readonly kind: 'in'; readonly field: string; readonly values: readonly FilterValue[] }
  | { readonly kind: 'is-null'; readonly field: string }
  | { readonly kind: 'within'; readonly latitude: number; readonly longitude: number; readonly metres: number }
  | {
      readonly kind: 'in-box';
      readonly south: number;
      readonly west: number;
      readonly north: number;
      readonly east: number;
    };

export const FILTER_ALL: FilterNode = Object.freeze({ kind: 'all' });
export const FILTER_NONE: FilterNode = Object.freeze({ kind: 'none' });

/** Returns the conjunction of filters, flattened and without `all` nodes. */
export function allOf(nodes: readonly FilterNode[]): FilterNode {
  const wanted = nodes
    .flatMap((node) => (node.kind === 'and' ? node.nodes : [node]))
    .filter((node) => node.kind !== 'all');
  if (wanted.length === 0) return FILTER_ALL;
  if (wanted.length === 1) return wanted[0] as FilterNode;
  return Object.freeze({ kind: 'and', nodes: Object.freeze(wanted) });
}

/** Returns the filter without its top-level `and` conditions that concern only this field. Undefined if it has none. */
export function withoutConditionsOn(field: string, filter: FilterNode): FilterNode | undefined {
  const conditions = filter.kind === 'and' ? filter.nodes : [filter];
  const others = conditions.filter((node) => !isOn(field, node));
  return others.length === conditions.length ? undefined : allOf(others);
}

function isOn(field: string, node: FilterNode): boolean {
  switch (node.kind) {
    case 'and':
    case 'or':
      return node.nodes.every((each) => isOn(field, each));
    case 'not':
      return isOn(field, node.node);
    case 'compare':
    case 'in':
    case 'is-null':
      return node.field === field;
    case 'all':
    case 'none':
    case 'within':
    case 'in-box':
      return false;
  }
}
