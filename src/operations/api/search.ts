/** `/search`: searches one list, or the lists of a group as one. */
import { SEARCH_COUNTER } from '../../access/index.js';
import { ANALYTICS, searchTerm } from '../../analytics/index.js';
import { uuidv7 } from '../../platform/index.js';
import { readOptions, type SearchOptions } from '../../search/index.js';
import type { AnsweredSearch, KeptAnswer } from '../answer-cache/answer-cache.js';
import { defineOperation, type OperationContext, type OperationResult } from '../dispatch/operation.js';
import { normalisedKey, rawKey } from './search-keys.js';
import { withMeaning, type SearchWithMeaning } from './search-meaning.js';
import { rerankedSearch } from './search-reranker.js';
import { searchBody, searchQuery } from './search-options.js';
import { searchResponse } from './search-response.js';
import {
  groupSearchParams,
  groupState,
  groupTargets,
  listSearchParams,
  listState,
  listTargets,
  type OpeningTargets,
  type SearchState,
  type SearchTargets,
} from './search-targets.js';
import type { Services } from '../dispatch/services.js';
import type { RawInput } from '../dispatch/operation.js';

/** Limit for all options together. */
const SEARCH_BODY_BYTES_MAX = 2_359_296;

const common = {
  permission: 'search-result:read',
  callers: ['key', 'console', 'cli'],
  rateLimit: 'search',
  responses: {
    200: {
      description: 'A page of hits, and counts over all hits',
      schema: searchResponse,
      headers: ['Server-Timing', 'X-Cache'],
    },
  },
  errors: ['version-not-found', 'invalid-filter', 'unprocessable', 'answer-too-large', 'overloaded', 'deadline'],
} as const;
const ofList = {
  ...common,
  path: '/search/{account}/{list}/{version}',
  target: 'list',
  params: listSearchParams,
  early: (context: OperationContext, raw: RawInput) => fromCache(context, raw, listState),
} as const;
const ofGroup = {
  ...common,
  path: '/search/group/{account}/{group}/{version}',
  target: 'group',
  params: groupSearchParams,
  errors: [...common.errors, 'list-not-found'],
  early: (context: OperationContext, raw: RawInput) => fromCache(context, raw, groupState),
} as const;

const listByQuery = defineOperation({
  ...ofList,
  name: 'search.list-by-query',
  summary: 'Search a list, with the options in the query string',
  method: 'GET',
  query: searchQuery,
  handle: (context, { params, query, raw }) =>
    search(context, listTargets(context, params), { options: readOptions(query), raw }),
});

const listByBody = defineOperation({
  ...ofList,
  name: 'search.list',
  summary: 'Search a list',
  method: 'POST',
  bodyBytesMax: SEARCH_BODY_BYTES_MAX,
  body: searchBody,
  handle: (context, { params, body, raw }) =>
    search(context, listTargets(context, params), { options: readOptions(body), raw }),
});

const groupByQuery = defineOperation({
  ...ofGroup,
  name: 'search.group-by-query',
  summary: 'Search the lists of a group as one, with the options in the query string',
  method: 'GET',
  query: searchQuery,
  handle: (context, { params, query, raw }) =>
    search(context, groupTargets(context, params), { options: readOptions(query), raw }),
});

const groupByBody = defineOperation({
  ...ofGroup,
  name: 'search.group',
  summary: 'Search the lists of a group as one',
  method: 'POST',
  bodyBytesMax: SEARCH_BODY_BYTES_MAX,
  body: searchBody,
  handle: (context, { params, body, raw }) =>
    search(context, groupTargets(context, params), { options: readOptions(body), raw }),
});

export const searchOperations = [listByQuery, listByBody, groupByQuery, groupByBody];

/** Answers a request that was answered before on the same state of its lists, without parsing any of it. */
function fromCache(
  context: OperationContext,
  raw: RawInput,
  stateOf: (context: OperationContext, params: RawInput['params']) => SearchState | undefined,
): OperationResult | undefined {
  const { services } = context;
  const { answerCache } = services;
  if (!answerCache.isOn) return undefined;
  const beginMs = performance.now();
  const state = stateOf(context, raw.params);
  const key = state === undefined ? undefined : rawKey(state.key, raw);
  if (state === undefined || key === undefined) return undefined;
  const queryId = uuidv7();
  const found = answerCache.get(key, queryId, beginMs);
  if (found === undefined) return undefined;
  count(services, state, queryId, found.search);
  return cached(found);
}

