/**
 * Previews a synonym rule: searches for each of its terms without it and with it, as searches of the list do: by
 * meaning too where the list has a model, and in the order of its reranker.
 */
import type { ListRecord } from '../../catalog/index.js';
import type { ListIndex } from '../../index/index.js';
import { uuidv7, type Cancellation } from '../../platform/index.js';
import type { Reranked, SearchTask, SynonymRule } from '../../search/index.js';
import { parsedAnswer } from './parsed-answer.js';
import { withMeaning } from './search-meaning.js';
import { rerankedSearch } from './search-reranker.js';
import { targetsOfList } from './search-targets.js';
import type { Services } from '../dispatch/services.js';

/** Hits shown of each search. */
const PREVIEW_SIZE = 10;
/** Limit on the fields of a record, which appears twice for each word. */
const PREVIEW_FIELDS_BYTES_MAX = 5_000;
/** Terms searched in parallel, so that a preview leaves room for searches. */
const TERMS_AT_A_TIME_MAX = 4;

interface SearchSide {
  readonly total_count: number;
  readonly results: readonly { readonly name: string }[];
}

export interface PreviewedWord {
  readonly word: string;
  readonly before: SearchSide;
  readonly after: SearchSide;
  readonly added: number;
}

type PreviewTask = Omit<SearchTask, 'kind' | 'reranked'>;

export interface PreviewSubject {
  readonly list: ListRecord;
  readonly index: ListIndex;
  readonly rule: SynonymRule;
  /** False: in the order of the scores, which spares the calls of the reranker. Default: true. */
  readonly reranker?: boolean;
}

export async function previewSynonymRule(
  services: Services,
  { list, index, rule, reranker = true }: PreviewSubject,
  signal: Cancellation,
): Promise<{ readonly changes_nothing: boolean; readonly words: readonly PreviewedWord[] }> {
  const found = targetsOfList(services, index, list, index.currentVersion);
  const ordered = async (task: PreviewTask) => rerankedSearch(services, found.rerankedBy, task, signal);
  const searched = async (task: PreviewTask, reranked: Reranked | undefined): Promise<SearchSide> => {
    const search = { kind: 'search', ...task, ...(reranked === undefined ? {} : { reranked }) } as const;
    const answer = await services.searchPool.search(search, signal, found.account);
    const { total_count, results } = parsedAnswer(answer) as SearchSide;
    return { total_count, results };
  };
  const previewed = async (word: string): Promise<PreviewedWord> => {
    const options = { query: word, size: PREVIEW_SIZE, fields_bytes_max: PREVIEW_FIELDS_BYTES_MAX, reranker };
    const { targets, meaning } = await withMeaning(services, found, options);
    const task: PreviewTask = { targets, subject: found.subject, options, queryId: uuidv7(), meaning };
    const taskWithRule: PreviewTask = { ...task, extraSynonymRule: rule };
    const orders = await all([ordered(task), ordered(taskWithRule)]);
    // Orders can only be compared if both are the reranker's.
    const [orderBefore, orderAfter] = orders.every(({ isComplete }) => isComplete) ? orders : [];
    const [before, after] = await all([
      searched(task, orderBefore?.reranked),
      searched(taskWithRule, orderAfter?.reranked),
    ]);
    return { word, before, after, added: after.total_count - before.total_count };
  };
  try {
    const words: PreviewedWord[] = [];
    for (let first = 0; first < rule.terms.length; first += TERMS_AT_A_TIME_MAX)
      words.push(...(await all(rule.terms.slice(first, first + TERMS_AT_A_TIME_MAX).map(previewed))));
    return { changes_nothing: words.every(({ before, after }) => isSame(before, after)), words };
  } finally {
    found.release();
  }
}

/** Like Promise.all, but rejects only when all have settled, since they use the lease until then. */
async function all<const Values extends readonly unknown[]>(promises: {
  readonly [Index in keyof Values]: Promise<Values[Index]>;
}): Promise<Values> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

/** Compares counts and order. Scores may change if a rule gives a word more to match. */
function isSame(before: SearchSide, after: SearchSide): boolean {
  return (
    before.total_count === after.total_count &&
    before.results.every(({ name }, place) => after.results[place]?.name === name)
  );
}
