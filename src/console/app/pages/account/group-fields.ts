/** The fields that a search in a group can name: those of all its lists. */
import { useQuery } from '@tanstack/react-query';
import { listGroupList, listList, type ListListOutput } from '../../service/client.js';
import { readingGroups, readingLists } from '../../service/lists.js';
import { useMay } from '../../service/session.js';
import type { SearchedFields } from '../list/search-options.js';

type Fields = Pick<ListListOutput['lists'][number], 'name' | 'facets' | 'searchable_fields'>;

/** Returns the names of the group's lists; none until they are read. */
export function useMembers(account: string, group: string): readonly string[] {
  const may = useMay();
  const groups = useQuery({ ...readingGroups(account), enabled: may(listGroupList) });
  return groups.data?.groups.find(({ name }) => name === group)?.lists.map(({ list }) => list) ?? [];
}

/** Returns no fields until they are read; the options that do not choose from them can be used meanwhile. */
export function useGroupFields(account: string, group: string): SearchedFields {
  const may = useMay();
  const members = new Set(useMembers(account, group));
  const lists = useQuery({ ...readingLists(account), enabled: may(listList) });
  return fieldsOfAll((lists.data?.lists ?? []).filter(({ name }) => members.has(name)));
}

/** A facet has one value per record only if it does in each list that has it. */
export function fieldsOfAll(lists: readonly Fields[]): SearchedFields {
  const facets = new Map<string, SearchedFields['facets'][number]>();
  for (const { name, cardinality } of lists.flatMap((list) => list.facets)) {
    if (!facets.has(name) || cardinality === 'Many') facets.set(name, { name, cardinality });
  }
  const searchable = new Set(lists.flatMap((list) => list.searchable_fields.map(({ name }) => name)));
  return { facets: [...facets.values()], searchable_fields: [...searchable].map((name) => ({ name })) };
}
