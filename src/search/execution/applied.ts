/**
 * Writes the `applied` member of a response: what rules, synonyms and typo tolerance did to the query, for each list of
 * a group.
 */
import type { AppliedTypo } from '../expansion/group-builder.js';
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

/**
 * JSON of the typos of words, which are the same objects in search after search of a word that is cached: putting them
 * together anew took a fiftieth of a search.
 */
const typosAsJson = new WeakMap<AppliedTypo, string>();

function typoJson(typo: AppliedTypo): string {
  const known = typosAsJson.get(typo);
  if (known !== undefined) return known;
  const json = JSON.stringify(typo);
  typosAsJson.set(typo, json);
  return json;
}

/** Adds the name of the list, in a search of a group, to a non-empty object. */
function named(json: string, listName: string | undefined): string {
  return listName === undefined ? json : `${json.slice(0, -1)},"list_name":${JSON.stringify(listName)}}`;
}

export function appliedJson(task: SearchTask, searches: readonly ListSearch[]): string {
  const queryRules = new Set<string>();
  const synonyms: string[] = [];
  const typos: string[] = [];
  searches.forEach(({ applied }, index) => {
    const listName = task.targets[index]?.listName;
    for (const rule of applied.queryRules) queryRules.add(rule);
    for (const synonym of applied.synonyms) synonyms.push(named(JSON.stringify(synonym), listName));
    for (const typo of applied.typos) typos.push(named(typoJson(typo), listName));
  });
  const modelled = `"meaning":"${meaningOf(task, searches)}","reranker":${rerankerJson(task)}}`;
  if (queryRules.size + synonyms.length + typos.length === 0) return NOTHING + modelled;
  const rules = queryRules.size === 0 ? '[]' : JSON.stringify([...queryRules]);
  return `{"query_rules":${rules},"synonyms":[${synonyms.join(',')}],"typos":[${typos.join(',')}],${modelled}`;
}
