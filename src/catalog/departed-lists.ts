/**
 * Deleted lists that are still members of groups on disk, because thousands of groups are not written in one change.
 * Readers see such a group as it will be written, without the list, with the same version and times. Main thread only.
 */
import type { Collection, Follower } from './collection.js';
import { currentMembers, nextGroupVersion } from './group-versions.js';
import type { GroupRecord, UnfinishedWork } from './types.js';

/**
 * Limit of the groups in one change, in members: each version is written with all its members, and a group costs as
 * much as so many members in addition.
 */
const MEMBERS_A_CHANGE_MAX = 10_000;
const GROUP_AS_MEMBERS = 50;

export class DepartedLists implements Follower<UnfinishedWork> {
  /** Unfinished `leaving` work by account, in the order in which the lists were deleted. */
  readonly #works = new Map<string, readonly UnfinishedWork[]>();

  /** Starts with the present unfinished work, and follows every change. */
  static of(unfinished: Collection<UnfinishedWork>): DepartedLists {
    const departed = new DepartedLists();
    for (const work of unfinished.values()) departed.changed(undefined, work);
    unfinished.follow(departed);
    return departed;
  }

  changed(before: UnfinishedWork | undefined, after: UnfinishedWork | undefined): void {
    if (before?.kind === 'leaving') this.#set(before.account, (works) => works.filter(({ id }) => id !== before.id));
    if (after?.kind === 'leaving') this.#set(after.account, (works) => [...works, after].sort(inOrderOfTime));
  }

  of(account: string): readonly UnfinishedWork[] {
    return this.#works.get(account) ?? [];
  }

  /** Returns the group without deleted lists; the same object if it has none. */
  without(stored: GroupRecord): GroupRecord {
    return this.of(stored.account).reduce(withoutList, stored);
  }

  #set(account: string, changed: (works: readonly UnfinishedWork[]) => readonly UnfinishedWork[]): void {
    const works = changed(this.of(account));
    if (works.length === 0) this.#works.delete(account);
    else this.#works.set(account, works);
  }
}

/**
 * Returns the group with a new version without the list, dated at the list's deletion; the same object if the list is
 * not a current member.
 */
export function withoutList(group: GroupRecord, { id, name, since_utc }: UnfinishedWork): GroupRecord {
  const members = currentMembers(group);
  // A member without an id, which an earlier release may have left, counts as this list if it has its name.
  const left = members.filter(({ list, list_id }) => list_id !== id && (list_id !== null || list !== name));
  if (left.length === members.length) return group;
  return { ...nextGroupVersion(group, left, since_utc), modified_utc: since_utc };
}

/**
 * Returns the groups that one change writes, of those that have deleted lists; `last` is the name of the last one if
 * there are more.
 */
export function groupsOfStep(
  groups: Iterable<GroupRecord>,
  without: (group: GroupRecord) => GroupRecord,
): { readonly some: readonly GroupRecord[]; readonly last: string | undefined } {
  const some: GroupRecord[] = [];
  let members = 0;
  for (const group of groups) {
    if (without(group) === group) continue;
    if (members >= MEMBERS_A_CHANGE_MAX) return { some, last: some.at(-1)?.name };
    some.push(group);
    members += group.versions.reduce((sum, { lists }) => sum + lists.length, GROUP_AS_MEMBERS);
  }
  return { some, last: undefined };
}

function inOrderOfTime(a: UnfinishedWork, b: UnfinishedWork): number {
  return a.since_utc < b.since_utc || (a.since_utc === b.since_utc && a.id < b.id) ? -1 : 1;
}
