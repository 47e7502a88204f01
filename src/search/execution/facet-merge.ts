/**
 * Merges the facets of the lists of a group: adds the counts of equal values and widens ranges. Works on the kernel's
 * JSON.
 */
import { foldFacetValue } from '../../platform/index.js';

type FacetValue = string | number | boolean;
interface FacetCount {
  readonly value: FacetValue;
  count: number;
}
interface FacetRange {
  readonly min: string | number;
  readonly max: string | number;
}

/** Returns the `size` most frequent values of each facet; equally frequent values are ordered by key. */
export function mergeFacets(
  jsons: readonly string[],
  names: readonly string[],
  size: number,
  /** Throws if the search has to stop. */
  stopIfAsked: () => void = () => undefined,
): string {
  const parsed = jsons.map((json) => {
    stopIfAsked();
    return JSON.parse(json) as Record<string, FacetCount[]>;
  });
  const members = names.map((name) => {
    const counts = new Map<string, FacetCount>();
    for (const facets of parsed) {
      stopIfAsked();
      for (const { value, count } of Object.hasOwn(facets, name) ? (facets[name] as FacetCount[]) : []) {
        const key = facetKey(value);
        const known = counts.get(key);
        if (known === undefined) counts.set(key, { value, count });
        else known.count += count;
      }
    }
    const ranked = [...counts].sort(byCountThenKey).slice(0, size);
    return `${JSON.stringify(name)}:${JSON.stringify(ranked.map(([, counted]) => counted))}`;
  });
  return `{${members.join(',')}}`;
}

/** Returns the key of a value. Values that are equal in a filter have the same key. */
function facetKey(value: FacetValue): string {
  return typeof value === 'string' ? `s${foldFacetValue(value)}` : `${typeof value}${String(value)}`;
}

function byCountThenKey([leftKey, left]: [string, FacetCount], [rightKey, right]: [string, FacetCount]): number {
  if (left.count !== right.count) return right.count - left.count;
  if (typeof left.value === 'number' && typeof right.value === 'number') return left.value - right.value;
  return leftKey < rightKey ? -1 : leftKey > rightKey ? 1 : 0;
}

/**
 * Returns the merged ranges, or undefined if no list has a range. Dates are ISO strings, which sort chronologically.
 */
export function mergeRanges(jsons: readonly string[]): string | undefined {
  const merged = new Map<string, FacetRange>();
  for (const json of jsons) {
    for (const [name, range] of Object.entries(JSON.parse(json) as Record<string, FacetRange>)) {
      const known = merged.get(name);
      // A facet that is a number in one list and a date in another keeps the range of the first list.
      if (known !== undefined && typeof known.min !== typeof range.min) continue;
      merged.set(name, {
        min: known !== undefined && known.min <= range.min ? known.min : range.min,
        max: known !== undefined && known.max >= range.max ? known.max : range.max,
      });
    }
  }
  return merged.size === 0 ? undefined : JSON.stringify(Object.fromEntries(merged));
}
