/** What goes with searches: suggestions while somebody types, and records like one. */
import type { Answer, ServiceClient } from '../support/client.js';
import { holdsTrue, same } from './difference.js';
import { writeFilter, type Filter } from './reference-filter.js';
import type { ReferenceList } from './reference-list.js';
import type { Value } from './reference-values.js';

const SIZE = 50;
const QUERY_CHARACTERS_MAX = 2000;

interface Place {
  /** Of the list and its current version, as paths have it. */
  readonly path: string;
  readonly list: ReferenceList;
}

export async function checkSuggestions(client: ServiceClient, { path, list }: Place, typed: string): Promise<void> {
  const options = { query: typed, size: SIZE };
  const answers: readonly Answer[] = [
    await client.post(`/suggest/${path}`, options),
    await client.get(`/suggest/${path}`, options),
  ];
  for (const { status, body } of answers) {
    same('status of suggestions', status, 200);
    const { suggestions } = body as { suggestions: { text: string; kind: string; record_count?: number }[] };
    // A record may be called as a word is: they are two suggestions of a kind each.
    const twice = suggestions.length > new Set(suggestions.map(({ text, kind }) => `${kind} ${text}`)).size;
    holdsTrue('suggestions that come once', !twice, () => [typed, suggestions]);
    for (const { text, kind, record_count: count } of suggestions) {
      if (kind === 'record') holdsTrue('suggested record', list.find(text) !== undefined, () => [text, typed]);
      // Rules may find more than the words do.
      if (count === undefined || list.rules.length + list.queryRules.length > 0 || !/^[a-z ]+$/.test(text)) continue;
      const words = text.split(' ');
      const having = list.search({ query: { words, match: 'all', typos: false } }).length;
      same('records with the words of a suggestion', [text, count], [text, having]);
    }
  }
}

export async function checkRelated(
  client: ServiceClient,
  { path, list }: Place,
  { name, filter }: { readonly name: string; readonly filter: Filter | undefined },
): Promise<void> {
  const text = filter && writeFilter(filter, () => 0);
  if (text !== undefined && text.length > QUERY_CHARACTERS_MAX) return;
  const { status, body } = await client.get(`/related/${path}/${encodeURIComponent(name)}`, {
    size: SIZE,
    ...(text !== undefined && { filter: text }),
  });
  if (list.find(name) === undefined) return same('status of what is like a record that is not there', status, 404);
  same('status of related records', status, 200);
  const { results, total_count: total } = body as {
    results: { name: string; fields: Record<string, Value> }[];
    total_count: number;
  };
  const passing = new Set(list.search(filter === undefined ? {} : { filter }).map((record) => record.name));
  same('related records that come twice', results.length, new Set(results.map((hit) => hit.name)).size);
  same('related records of a page', results.length, Math.min(SIZE, total));
  for (const hit of results) {
    holdsTrue('related record', hit.name !== name && passing.has(hit.name), () => [hit.name, name]);
    same('fields of a related record', { ...hit.fields }, Object.fromEntries(list.find(hit.name)?.fields ?? []));
  }
}
