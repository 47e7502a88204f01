/** Checks the requests that accompany searches: suggestions while typing, and related records. */
import { isDeepStrictEqual } from 'node:util';
import type { ServiceClient } from '../support/client.js';
import { Difference, holdsTrue, same } from './difference.js';
import { unescaped } from './highlight-check.js';
import { writeFilter, type Filter } from './reference-filter.js';
import type { ReferenceList } from './reference-list.js';
import { fold, membersOf, wellFormed, type Value } from './reference-values.js';
import { wordsOf } from './reference-words.js';

const SIZE = 50;
/** Names and queries share the page: this many of each kind are always shown. */
const SHOWN_OF_A_KIND = SIZE / 2;
const QUERY_CHARACTERS_MAX = 2000;
/** Between two requests, a merge may change which terms distinguish a record. */
const TRIES_MAX = 4;
/** At most this many records that were clicked for the same searches come before the others, whatever their scores. */
const CLICKED_MAX = 10;

/** List that is asked, with the name that answers of a group give it. */
interface Member {
  readonly name: string;
  readonly list: ReferenceList;
}
interface Suggested {
  /** List or group with its version, as it is written in the path. */
  readonly path: string;
  readonly members: readonly Member[];
  readonly typed: string;
  /** Size of the second, smaller request. */
  readonly few: number;
}
interface Suggestion {
  readonly text: string;
  readonly kind: 'record' | 'query';
  readonly highlight: string;
  readonly record_count?: number;
  readonly list_name?: string;
}

export async function checkSuggestions(client: ServiceClient, asked: Suggested): Promise<void> {
  const { path, typed, few } = asked;
  const answer = async (more: object) => {
    const { status, body } = await client.post(`/suggest/${path}`, { query: typed, size: SIZE, ...more });
    same('status of suggestions', status, 200);
    return (body as { suggestions: Suggestion[] }).suggestions;
  };
  const forgiving = await answer({});
  for (const each of forgiving) checkSuggestion(asked, each);
  checkComplete(asked, forgiving);
  const { status, body } = await client.get(`/suggest/${path}`, { query: typed, size: few, typo_tolerance: false });
  same('status of few suggestions', status, 200);
  const { suggestions } = body as { suggestions: Suggestion[] };
  holdsTrue('suggestions that are wanted', suggestions.length <= few, () => [typed, few, suggestions]);
  for (const each of suggestions) {
    checkSuggestion(asked, each);
    const isBegun = goesOn(each.text, typed, each.kind === 'record');
    holdsTrue('suggestion that goes on as was typed', isBegun, () => [typed, each]);
  }
}

/** True if the text begins with what was typed, or, if `inside`, one of its words does. */
function goesOn(text: string, typed: string, inside: boolean): boolean {
  const [folded, begun] = [fold(text), fold(typed)];
  if (folded.startsWith(begun)) return true;
  return inside && [...folded.matchAll(/(?<![\p{L}\p{N}])./gsu)].some(({ index }) => folded.startsWith(begun, index));
}

function checkSuggestion({ members, typed }: Suggested, each: Suggestion): void {
  const { text, kind, highlight, list_name: listName, record_count: count } = each;
  same('text of a highlight', unescaped(highlight.replaceAll(/<\/?em>/g, '')), text);
  if (kind === 'record') {
    const having = members.filter(({ name, list }) => (listName ?? name) === name && list.find(text) !== undefined);
    return holdsTrue('suggested record', having.length > 0, () => [each, typed]);
  }
  // With rules, more records may be found than have the words.
  if (members.some(({ list }) => list.rules.length + list.queryRules.length > 0) || !/^[a-z ]+$/.test(text)) return;
  const query = { words: text.split(' '), match: 'all', typos: false } as const;
  const having = members.reduce((sum, { list }) => sum + list.search({ query }).length, 0);
  same('records with the words of a suggestion', [text, count], [text, having]);
}

/**
 * Checks that no suggestion is repeated, and that all names and words beginning with what was typed are suggested if
 * there is room.
 */
function checkComplete({ members, typed }: Suggested, suggestions: readonly Suggestion[]): void {
  // A record name and a word may be equal: these are two suggestions of different kinds.
  const keys = suggestions.map(({ text, kind, list_name: list }) => `${kind} ${list ?? ''} ${text}`);
  same('suggestions that come twice', keys.length, new Set(keys).size);
  const begun = suggestions.flatMap(({ text, kind }) =>
    kind === 'record' ? [fold(text).startsWith(fold(typed))] : [],
  );
  holdsTrue(
    'names that begin as was typed come first',
    begun.lastIndexOf(true) < (begun.indexOf(false) + 1 || Infinity),
    () => [typed, suggestions],
  );
  const named = members.flatMap(({ list }) => list.records.filter(({ name }) => fold(name).startsWith(fold(typed))));
  const words = new Set(typed.includes(' ') ? [] : members.flatMap(({ list }) => wordsThatBegin(list, typed)));
  const missing = (kind: Suggestion['kind'], wanted: readonly string[]) => {
    // Words are suggested as records write them: with their marks.
    const shown = suggestions.filter((each) => each.kind === kind).map(({ text }) => text);
    const told = new Set(kind === 'query' ? shown.map(fold) : shown);
    return wanted.length > SHOWN_OF_A_KIND ? [] : wanted.filter((text) => !told.has(text));
  };
  const all = [
    ...missing(
      'record',
      named.map(({ name }) => name),
    ),
    ...missing('query', [...words]),
  ];
  holdsTrue('suggestions that are missing', all.length === 0, () => [typed, all, suggestions]);
}

