/**
 * Resolves a syntax tree into filters: names become facets, and literals become column values.
 *
 * In a group each list has its own definition. A field that one list lacks, or has with a type that the value does not
 * fit, counts as missing in that list. Throws only if no list can evaluate the condition. A name that no list has as a
 * facet may be a member of the record itself: its name, creation time or modification time.
 */
import type { Facet, FieldDefinition } from '../../catalog/index.js';
import { fieldKind } from '../../fields/index.js';
import { CREATED_COLUMN, MODIFIED_COLUMN, NAME_COLUMN } from '../../index/segments/kernel-layout.js';
import { didYouMean, foldFacetValue, type ServiceError } from '../../platform/index.js';
import { excerpt, filterError } from './filter-error.js';
import {
  FILTER_ALL,
  FILTER_NONE,
  type FilterNode,
  type FilterValue,
  type Literal,
  type SyntaxLeaf,
  type SyntaxNode,
} from './filter-nodes.js';
import { parseFilterSyntax } from './filter-parser.js';

const FACETS_NAMED_MAX = 30;

/** Parses a filter for one list. Throws `invalid-filter` only. */
export function parseFilter(text: string, definition: FieldDefinition): FilterNode {
  return parseFilters(text, [definition])[0] as FilterNode;
}

/** Parses a filter for the lists of a group. Returns one filter per definition, in order. */
export function parseFilters(text: string, definitions: readonly FieldDefinition[]): readonly FilterNode[] {
  const syntax = parseFilterSyntax(text);
  return new FilterResolver(definitions).resolve(syntax);
}

/** Resolves a syntax tree without captures for one list. Throws `invalid-filter` only. */
export function resolveFilter(syntax: SyntaxNode, definition: FieldDefinition): FilterNode {
  return new FilterResolver([definition]).resolve(syntax)[0] as FilterNode;
}

class FilterResolver {
  private readonly facets: readonly ReadonlyMap<string, Facet>[];

  constructor(private readonly definitions: readonly FieldDefinition[]) {
    this.facets = definitions.map(facetsByName);
  }

  /** Returns one node per definition. */
  resolve(node: SyntaxNode): FilterNode[] {
    switch (node.kind) {
      case 'and':
      case 'or': {
        const operands = node.nodes.map((operand) => this.resolve(operand));
        return this.definitions.map((_, index) =>
          combine(
            node.kind,
            operands.map((operand) => operand[index] as FilterNode),
          ),
        );
      }
      case 'not':
        return this.resolve(node.node).map(negate);
      case 'compare':
      case 'in':
      case 'is-null':
        return this.leaf(node);
    }
  }

  private leaf(leaf: SyntaxLeaf): FilterNode[] {
    let firstError: ServiceError | undefined;
    let answered = false;
    const { name } = leaf.field;
    const own = this.facets.some((facets) => facets.has(name)) ? undefined : RECORD_FIELDS.get(name);
    const nodes = this.facets.map((facets) => {
      const facet = own ?? facets.get(name);
      if (facet === undefined) return missing(leaf);
      const resolved = resolveLeaf(leaf, facet);
      if ('kind' in resolved) {
        answered = true;
        return resolved;
      }
      firstError ??= resolved;
      return missing(leaf);
    });
    if (answered) return nodes;
    throw firstError ?? this.unknownField(name, leaf.field.at);
  }

  private unknownField(name: string, at: number): ServiceError {
    const names = [...new Set(this.facets.flatMap((facets) => [...facets.keys()]))];
    if (names.length === 0)
      return filterError(
        at,
        `${excerpt(name)} is no facet: this list has none to filter by but ${RECORD_FIELD_NAMES} of its records`,
      );
    const more = names.length > FACETS_NAMED_MAX ? ` and ${names.length - FACETS_NAMED_MAX} more` : '';
    const facets = `Facets are ${names.slice(0, FACETS_NAMED_MAX).join(', ')}${more}`;
    const known = `${facets}; each record has ${RECORD_FIELD_NAMES}.`;
    return filterError(
      at,
      `${excerpt(name)} is no facet of this list.${didYouMean(name, [...names, ...RECORD_FIELDS.keys()])} ${known}`,
    );
  }
}

/** Members that every record has, in columns that every list has. */
export const RECORD_FIELDS: ReadonlyMap<string, Facet> = new Map(
  (
    [
      ['name', NAME_COLUMN, 'string'],
      ['created_utc', CREATED_COLUMN, 'date'],
      ['modified_utc', MODIFIED_COLUMN, 'date'],
    ] as const
  ).map(([name, column, type]) => [name, { name: column, type, cardinality: 'Single' }]),
);
const RECORD_FIELD_NAMES = [...RECORD_FIELDS.keys()].join(', ');

