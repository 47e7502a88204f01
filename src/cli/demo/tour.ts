/** Six searches that show what the service can do, made over HTTP like any client's. */
import type { SearchResponse } from '../answers.js';
import { styled, type Output } from '../output.js';
import { ProblemError, isProblem } from '../problem.js';
import { searchView } from '../search-view.js';
import { fetchAgain } from './fetch-again.js';

export interface TourSearch {
  readonly title: string;
  readonly list: string;
  readonly options: Readonly<Record<string, string | number>>;
  /** Fields shown of a hit. */
  readonly fields: readonly string[];
}

const TOUR: readonly TourSearch[] = [
  {
    title: 'Misspelt words, ranked, with all matches counted by domain',
    list: 'wordnet',
    options: { query: 'flighltess brid', facets: 'lexical_domain', size: 3 },
    fields: ['words', 'gloss'],
  },
  {
    title: 'A phrase: these words in this order',
    list: 'wordnet',
    options: { query: 'stringed instrument', match: 'phrase', filter: "part_of_speech = 'noun'", size: 3 },
    fields: ['words', 'gloss'],
  },
  {
    title: 'A relation as a filter: which kinds of terrier have a wiry coat?',
    list: 'wordnet',
    options: { query: 'wiry coat', filter: "hypernym = 'terrier.n.01'", size: 3 },
    fields: ['words', 'gloss'],
  },
  {
    title: 'By meaning, learned from the list itself: after the greyhounds, dogs that share no word with the search',
    list: 'animals',
    options: { query: 'greyhound', skip: 3, size: 4, explain: 'true' },
    fields: ['words', 'gloss'],
  },
  {
    title: 'No words at all: a filter and an order',
    list: 'cities',
    options: { filter: "country_code = 'JP' and population >= 1000000", order_by: 'population desc', size: 3 },
    fields: ['population', 'country'],
  },
  {
    title: 'Around a point: cities within 30 km of Zürich, largest first',
    list: 'cities',
    options: { radius: '47.3769,8.5417,30km', order_by: 'population desc', facets: 'country', size: 3 },
    fields: ['population', 'country'],
  },
];

const WARM_UP_ROUNDS = 5;

export interface TourTarget {
  readonly address: string;
  readonly account: string;
  readonly key: string;
}

export function searchUrl(
  { address, account }: TourTarget,
  search: Pick<TourSearch, 'list' | 'options'>,
  version = 1,
): string {
  const query = new URLSearchParams(
    Object.entries(search.options).map(([name, value]): [string, string] => [name, String(value)]),
  );
  return `${address}/search/${account}/${search.list}/${version}?${query.toString()}`;
}

/** Prints each search with its options, its best hits and its time. */
export async function showTour(output: Output, target: TourTarget): Promise<void> {
  // The first searches of a process include compiling its code, on both sides; the tour shows a warm service.
  for (let round = 0; round < WARM_UP_ROUNDS; round += 1) {
    for (const search of TOUR) await fetchSearch(target, search);
  }
  for (const [index, search] of TOUR.entries()) {
    const startedMs = performance.now();
    const response = await fetchSearch(target, search);
    const roundTripMs = performance.now() - startedMs;
    output.write(`\n${styled(output, 'green', `${index + 1}. ${search.title}`)}\n`);
    output.write(`${styled(output, 'dim', `   ${describe(search)}`)}\n`);
    output.write(
      searchView(output, response, {
        fields: search.fields,
        firstPosition: Number(search.options['skip'] ?? 0) + 1,
        roundTripMs,
        scores: 'query' in search.options,
      }),
    );
  }
}

function describe(search: TourSearch): string {
  const options = Object.entries(search.options).map(([name, value]) => `${name}=${value}`);
  return `${search.list}: ${options.join('  ')}`;
}

async function fetchSearch(target: TourTarget, search: TourSearch): Promise<SearchResponse> {
  const response = await fetchAgain(searchUrl(target, { ...search, options: { ...search.options, cache: 'false' } }), {
    'x-api-key': target.key,
  });
  const body = await response.json();
  if (isProblem(body)) throw new ProblemError(body);
  return body as SearchResponse;
}
