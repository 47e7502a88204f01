/** Reference model of a group: its members, and for each version the lists and list versions that it pins. */
import type { ReferenceList } from './reference-list.js';

/** Member of the group; without a version, the current version of the list is searched. */
export interface Member {
  readonly list: number;
  readonly version?: number;
}
/** A list at a version. `reference` is the list itself, which another list of the same name may have replaced since. */
export interface Pinned {
  readonly list: number;
  readonly reference: ReferenceList;
  readonly version: number;
}

export class ReferenceGroup {
  members: readonly Member[] = [];
  readonly versions: (readonly Pinned[])[] = [];

  /** Number of the newest version. */
  get version(): number {
    return this.versions.length;
  }

  get latest(): readonly Pinned[] {
    return this.versions.at(-1) ?? [];
  }

  /** Sets the members, and adds a version if they differ. Another list of the same name is a different member. */
  change(members: readonly Member[], lists: readonly ReferenceList[]): void {
    const pinned = members.flatMap(({ list, version }): Pinned[] => {
      const reference = lists[list];
      return reference === undefined ? [] : [{ list, reference, version: version ?? reference.version }];
    });
    const isSame =
      this.version > 0 &&
      pinned.length === this.latest.length &&
      pinned.every(
        ({ reference }, at) =>
          reference === this.latest[at]?.reference && members[at]?.version === this.members[at]?.version,
      );
    this.members = members;
    if (!isSame) this.versions.push(pinned);
  }

  /** Removes a deleted list from the group; a new list of its name is not added. */
  listIsGone(list: number): void {
    if (!this.members.some((member) => member.list === list)) return;
    this.members = this.members.filter((member) => member.list !== list);
    this.versions.push(this.latest.filter((member) => member.list !== list));
  }

  /** Returns the lists of a version; undefined if there is no such version. */
  pinned(number: number): readonly Pinned[] | undefined {
    return this.versions[number - 1];
  }

  /** Returns those lists of a version that are still members: a key of the group sees no others. */
  present(pinned: readonly Pinned[]): readonly Pinned[] {
    return pinned.filter(({ reference }) => this.latest.some((each) => each.reference === reference));
  }
}