/** Finds the vectors of a search for its targets. */
export type LookFor = (found: SearchTargets) => SearchWithMeaning | Promise<SearchWithMeaning>;

interface AskedSearch {
  readonly options: SearchOptions;
  readonly raw: RawInput | undefined;
  /** Default: the vector of the text. */
  readonly lookFor?: LookFor;
}

/** Searches with the vectors that `lookFor` finds. Never cached or reranked. */
export function searchFor(
  context: OperationContext,
  opening: OpeningTargets,
  options: SearchOptions,
  lookFor: LookFor,
): Promise<OperationResult> {
  return search(context, opening, { options: { ...options, cache: false, reranker: false }, raw: undefined, lookFor });
}

async function search(
  { services, signal }: OperationContext,
  opening: OpeningTargets,
  { options, raw, lookFor = (found) => withMeaning(services, found, options) }: AskedSearch,
): Promise<OperationResult> {
  const beginMs = performance.now();
  const found = opening instanceof Promise ? await opening : opening;
  const { subject, key: state, release } = found;
  try {
    const { answerCache } = services;
    // Vectors make long keys and are hardly ever repeated.
    const isCached = options.cache !== false && answerCache.isOn && options.vector === undefined;
    const asSent = isCached && raw !== undefined ? rawKey(state, raw) : undefined;
    const key = isCached ? normalisedKey(state, options) : '';
    const queryId = uuidv7();
    if (isCached) {
      const kept = answerCache.get(key, queryId, beginMs);
      if (asSent !== undefined) answerCache.alias(key, asSent);
      if (kept !== undefined) {
        count(services, found, queryId, kept.search);
        return cached(kept);
      }
      answerCache.missed();
    }
    const meant = lookFor(found);
    const { targets, meaning, isComplete } = meant instanceof Promise ? await meant : meant;
    const task = { targets, subject, options: withoutVector(options), queryId, meaning };
    const ordered = rerankedSearch(services, found.rerankedBy, task, signal);
    const { isComplete: isRanked, shown, ...ranked } = ordered instanceof Promise ? await ordered : ordered;
    const answer = await services.searchPool.search({ kind: 'search', ...task, ...ranked }, signal, found.account);
    const answered = { ...answeredSearch(options, answer.totalCount), ...(shown === undefined ? {} : { shown }) };
    const isKept = isCached && isComplete && isRanked;
    if (isKept) answerCache.set(asSent === undefined ? [key] : [key, asSent], answer.body, answered);
    // A client that has left has cancelled the search.
    if (!signal.aborted) count(services, found, queryId, answered);
    const totalMs = performance.now() - beginMs;
    return {
      status: 200,
      body: answer.body,
      ...(answer.room === undefined ? {} : { room: answer.room }),
      headers: {
        'Server-Timing': `search;dur=${answer.workerMs.toFixed(3)}, wait;dur=${(totalMs - answer.workerMs).toFixed(3)}, total;dur=${totalMs.toFixed(3)}`,
        'X-Cache': 'miss',
      },
    };
  } finally {
    release();
  }
}

/**
 * Removes the vector, which is in the targets in the kernel's form: as an array of numbers it would be copied to the
 * search thread again.
 */
function withoutVector(options: SearchOptions): SearchOptions {
  if (options.vector === undefined) return options;
  const { vector: _, ...others } = options;
  return others;
}

function answeredSearch({ query = '', skip = 0, analytics = true }: SearchOptions, totalCount: number): AnsweredSearch {
  const answered = { term: searchTerm(query), hasResults: totalCount > 0, isFirstPage: skip === 0 };
  return analytics ? answered : { ...answered, isLeftOut: true };
}

/** Counts a search. Later pages belong to the same search. */
function count(services: Services, { counted, account }: SearchState, queryId: string, search: AnsweredSearch): void {
  // Members are passed one by one: copying the object would be the most expensive part of a cached answer.
  const { isFirstPage, isLeftOut, term, hasResults, shown } = search;
  if (!isFirstPage) return;
  if (isLeftOut !== true) services.part(ANALYTICS).searched(counted, { queryId, term, hasResults, shown });
  services.part(SEARCH_COUNTER).searched(account);
}

function cached({ body, tookMs }: KeptAnswer): OperationResult {
  return {
    status: 200,
    body,
    headers: { 'Server-Timing': `cache;dur=${tookMs}, total;dur=${tookMs}`, 'X-Cache': 'hit' },
  };
}
