/** Versions of a group: a change of its members makes the next one, and the newest ones stay searchable by number. */
import type { GroupMember, GroupRecord } from './types.js';

/** Versions of a group that are kept, the current one among them. */
export const GROUP_VERSIONS_MAX = 100;

/** The group with these members as its next, current version. */
export function nextGroupVersion(group: GroupRecord, lists: readonly GroupMember[], nowIso: string): GroupRecord {
  const version = group.current_version + 1;
  return {
    ...group,
    current_version: version,
    versions: [...group.versions, { version, lists, created_utc: nowIso }].slice(-GROUP_VERSIONS_MAX),
  };
}

/** The members of the current version. */
export function currentMembers(group: GroupRecord): readonly GroupMember[] {
  return group.versions.find(({ version }) => version === group.current_version)?.lists ?? [];
}

/** True where these are the current members in the same order; a pin that only followed its list is no change. */
export function sameMembers(group: GroupRecord, lists: readonly GroupMember[]): boolean {
  const current = currentMembers(group);
  return (
    current.length === lists.length &&
    current.every((member, position) => {
      const other = lists[position];
      return other !== undefined && other.list === member.list && other.version === member.version;
    })
  );
}
