/**
 * Converts facet values to the form in which answers show them. The kernel prints the values of its columns. Most kinds
 * of fields show those; a kind that stores a number for a text, such as a duration, formats it, so that a value in an
 * answer is valid in a filter.
 */
import type { FieldDefinition } from '../../catalog/index.js';
import { fieldKind, type FieldKind } from '../../fields/index.js';
import { facetsByName } from '../filter/filter-resolver.js';

type Held = string | number | boolean;

/** The kernel's facets of one list, as JSON. */
export interface ListFacets {
  readonly json: string;
  readonly definition: FieldDefinition;
}

/** Converts value counts. */
export function shownFacets({ json, definition }: ListFacets, names: readonly string[]): string {
  if (!names.some((name) => shownOf(definition, name) !== undefined)) return json;
  const facets = Object.entries(JSON.parse(json) as Record<string, { readonly value: Held; readonly count: number }[]>);
  const shown = facets.map(([name, values]) => {
    const show = shownOf(definition, name);
    return [name, show === undefined ? values : values.map(({ value, count }) => ({ value: show(value), count }))];
  });
  return JSON.stringify(Object.fromEntries(shown));
}

/**
 * Merges the ranges (least and greatest values) of the lists with `merge` and converts them. A field of different kinds
 * keeps the range of the first list.
 */
export function shownRanges(
  lists: readonly ListFacets[],
  names: readonly string[],
  merge: (jsons: readonly string[]) => string | undefined,
): string | undefined {
  const kept = lists.filter(({ json }) => json !== '');
  if (!names.some((name) => kept.some(({ definition }) => shownOf(definition, name) !== undefined)))
    return merge(kept.map(({ json }) => json));
  const firsts = new Map<string, FieldKind['shown']>();
  const comparable = kept.map(({ json, definition }) => {
    const ranges = Object.entries(JSON.parse(json) as Record<string, unknown>).filter(([name]) => {
      const show = shownOf(definition, name);
      if (!firsts.has(name)) firsts.set(name, show);
      return firsts.get(name) === show;
    });
    return JSON.stringify(Object.fromEntries(ranges));
  });
  const merged = merge(comparable);
  if (merged === undefined) return undefined;
  const shown = Object.entries(JSON.parse(merged) as Record<string, { readonly min: Held; readonly max: Held }>).map(
    ([name, { min, max }]) => {
      const show = firsts.get(name) ?? ((held: Held) => held);
      return [name, { min: show(min), max: show(max) }];
    },
  );
  return JSON.stringify(Object.fromEntries(shown));
}

function shownOf(definition: FieldDefinition, name: string): FieldKind['shown'] {
  const facet = facetsByName(definition).get(name);
  return facet === undefined ? undefined : fieldKind(facet.type).shown;
}
