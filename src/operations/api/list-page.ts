/**
 * Pages of lists and groups, by what they are told with: the rules of one and the versions of the other may take megabytes, and an answer is
 * put together by the thread that answers everybody.
 */
import type { GroupRecord, ListRecord } from '../../catalog/index.js';
import { fittingEntries, type Page } from '../../platform/index.js';

/** Of a member of a group as it is told, beside its name. */
const MEMBER_CHARACTERS = 24;

/** Ends before the list that would make it longer, unless that is its first. */
export function fittingPage(page: Page<ListRecord>): Page<ListRecord> {
  return fittingEntries(page, {
    keyOf: ({ name }) => name,
    charactersOf: ({ synonym_rules, query_rules }) => lengthOf(synonym_rules) + lengthOf(query_rules),
  });
}

/** The same for groups. */
export function fittingGroupPage(page: Page<GroupRecord>): Page<GroupRecord> {
  return fittingEntries(page, {
    keyOf: ({ name }) => name,
    charactersOf: ({ versions }) => versions.reduce((sum, { lists }) => sum + membersLength(lists), 0),
  });
}

/** Rules and members that are replaced are another array. */
const lengths = new WeakMap<readonly unknown[], number>();

function lengthOf(rules: readonly unknown[]): number {
  return known(rules, () => JSON.stringify(rules).length);
}

function membersLength(members: readonly { readonly list: string }[]): number {
  return known(members, () => members.reduce((sum, { list }) => sum + list.length + MEMBER_CHARACTERS, 0));
}

function known(told: readonly unknown[], measured: () => number): number {
  let length = lengths.get(told);
  if (length === undefined) lengths.set(told, (length = measured()));
  return length;
}