function wordsThatBegin(list: ReferenceList, typed: string): string[] {
  const texts = list.records.flatMap(({ name, fields }) =>
    list.definition.searchable.flatMap((field) => (field === 'name' ? [name] : membersOf(fields.get(field)))),
  );
  const words = texts.flatMap((text) => wordsOf(wellFormed(String(text))));
  return words.filter((word) => /^[a-z]+$/.test(word) && word.startsWith(typed));
}

interface Related {
  readonly name: string;
  readonly '@text_score': number;
  readonly fields: Readonly<Record<string, Value>>;
}
interface RelatedAnswer {
  readonly results: readonly Related[];
  readonly total_count: number;
}
interface Place {
  readonly path: string;
  readonly list: ReferenceList;
}
interface AskedRelated {
  readonly name: string;
  readonly filter: Filter | undefined;
  /** Page that is requested in addition to the whole answer. */
  readonly skip: number;
  readonly size: number;
}

/**
 * Checks that related records exclude the record itself and are ordered by score, that a filter removes hits without
 * moving the others, and that a page is a slice of the whole answer.
 */
export async function checkRelated(
  client: ServiceClient,
  { path, list }: Place,
  { name, filter, skip, size }: AskedRelated,
): Promise<void> {
  const text = filter && writeFilter(filter, () => 0);
  if (text !== undefined && text.length > QUERY_CHARACTERS_MAX) return;
  const address = `/related/${path}/${encodeURIComponent(name)}`;
  const answer = async (query: Readonly<Record<string, string | number>>): Promise<RelatedAnswer> => {
    const { status, body } = await client.get(address, { size: SIZE, ...query });
    same('status of related records', status, 200);
    return body as RelatedAnswer;
  };
  if (list.find(name) === undefined) {
    const { status } = await client.get(address);
    return same('status of what is like a record that is not there', status, 404);
  }
  const all = await answer({});
  checkHits(list, { ...all, name });
  if (all.total_count > SIZE) return;
  const passing = new Set(list.search(filter === undefined ? {} : { filter }).map((record) => record.name));
  for (let tries = 1, before = all; ; tries += 1) {
    const some = text === undefined ? before : await answer({ filter: text });
    const page = await answer({ skip, size });
    const expected = before.results.filter((hit) => passing.has(hit.name));
    try {
      same('related records that pass a filter', some.results.map(keyOf), expected.map(keyOf));
      same('how many related records pass a filter', some.total_count, expected.length);
      return same(
        'page of related records',
        page.results.map(keyOf),
        before.results.slice(skip, skip + size).map(keyOf),
      );
    } catch (error) {
      const now = await answer({});
      const isSame = isDeepStrictEqual(now.results.map(keyOf), before.results.map(keyOf));
      if (!(error instanceof Difference) || isSame || tries === TRIES_MAX) throw error;
      before = now;
    }
  }
}

function checkHits(
  list: ReferenceList,
  { results, total_count: total, name }: RelatedAnswer & { readonly name: string },
) {
  same('related records that come twice', results.length, new Set(results.map((hit) => hit.name)).size);
  same('related records of a page', results.length, Math.min(SIZE, total));
  const scores = results.map((hit) => hit['@text_score']);
  const areInOrder = scores.every((score, at) => at <= CLICKED_MAX || score <= (scores[at - 1] ?? 1));
  const areScores = scores.every((score) => score >= 0 && score <= 1);
  holdsTrue('scores of related records', areInOrder && areScores, () => scores);
  for (const hit of results) {
    const record = list.find(hit.name);
    holdsTrue('related record', hit.name !== name && record !== undefined, () => [hit.name, name]);
    same('fields of a related record', { ...hit.fields }, Object.fromEntries(record?.fields ?? []));
  }
  // Terms that distinguish this record are also in a record with equal texts.
  const own = textsOf(list, name);
  if (list.model !== null || total === 0 || total > SIZE) return;
  const alike = list.records.filter((each) => each.name !== name && isDeepStrictEqual(textsOf(list, each.name), own));
  const missing = alike.filter((each) => !results.some((hit) => hit.name === each.name));
  holdsTrue('related records of the same texts', missing.length === 0, () => [name, missing.map((each) => each.name)]);
}

function textsOf(list: ReferenceList, name: string): unknown {
  const record = list.find(name);
  return list.definition.searchable.map((field) => (field === 'name' ? name : record?.fields.get(field)));
}

const keyOf = ({ name, '@text_score': score }: Related) => [name, score];
