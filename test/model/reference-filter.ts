/** Filters as trees: how to write them as text, and which records they match. */
import { SeededRandom } from '../support/random.js';
import type { QueryRule } from './reference-words.js';
import { compareKeys, keyOf, type FacetDefinition, type Scalar } from './reference-values.js';

export type Comparison = '=' | '!=' | '<' | '<=' | '>' | '>=';
export type Filter =
  | { readonly kind: 'compare'; readonly field: string; readonly by: Comparison; readonly value: Scalar }
  | { readonly kind: 'in'; readonly field: string; readonly values: readonly Scalar[] }
  | { readonly kind: 'null'; readonly field: string; readonly by: '=' | '!=' }
  | { readonly kind: 'and' | 'or'; readonly parts: readonly Filter[] }
  | { readonly kind: 'not'; readonly part: Filter };

const WORDS: Readonly<Record<Comparison, string>> = {
  '=': 'eq',
  '!=': 'ne',
  '<': 'lt',
  '<=': 'le',
  '>': 'gt',
  '>=': 'ge',
};

/** Returns the definition of a facet and the values that a record has of it. */
export type FacetReader = (field: string) => {
  readonly facet: FacetDefinition | undefined;
  readonly values: readonly Scalar[];
};

/** True if the filter matches. The logic has two values: without a value of the facet, `not` and `!=` are true. */
export function holds(filter: Filter, read: FacetReader): boolean {
  switch (filter.kind) {
    case 'and':
      return filter.parts.every((part) => holds(part, read));
    case 'or':
      return filter.parts.some((part) => holds(part, read));
    case 'not':
      return !holds(filter.part, read);
    case 'null':
      return (read(filter.field).values.length === 0) === (filter.by === '=');
    case 'in':
      return filter.values.some((value) => compares(filter.field, '=', value, read));
    case 'compare':
      return filter.by === '!='
        ? !compares(filter.field, '=', filter.value, read)
        : compares(filter.field, filter.by, filter.value, read);
  }
}

function compares(field: string, by: Comparison, value: Scalar, read: FacetReader): boolean {
  const { facet, values } = read(field);
  if (facet === undefined) return false;
  const wanted = keyOf(facet.type, value);
  return values.some((each) => {
    const order = compareKeys(keyOf(facet.type, each), wanted);
    if (by === '=') return order === 0;
    if (by === '<') return order < 0;
    if (by === '<=') return order <= 0;
    return by === '>' ? order > 0 : order >= 0;
  });
}

/** Returns choices for `writeFilter`, deterministic for a seed. */
export function styleOf(seed: number): (ways: number) => number {
  const random = new SeededRandom(seed);
  return (ways) => random.below(ways);
}

/** Writes the filter as text; `style` chooses among the equivalent notations. */
export function writeFilter(filter: Filter, style: (ways: number) => number): string {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return filter.parts.map((part) => `(${writeFilter(part, style)})`).join(` ${filter.kind} `);
    case 'not':
      return `not (${writeFilter(filter.part, style)})`;
    case 'null':
      return `${writeName(filter.field, style)} ${filter.by} null`;
    case 'in':
      return `${writeName(filter.field, style)} in (${filter.values.map((value) => writeValue(value, style)).join(', ')})`;
    case 'compare': {
      const by = style(3) === 0 ? ` ${WORDS[filter.by]} ` : filter.by;
      return `${writeName(filter.field, style)}${by}${writeValue(filter.value, style)}`;
    }
  }
}

const PLAIN = /^[a-z_][a-z0-9_]*$/i;
const RESERVED = new Set(['and', 'or', 'not', 'in', 'null', 'true', 'false', 'eq', 'ne', 'lt', 'le', 'gt', 'ge']);

function writeName(name: string, style: (ways: number) => number): string {
  return PLAIN.test(name) && !RESERVED.has(name.toLowerCase()) && style(2) === 0 ? name : `\`${name}\``;
}

function writeValue(value: Scalar, style: (ways: number) => number): string {
  if (typeof value !== 'string') return String(value);
  const quote = style(2) === 0 ? "'" : '"';
  return `${quote}${value.replaceAll(quote, quote + quote)}${quote}`;
}

/** Returns the rule as the API has it; the capture group is named in some rules and numbered in others. */
export function writtenRule({ name, word, field, value, captures, keep }: QueryRule) {
  const style = styleOf(name.length + word.length);
  if (captures === undefined) {
    const filter = writeFilter({ kind: 'compare', field, by: '=', value }, style);
    return { name, pattern: String.raw`\b${word}\b`, filter, keep };
  }
  const isNamed = style(2) === 0;
  const group = isNamed ? '${it}' : '$1';
  const values = captures === 'alone' ? ` = ${group}` : ` in (${group}, ${writeValue(value, style)})`;
  const pattern = String.raw`\b${word} (${isNamed ? '?P<it>' : ''}\w+)\b`;
  return { name, pattern, filter: writeName(field, style) + values, keep };
}

/**
 * Returns the filter without the conditions that `and` joins on its highest level and that name no other field: the
 * filter itself if it has none, undefined if nothing is left.
 */
export function withoutOwnConditions(field: string, filter: Filter): Filter | undefined {
  const isOwn = (part: Filter) => filterFields(part).every((each) => each === field);
  if (filter.kind !== 'and') return isOwn(filter) ? undefined : filter;
  const parts = filter.parts.filter((part) => !isOwn(part));
  return parts.length === 0 ? undefined : { kind: 'and', parts };
}

/** True if parentheses that `and` joins hold several conditions that `and` joins: the documentation leaves open which. */
export function hasNestedAnds(filter: Filter): boolean {
  return filter.kind === 'and' && filter.parts.some((part) => part.kind === 'and');
}

export function filterFields(filter: Filter): string[] {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return filter.parts.flatMap(filterFields);
    case 'not':
      return filterFields(filter.part);
    default:
      return [filter.field];
  }
}
