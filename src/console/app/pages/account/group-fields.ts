/** The fields that a search in a group can name: those of all its lists. */
import { useQuery } from '@tanstack/react-query';
import { listGroupList, listList, type ListListOutput } from '../../service/client.js';
import { readingGroups, readingLists } from '../../service/lists.js';
import { useMay } from '../../service/session.js';
import type { SearchedFields } from '../list/search-options.js';

type Fields = Pick<ListListOutput['lists'][number], 'name' | 'facets' | 'searchable_fields'>;

/** Returns no fields until they are read; the options that do not choose from them can be used meanwhile. */
export function useGroupFields(account: string, group: string): SearchedFields {
  const may = useMay();
  const groups = useQuery({ ...readingGroups(account), enabled: may(listGroupList) });
  const lists = useQuery({ ...readingLists(account), enabled: may(listList) });
  const read = groups.data?.groups.find(({ name }) => name === group);
  const members = new Set(read?.lists.map(({ list }) => list));
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
