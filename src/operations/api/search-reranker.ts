/**
 * Runs the reranker of a search on its best hits. If it is unavailable, late or gives an invalid answer, the order
 * stays as it is. Main thread only.
 */
import { SHOWN_RESULTS_MAX, type ShownResult } from '../../analytics/index.js';
import { SEARCH_SIZE_DEFAULT, type Cancellation } from '../../platform/index.js';
import type { Candidates, CandidatesTask, Reranked, SearchOptions } from '../../search/index.js';
import { ModelError, type SearchReranker } from '../../vectors/index.js';
import type { Services } from '../dispatch/services.js';

export interface RerankerOf {
  readonly account: string;
  /** Model named by the list, or by the group that is searched. */
  readonly reranker: string | null;
}

export interface RerankedSearch {
  /** Undefined if no reranker was asked for. */
  readonly reranked?: Reranked;
  /** Results shown, if a reranker ran. */
  readonly shown?: readonly ShownResult[];
  /** False if the same search may be ordered differently at another time. */
  readonly isComplete: boolean;
}

const NOT_RERANKED: RerankedSearch = { isComplete: true };

/** Returns the part of a cache key that depends on the reranker. */
export function rerankerKey({ indexes }: Services, { account, reranker }: RerankerOf): string {
  if (reranker === null) return '';
  const { version = '' } = indexes.models.reranker(account, reranker) ?? {};
  return `/${JSON.stringify([reranker, version])}`;
}

type SearchToRerank = Omit<CandidatesTask, 'kind' | 'named' | 'textsMax'>;

/** Returns synchronously if no reranker runs. Rejects if the search itself is refused, or its client has left. */
export function rerankedSearch(
  services: Services,
  { account, reranker: name }: RerankerOf,
  task: SearchToRerank,
  signal: Cancellation,
): RerankedSearch | Promise<RerankedSearch> {
  if (name === null || !isWanted(task.options)) return NOT_RERANKED;
  const reranker = services.indexes.models.reranker(account, name);
  if (reranker === undefined) return notReranked(name);
  return rerankedBy(reranker, { services, account, name, task, signal });
}

/** Returns the result of a search whose reranker should have run and did not. */
function notReranked(name: string): RerankedSearch {
  return { reranked: { name, order: null, relevances: [] }, isComplete: false };
}

async function rerankedBy(
  reranker: SearchReranker,
  {
    services,
    account,
    name,
    task,
    signal,
  }: {
    readonly services: Services;
    readonly account: string;
    readonly name: string;
    readonly task: SearchToRerank;
    readonly signal: Cancellation;
  },
): Promise<RerankedSearch> {
  const { skip = 0, size = SEARCH_SIZE_DEFAULT, query = '' } = task.options;
  if (skip >= reranker.top || size === 0) return NOT_RERANKED;
  const named = Math.max(reranker.top, skip === 0 ? Math.min(size, SHOWN_RESULTS_MAX) : 0);
  const asked = { ...task, kind: 'candidates', named, textsMax: reranker.top } as const;
  const { body, room } = await services.searchPool.search(asked, signal, account);
  const { hits } = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.length).toString()) as Candidates;
  room?.release();
  const texts = hits.slice(0, reranker.top).map(({ text = '' }) => text);
  if (texts.length < 2) return NOT_RERANKED;
  const relevances = await relevancesOf(reranker, query.trim(), texts);
  if (relevances === undefined) return notReranked(name);
  const order = Array.from(texts.keys()).sort(
    (left, right) => (relevances[right] as number) - (relevances[left] as number) || left - right,
  );
  const all = [...order, ...Array.from(hits.keys()).slice(order.length)];
  const shown = all.slice(skip, skip + size).flatMap((placeBefore): ShownResult[] => {
    const hit = hits[placeBefore];
    if (hit === undefined) return [];
    const { name: shownName, listName } = hit;
    return [{ name: shownName, placeBefore, ...(listName === undefined ? {} : { listName }) }];
  });
  const reranked = { name, order, relevances: order.map((place) => relevances[place] as number) };
  return { reranked, shown, isComplete: true };
}

/** True if the search is ordered by relevance, the only order that a reranker improves. */
function isWanted({ reranker, query = '', order_by: orderBy = '', ranking }: SearchOptions): boolean {
  return reranker !== false && query.trim() !== '' && orderBy.trim() === '' && ranking === undefined;
}

async function relevancesOf(
  reranker: SearchReranker,
  query: string,
  texts: readonly string[],
): Promise<readonly number[] | undefined> {
  try {
    return await reranker.rerank(query, texts);
  } catch (error) {
    if (error instanceof ModelError) return undefined;
    throw error;
  }
}
