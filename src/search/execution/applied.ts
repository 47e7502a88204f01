/**
 * Writes the `applied` member of a response: what rules, synonyms and typo tolerance did to the query, for each list of
 * a group.
 */
import type { ListSearch } from './list-search.js';
import type { AppliedMeaning, SearchTask } from '../types.js';

const NOTHING = '{"query_rules":[],"synonyms":[],"typos":[],';

function rerankerJson({ reranked }: SearchTask): string {
  if (reranked === undefined) return 'null';
  return JSON.stringify({ name: reranked.name, reordered: reranked.order !== null });
}

/** Returns `none` for a vector that no list used, neither for meaning nor for pictures. */
function meaningOf({ meaning = 'none' }: SearchTask, searches: readonly ListSearch[]): AppliedMeaning {
  return meaning === 'used' &&
    searches.every(({ meaning: near, pictures }) => near === undefined && pictures === undefined)
    ? 'none'
    : meaning;
}

export function appliedJson(task: SearchTask, searches: readonly ListSearch[]): string {
  const lists = searches.map(({ applied }, index) => {
    const listName = task.targets[index]?.listName;
    return { applied, named: listName === undefined ? {} : { list_name: listName } };
  });
  const didNothing = lists.every(
    ({ applied }) => applied.queryRules.length + applied.synonyms.length + applied.typos.length === 0,
  );
  const modelled = `"meaning":"${meaningOf(task, searches)}","reranker":${rerankerJson(task)}}`;
  if (didNothing) return NOTHING + modelled;
  const words = JSON.stringify({
    query_rules: [...new Set(lists.flatMap(({ applied }) => applied.queryRules))],
    synonyms: lists.flatMap(({ applied, named }) => applied.synonyms.map((each) => ({ ...each, ...named }))),
    typos: lists.flatMap(({ applied, named }) => applied.typos.map((each) => ({ ...each, ...named }))),
  });
  return `${words.slice(0, -1)},${modelled}`;
}
