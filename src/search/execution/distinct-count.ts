/**
 * Counts the hits of a search with one hit per value (`distinct`), and the values of its facets, over all lists together:
 * lists of a group may share values.
 */
import type { CountedColumn, Kernel } from '../../../native-bindings/index.js';
import { facetsByName } from '../filter/filter-resolver.js';
import { singleColumn } from '../plan/plan-encoder.js';
import type { CountedHits, SearchedLists } from './facet-answer.js';
import type { HitPlace } from './group-ranking.js';
import type { ListSearch } from './list-search.js';

/** Facets of one name and type, of one or several lists. */
interface KindOfFacet {
  readonly name: string;
  /** The first list that has the facet. */
  readonly listIndex: number;
}

export function countDistinctHits(
  kernel: Pick<Kernel, 'countDistinct'>,
  { request, searches }: SearchedLists,
  places: readonly HitPlace[],
): CountedHits {
  const kinds = new KindsOfFacets();
  const lists = searches.map((search, listIndex) => {
    const { generation, result } = search;
    const facets = request.facets.flatMap((name) => kinds.column(search, name, listIndex) ?? []);
    const distinct = kinds.singleColumn(search, request.distinct as string);
    const own = places.filter((place) => place.listIndex === listIndex);
    const hits = Uint32Array.from(own, ({ hit }) => result.hits.recordNumber(hit));
    return { generation, matches: result.matches, hits, distinct, facets };
  });
  const facetKinds = kinds.all();
  const words = searches[0]?.facetWords ?? [];
  const counts = kernel.countDistinct(lists, { kinds: facetKinds.length, size: request.options.facet_size, words });
  const sharing = counts.sharing.map((ofList) => ofList.values());
  return {
    request,
    total: counts.total,
    sharing: places.map(({ listIndex }) => sharing[listIndex]?.next().value ?? 1),
    facets: searches.map(({ list }, listIndex) => ({
      definition: list.settings.definition,
      facetsJson: joined(facetKinds, counts.facets, listIndex),
      rangesJson: joined(facetKinds, counts.ranges, listIndex),
    })),
  };
}

/** Returns the facets that are counted for a list, which are those of no earlier one, as a JSON object. */
function joined(kinds: readonly KindOfFacet[], jsons: readonly string[], listIndex: number): string {
  const members = kinds.flatMap((kind, index) => {
    const json = jsons[index];
    return kind.listIndex !== listIndex || json === undefined || json === ''
      ? []
      : [`${JSON.stringify(kind.name)}:${json}`];
  });
  return `{${members.join(',')}}`;
}

class KindsOfFacets {
  private readonly kinds: KindOfFacet[] = [];
  private readonly byNameAndType = new Map<string, number>();
  private readonly distinctTypes: string[] = [];

  /** In the order of their numbers. */
  all(): readonly KindOfFacet[] {
    return this.kinds;
  }

  column({ list }: ListSearch, name: string, listIndex: number): CountedColumn | undefined {
    const facet = facetsByName(list.settings.definition).get(name);
    const column = list.layout.column(name);
    if (facet === undefined || column === undefined) return undefined;
    const key = JSON.stringify([name, facet.type]);
    let kind = this.byNameAndType.get(key);
    if (kind === undefined) {
      kind = this.kinds.push({ name, listIndex }) - 1;
      this.byNameAndType.set(key, kind);
    }
    return { column, kind };
  }

  /** Returns the column by which hits are distinct. Its kind is the facet's type. */
  singleColumn({ list }: ListSearch, name: string): CountedColumn | undefined {
    const type = facetsByName(list.settings.definition).get(name)?.type;
    const column = singleColumn(name, list.layout);
    if (type === undefined || column === undefined) return undefined;
    if (!this.distinctTypes.includes(type)) this.distinctTypes.push(type);
    return { column, kind: this.distinctTypes.indexOf(type) };
  }
}
