/** Versions of a group: a change of its members creates the next one, and the latest ones stay searchable by number. */
import type { GroupMember, GroupRecord, ListRecord } from './types.js';

/** Number of versions of a group that are kept, including the current one. */
export const GROUP_VERSIONS_MAX = 100;

/** Returns the group with these members as its next, current version. */
export function nextGroupVersion(group: GroupRecord, lists: readonly GroupMember[], nowIso: string): GroupRecord {
  const version = group.current_version + 1;
  return {
    ...group,
    current_version: version,
    versions: [...group.versions, { version, lists, created_utc: nowIso }].slice(-GROUP_VERSIONS_MAX),
  };
}

/** Returns the members of the current version. */
export function currentMembers(group: GroupRecord): readonly GroupMember[] {
  return group.versions.find(({ version }) => version === group.current_version)?.lists ?? [];
}

/**
 * True if these are the current members in the same order. A pinned version that only followed its list is not a
 * change.
 */
export function sameMembers(group: GroupRecord, lists: readonly GroupMember[]): boolean {
  const current = currentMembers(group);
  return (
    current.length === lists.length &&
    current.every((member, position) => {
      const other = lists[position];
      return other !== undefined && other.list_id === member.list_id && other.version === member.version;
    })
  );
}

/**
 * Returns those of the members that are in the current version too. Lists are compared by id, whatever their names are
 * now.
 */
export function presentMembers(group: GroupRecord, members: readonly GroupMember[]): readonly GroupMember[] {
  const present = new Set(currentMembers(group).map(({ list_id }) => list_id));
  return members.filter(({ list_id }) => list_id !== null && present.has(list_id));
}

/**
 * Returns the group of an earlier release with the ids of its members. A list that was created after a version of the
 * group cannot be the one that this version named.
 */
export function withListIds(group: GroupRecord, listOf: (name: string) => ListRecord | undefined): GroupRecord {
  const bound = (member: GroupMember, versionUtc: string): GroupMember => {
    if ((member.list_id as unknown) !== undefined) return member;
    const list = listOf(member.list);
    const list_id = list !== undefined && list.created_utc <= versionUtc ? list.id : null;
    return { ...member, list_id };
  };
  const versions = group.versions.map((version) => ({
    ...version,
    lists: version.lists.map((member) => bound(member, version.created_utc)),
  }));
  return { ...group, versions };
}
