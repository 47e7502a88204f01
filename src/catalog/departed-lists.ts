/**
 * Lists that were deleted and still stand in groups on disk, for thousands are not written in one change. To everybody who asks, such a
 * group has left them already: it is shown as it will be written, with the same version and times. Main thread only.
 */
import type { Collection, Follower } from './collection.js';
import { currentMembers, nextGroupVersion } from './group-versions.js';
import type { GroupRecord, UnfinishedWork } from './types.js';

/** Of groups that one change writes: each version is written with each of its members, and a group takes as long as some of these. */
const MEMBERS_A_CHANGE_MAX = 10_000;
const GROUP_AS_MEMBERS = 50;

export class DepartedLists implements Follower<UnfinishedWork> {
  /** What is written down and not done, by account, in the order in which the lists went. */
  readonly #works = new Map<string, readonly UnfinishedWork[]>();

  /** Of what is written down now, and kept up with every change. */
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

  /** The group itself where it has none of them. */
  without(stored: GroupRecord): GroupRecord {
    return this.of(stored.account).reduce(withoutList, stored);
  }

  #set(account: string, changed: (works: readonly UnfinishedWork[]) => readonly UnfinishedWork[]): void {
    const works = changed(this.of(account));
    if (works.length === 0) this.#works.delete(account);
    else this.#works.set(account, works);
  }
}

/** With a version more, of the time when the list went; the group itself where the list is no member of the current version. */
export function withoutList(group: GroupRecord, { id, name, since_utc }: UnfinishedWork): GroupRecord {
  const members = currentMembers(group);
  // No list is meant by a member without an id, which an earlier release may have left under the name.
  const left = members.filter(({ list, list_id }) => list_id !== id && (list_id !== null || list !== name));
  if (left.length === members.length) return group;
  return { ...nextGroupVersion(group, left, since_utc), modified_utc: since_utc };
}

/** Of the groups that are others without what departed those that one change writes, and the name of the last of them where there are more. */
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
