/** Derives the data of suggestions and related results from roll-ups. Pure. */
import type { EarlierClick, EarlierQuery } from '../search/index.js';
import type { LearnedSearches } from './learned-file.js';
import type { StoredRollUp, TableName } from './roll-up.js';
import { TermTable } from './term-table.js';

/** Number of past days that count. */
export const LEARNED_DAYS = 30;
const QUERIES_MAX = 2000;
const CLICKED_MAX = 4000;
/** A search that was made only once is not suggested to others, unless a click confirms it. */
const SEARCHES_MIN = 2;
const CAPACITY = 32_768;

export function learnFrom(rollUps: Iterable<StoredRollUp>): LearnedSearches {
  const tables: Readonly<Record<TableName, TermTable>> = {
    terms: new TermTable(CAPACITY),
    zeroResultTerms: new TermTable(CAPACITY),
    clickedTerms: new TermTable(CAPACITY),
    clickedPairs: new TermTable(CAPACITY),
  };
  const names = Object.keys(tables) as TableName[];
  for (const rollUp of rollUps) for (const name of names) tables[name].addList(rollUp.list(name));
  return { queries: learnedQueries(tables), clicked: learnedClicks(tables.clickedPairs) };
}

function learnedQueries(tables: Readonly<Record<TableName, TermTable>>): EarlierQuery[] {
  const queries: EarlierQuery[] = [];
  for (const { term, count } of tables.terms.top(Number.MAX_SAFE_INTEGER)) {
    if (queries.length >= QUERIES_MAX) break;
    const searches = count - tables.zeroResultTerms.count(term);
    const clicks = tables.clickedTerms.count(term);
    if (searches >= SEARCHES_MIN || (searches > 0 && clicks > 0)) queries.push({ text: term, searches, clicks });
  }
  return queries;
}

function learnedClicks(pairs: TermTable): EarlierClick[] {
  return pairs.top(CLICKED_MAX).map(({ term: pair, count }) => {
    const separator = pair.indexOf('\0');
    return { query: pair.slice(0, separator), record: pair.slice(separator + 1), clicks: count };
  });
}
