/**
 * A page of lists, by what they are told with: the rules of one may take megabytes, and an answer is put together by the thread that answers
 * everybody.
 */
import type { ListRecord } from '../../catalog/index.js';
import type { Page } from '../../platform/index.js';

/** As JSON. */
const PAGE_CHARACTERS_MAX = 8_000_000;

/** Ends before the list that would make it longer, unless that is its first. */
export function fittingPage(page: Page<ListRecord>): Page<ListRecord> {
  let characters = 0;
  const end = page.entries.findIndex(({ synonym_rules, query_rules }) => {
    characters += lengthOf(synonym_rules) + lengthOf(query_rules);
    return characters > PAGE_CHARACTERS_MAX;
  });
  if (end === -1) return page;
  const entries = page.entries.slice(0, Math.max(1, end));
  return entries.length === page.entries.length ? page : { entries, next: entries.at(-1)?.name };
}

/** Rules that are replaced are another array. */
const lengths = new WeakMap<readonly unknown[], number>();

function lengthOf(rules: readonly unknown[]): number {
  let length = lengths.get(rules);
  if (length === undefined) lengths.set(rules, (length = JSON.stringify(rules).length));
  return length;
}
