/**
 * Facets as the kinds of their fields show values. The kernel prints what its columns hold, which is what most kinds show; one that keeps a number for
 * another text, such as a length of time, says how it is written, so that a value of an answer is one that a filter takes.
 */
import type { FieldDefinition } from '../../catalog/index.js';
import { fieldKind, type FieldKind } from '../../fields/index.js';
import { facetsByName } from '../filter/filter-resolver.js';

type Held = string | number | boolean;

/** What the kernel says of the facets of one list, as JSON. */
export interface ListFacets {
  readonly json: string;
  readonly definition: FieldDefinition;
}

/** Counts of values, as the kernel has them. */
export function shownFacets({ json, definition }: ListFacets, names: readonly string[]): string {
  if (!names.some((name) => shownOf(definition, name) !== undefined)) return json;
  const facets = Object.entries(JSON.parse(json) as Record<string, { readonly value: Held; readonly count: number }[]>);
  const shown = facets.map(([name, values]) => {
    const show = shownOf(definition, name);
    return [name, show === undefined ? values : values.map(({ value, count }) => ({ value: show(value), count }))];
  });
  return JSON.stringify(Object.fromEntries(shown));
}

/** The least and greatest values of the lists together, made one by `merge`. A field of different kinds has the range of the first list. */
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
