/**
 * Limits pages of lists and groups by the length of their descriptions: rules of lists and versions of groups may take
 * megabytes, and answers are built on the main thread.
 */
import { currentMembers, type GroupMember, type GroupRecord, type ListRecord } from '../../catalog/index.js';
import { fittingEntries, PAGE_CHARACTERS_MAX, type Page } from '../../platform/index.js';
import type { DescribedList, describeUnavailable } from '../dispatch/list-access.js';

/** Lists opened in parallel to describe all lists of an account. */
const OPENING_AT_A_TIME_MAX = 16;
/** Quotation marks, colon and comma of an object's member. */
const MEMBER_SIGNS = 4;
/** Characters of a group's member in an answer, besides its name and version. */
const MEMBER_CHARACTERS = 23;
/** Characters of a version besides its members. */
const VERSION_CHARACTERS = 70;

/**
 * Ends the page before the list that would make it too long, but never before its first. `rules` is true if rules are
 * included.
 */
export function fittingPage(page: Page<ListRecord>, { rules }: { readonly rules: boolean }): Page<ListRecord> {
  return fittingEntries(page, {
    keyOf: ({ name }) => name,
    charactersOf: ({ synonym_rules, query_rules }) => (rules ? lengthOf(synonym_rules) + lengthOf(query_rules) : 0),
  });
}

/** What an answer says of a list: its description, why that is unavailable, or nothing if it has just been deleted. */
export interface ToldList {
  readonly name: string;
  readonly described?: Told | undefined;
  readonly unavailable?: ReturnType<typeof describeUnavailable>;
}

type Told = Omit<DescribedList, 'query_rules' | 'synonym_rules'> & Partial<DescribedList>;

/**
 * Like `fittingPage`, by the whole description, which is known only when a list is open: fields, of which there may be
 * hundreds, and additions of features. Few lists behind the end of the page are opened.
 */
export async function toldPage(
  { entries, next }: Page<ListRecord>,
  tell: (list: ListRecord) => Promise<ToldList>,
): Promise<Page<ToldList>> {
  const told: ToldList[] = [];
  let characters = 0;
  for (let first = 0; first < entries.length; first += OPENING_AT_A_TIME_MAX) {
    const some = await Promise.all(entries.slice(first, first + OPENING_AT_A_TIME_MAX).map(tell));
    for (const each of some) {
      characters += toldLength(each.described ?? {}) + toldLength(each.unavailable ?? {});
      const last = told.at(-1);
      if (last !== undefined && characters > PAGE_CHARACTERS_MAX) return { entries: told, next: last.name };
      told.push(each);
    }
  }
  return { entries: told, next };
}

/** Returns the length as JSON. */
function toldLength(told: object): number {
  return Object.entries(told).reduce((sum, [name, value]) => sum + name.length + MEMBER_SIGNS + valueLength(value), 0);
}

function valueLength(value: unknown): number {
  // Rules and fields are the same arrays each time, so their length is cached.
  if (Array.isArray(value)) return lengthOf(value);
  return value === undefined ? 0 : JSON.stringify(value).length;
}

/** Like `fittingPage`, for groups. */
export function fittingGroupPage(page: Page<GroupRecord>): Page<GroupRecord> {
  return fittingEntries(page, {
    keyOf: ({ name }) => name,
    // Current members are listed again next to the versions.
    charactersOf: (group) =>
      group.versions.reduce(
        (sum, { lists }) => sum + VERSION_CHARACTERS + membersLength(lists),
        membersLength(currentMembers(group)),
      ),
  });
}

/** Cached lengths. Changed rules and members are new arrays. */
const lengths = new WeakMap<readonly unknown[], number>();

function lengthOf(rules: readonly unknown[]): number {
  return known(rules, () => JSON.stringify(rules).length);
}

function membersLength(members: readonly GroupMember[]): number {
  return known(members, () =>
    members.reduce(
      (sum, { list, pinned_version }) => sum + list.length + String(pinned_version).length + MEMBER_CHARACTERS,
      0,
    ),
  );
}

function known(told: readonly unknown[], measured: () => number): number {
  let length = lengths.get(told);
  if (length === undefined) lengths.set(told, (length = measured()));
  return length;
}
