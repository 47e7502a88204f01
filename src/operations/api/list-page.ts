/**
 * Pages of lists and groups, by what they are told with: the rules of one and the versions of the other may take megabytes, and an answer is
 * put together by the thread that answers everybody.
 */
import { currentMembers, type GroupMember, type GroupRecord, type ListRecord } from '../../catalog/index.js';
import { fittingEntries, PAGE_CHARACTERS_MAX, type Page } from '../../platform/index.js';
import type { DescribedList, describeUnavailable } from '../dispatch/list-access.js';

/** Lists whose indexes are opened at a time to describe all lists of an account. */
const OPENING_AT_A_TIME_MAX = 16;
/** Of a member of an object: its quotation marks, colon and comma. */
const MEMBER_SIGNS = 4;
/** Of a member of a group as it is told, beside its name and version. */
const MEMBER_CHARACTERS = 23;
/** Of a version beside its members. */
const VERSION_CHARACTERS = 70;

/** Ends before the list that would make it longer, unless that is its first. `rules`: whether they are told. */
export function fittingPage(page: Page<ListRecord>, { rules }: { readonly rules: boolean }): Page<ListRecord> {
  return fittingEntries(page, {
    keyOf: ({ name }) => name,
    charactersOf: ({ synonym_rules, query_rules }) => (rules ? lengthOf(synonym_rules) + lengthOf(query_rules) : 0),
  });
}

/** What an answer says of a list: what it is, why that is not known, or nothing where it has just been deleted. */
export interface ToldList {
  readonly name: string;
  readonly described?: Told | undefined;
  readonly unavailable?: ReturnType<typeof describeUnavailable>;
}

type Told = Omit<DescribedList, 'query_rules' | 'synonym_rules'> & Partial<DescribedList>;

/**
 * The same by all that is told, which is known once lists are opened: fields, of which each may have hundreds, and what features add. Lists
 * behind the end of the page are not opened, but for a few.
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

/** As JSON, whatever its members are. */
function toldLength(told: object): number {
  return Object.entries(told).reduce((sum, [name, value]) => sum + name.length + MEMBER_SIGNS + valueLength(value), 0);
}

function valueLength(value: unknown): number {
  // Rules and fields are the same arrays each time.
  if (Array.isArray(value)) return lengthOf(value);
  return value === undefined ? 0 : JSON.stringify(value).length;
}

/** The same for groups. */
export function fittingGroupPage(page: Page<GroupRecord>): Page<GroupRecord> {
  return fittingEntries(page, {
    keyOf: ({ name }) => name,
    // The current members are told once more beside the versions.
    charactersOf: (group) =>
      group.versions.reduce(
        (sum, { lists }) => sum + VERSION_CHARACTERS + membersLength(lists),
        membersLength(currentMembers(group)),
      ),
  });
}

/** Rules and members that are replaced are another array. */
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
