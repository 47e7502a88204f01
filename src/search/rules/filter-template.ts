/**
 * Filters with captures in place of values. A template is parsed once into a syntax tree. Captured text is inserted
 * into the tree as a value typed by its facet, and never parsed as syntax.
 */
import type { Facet } from '../../catalog/index.js';
import { fieldKind } from '../../fields/index.js';
import type { Literal, SyntaxLeaf, SyntaxNode } from '../filter/filter-nodes.js';

/** Returns the text of a capture group by number or name. Undefined if it took no part in the match. */
export type Captures = (group: string) => string | undefined;

/** Returns the tree with captures replaced by values. Undefined if a capture is missing or does not fit its facet. */
export function bindCaptures(
  node: SyntaxNode,
  captures: Captures,
  facets: ReadonlyMap<string, Facet>,
): SyntaxNode | undefined {
  switch (node.kind) {
    case 'and':
    case 'or': {
      const nodes: SyntaxNode[] = [];
      for (const operand of node.nodes) {
        const bound = bindCaptures(operand, captures, facets);
        if (bound === undefined) return undefined;
        nodes.push(bound);
      }
      return { kind: node.kind, nodes };
    }
    case 'not': {
      const bound = bindCaptures(node.node, captures, facets);
      return bound === undefined ? undefined : { kind: 'not', node: bound };
    }
    case 'compare':
    case 'in':
    case 'is-null':
      return bindLeaf(node, captures, facets.get(node.field.name));
  }
}

function bindLeaf(leaf: SyntaxLeaf, captures: Captures, facet: Facet | undefined): SyntaxNode | undefined {
  if (leaf.kind === 'is-null') return leaf;
  if (leaf.kind === 'compare') {
    const literal = bindLiteral(leaf.literal, captures, facet);
    return literal === undefined ? undefined : { ...leaf, literal };
  }
  const literals: Literal[] = [];
  for (const template of leaf.literals) {
    const literal = bindLiteral(template, captures, facet);
    if (literal === undefined) return undefined;
    literals.push(literal);
  }
  return { ...leaf, literals };
}

function bindLiteral(literal: Literal, captures: Captures, facet: Facet | undefined): Literal | undefined {
  if (literal.kind !== 'template') return literal;
  let text = '';
  for (const part of literal.parts) {
    const captured = typeof part === 'string' ? part : captures(part.group);
    if (captured === undefined) return undefined;
    text += captured;
  }
  const { at } = literal;
  if (facet === undefined) return { kind: 'string', text, at };
  const written = fieldKind(facet.type).filter.ofCapture(text);
  return written === undefined ? undefined : { ...written, at };
}

/** Returns the capture groups that the template names. */
export function capturesOf(node: SyntaxNode): readonly { readonly group: string; readonly at: number }[] {
  switch (node.kind) {
    case 'and':
    case 'or':
      return node.nodes.flatMap(capturesOf);
    case 'not':
      return capturesOf(node.node);
    case 'is-null':
      return [];
    case 'compare':
      return literalCaptures(node.literal);
    case 'in':
      return node.literals.flatMap(literalCaptures);
  }
}

function literalCaptures(literal: Literal): readonly { readonly group: string; readonly at: number }[] {
  if (literal.kind !== 'template') return [];
  return literal.parts.flatMap((part) => (typeof part === 'string' ? [] : [{ group: part.group, at: literal.at }]));
}
