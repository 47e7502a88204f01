/**
 * Pages of lists and groups, by what they are told with: the rules of one and the versions of the other may take megabytes, and an answer is
 * put together by the thread that answers everybody.
 */
import { currentMembers, type GroupMember, type GroupRecord, type ListRecord } from '../../catalog/index.js';
import { fittingEntries, type Page } from '../../platform/index.js';
import type { DescribedList, describeUnavailable } from '../dispatch/list-access.js';

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

/** The same by what is known once the lists are opened: their fields, of which each may have hundreds. */
export function fittingToldPage(page: Page<ToldList>): Page<ToldList> {
  return fittingEntries(page, {
    keyOf: ({ name }) => name,
    charactersOf: ({ described }) => (described === undefined ? 0 : toldLength(described)),
  });
}

function toldLength({ searchable_fields, facets, resources, synonym_rules, query_rules }: Told): number {
  const lengths = [searchable_fields, facets, resources, synonym_rules ?? [], query_rules ?? []].map(lengthOf);
  return lengths.reduce((sum, length) => sum + length, 0);
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
