/** A group as the documents describe it: its members now, and those of its earlier versions with the versions of the lists that they had. */
import type { ReferenceList } from './reference-list.js';

/** Without a version the list is searched by its current one. */
export interface Member {
  readonly list: number;
  readonly version?: number;
}
/** The list that it was, whatever has its name now. */
export interface Pinned {
  readonly list: number;
  readonly reference: ReferenceList;
  readonly version: number;
}

export class ReferenceGroup {
  members: readonly Member[] = [];
  readonly versions: (readonly Pinned[])[] = [];

  /** The number of the newest. */
  get version(): number {
    return this.versions.length;
  }

  get latest(): readonly Pinned[] {
    return this.versions.at(-1) ?? [];
  }

  /** Another list under the same name is another member. */
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

  /** It leaves the group, and no list of its name comes in its place. */
  listIsGone(list: number): void {
    if (!this.members.some((member) => member.list === list)) return;
    this.members = this.members.filter((member) => member.list !== list);
    this.versions.push(this.latest.filter((member) => member.list !== list));
  }

  /** What a search of a number is of; undefined where there is no such version. */
  pinned(number: number): readonly Pinned[] | undefined {
    return this.versions[number - 1];
  }

  /** Those of a version that are members now: a key of the group is told of no other. */
  present(pinned: readonly Pinned[]): readonly Pinned[] {
    return pinned.filter(({ reference }) => this.latest.some((each) => each.reference === reference));
  }
}