const facetsOfDefinition = new WeakMap<FieldDefinition, ReadonlyMap<string, Facet>>();

/** Returns the facets by name. Cached per definition, since definitions are immutable. */
export function facetsByName(definition: FieldDefinition): ReadonlyMap<string, Facet> {
  let facets = facetsOfDefinition.get(definition);
  if (facets === undefined) {
    facets = new Map(definition.facets.map((facet) => [facet.name, facet]));
    facetsOfDefinition.set(definition, facets);
  }
  return facets;
}

/** Returns what a condition means for records without a value in its field. */
function missing(leaf: SyntaxLeaf): FilterNode {
  if (leaf.kind === 'is-null') return FILTER_ALL;
  return leaf.kind === 'compare' && leaf.operator === '!=' ? FILTER_ALL : FILTER_NONE;
}

function resolveLeaf(leaf: SyntaxLeaf, facet: Facet): FilterNode | ServiceError {
  if (leaf.kind === 'is-null') return Object.freeze({ kind: 'is-null', field: facet.name });
  if (leaf.kind === 'in') {
    const values: FilterValue[] = [];
    for (const literal of leaf.literals) {
      const value = columnValue(literal, facet, leaf.field.name);
      if (isError(value)) return value;
      values.push(value);
    }
    return Object.freeze({ kind: 'in', field: facet.name, values: Object.freeze(values) });
  }
  if (!fieldKind(facet.type).filter.isOrdered && leaf.operator !== '=' && leaf.operator !== '!=') {
    return filterError(
      leaf.operatorAt,
      `${excerpt(leaf.field.name)} is a ${facet.type} facet, which can only be compared with = and !=`,
    );
  }
  const value = columnValue(leaf.literal, facet, leaf.field.name);
  if (isError(value)) return value;
  return Object.freeze({ kind: 'compare', field: facet.name, operator: leaf.operator, value });
}

function isError(value: FilterValue | ServiceError): value is ServiceError {
  return value instanceof Error;
}

/** Returns the literal as a value of the facet's column, or the error why it does not fit. */
function columnValue(literal: Literal, facet: Facet, written: string): FilterValue | ServiceError {
  // A capture is known only when its rule matches; until then, any value of the facet stands for it.
  const { column, filter } = fieldKind(facet.type);
  if (literal.kind === 'template') return column === 'string' ? ANY_TEXT : number(0);
  const held = filter.read(literal);
  if (held === undefined) {
    return filter.unreadable !== undefined && 'text' in literal
      ? filterError(literal.at, `${excerpt(literal.text)} ${filter.unreadable}`)
      : mismatch(literal, `${excerpt(written)} is a ${facet.type} facet`, filter.expected);
  }
  return typeof held === 'number' ? number(held) : Object.freeze({ kind: 'string', key: foldFacetValue(held) });
}

const ANY_TEXT: FilterValue = Object.freeze({ kind: 'string', key: '' });

function number(value: number): FilterValue {
  return Object.freeze({ kind: 'number', value });
}

function mismatch(literal: Literal, what: string, expected: string): ServiceError {
  const found = literal.kind === 'string' ? `the text ${excerpt(literal.text)}` : `a ${literal.kind}`;
  return filterError(literal.at, `${what}: expected ${expected}, found ${found}`);
}

function negate(node: FilterNode): FilterNode {
  switch (node.kind) {
    case 'all':
      return FILTER_NONE;
    case 'none':
      return FILTER_ALL;
    case 'not':
      return node.node;
    default:
      return Object.freeze({ kind: 'not', node });
  }
}

/** Combines nodes without neutral operands. Returns the deciding constant if any operand is one. */
function combine(kind: 'and' | 'or', operands: readonly FilterNode[]): FilterNode {
  const neutral = kind === 'and' ? 'all' : 'none';
  const deciding = kind === 'and' ? FILTER_NONE : FILTER_ALL;
  const nodes: FilterNode[] = [];
  for (const operand of operands) {
    if (operand.kind === deciding.kind) return deciding;
    if (operand.kind !== neutral) nodes.push(operand);
  }
  if (nodes.length === 0) return kind === 'and' ? FILTER_ALL : FILTER_NONE;
  if (nodes.length === 1) return nodes[0] as FilterNode;
  return Object.freeze({ kind, nodes: Object.freeze(nodes) });
}
