/**
 * Index of the entries of a collection by a property that many of them share, such as their account. Main thread only.
 */
import { OrderedKeys } from '../platform/index.js';

export interface GroupedBy<T> {
  /**
   * Returns the entries of a group in the order of their keys, after `after`. The collection must not change meanwhile.
   */
  of(group: string, after?: string): IterableIterator<T>;
  countOf(group: string): number;
}

export interface GroupingOptions<T> {
  groupOf(value: T): string;
  /** All entries by key. */
  readonly entries: ReadonlyMap<string, T>;
}

export class GroupsOfEntries<T> implements GroupedBy<T> {
  /** Keys of the entries of each group. */
  readonly #groups = new Map<string, OrderedKeys>();

  constructor(private readonly options: GroupingOptions<T>) {
    const keys = new Map<string, string[]>();
    for (const [key, value] of options.entries) {
      const group = options.groupOf(value);
      const known = keys.get(group);
      if (known === undefined) keys.set(group, [key]);
      else known.push(key);
    }
    for (const [group, own] of keys) this.#groups.set(group, new OrderedKeys(own));
  }

  *of(group: string, after?: string): Generator<T> {
    const keys = this.#groups.get(group);
    if (keys === undefined) return;
    for (const key of keys.from('', after)) yield this.options.entries.get(key) as T;
  }

  countOf(group: string): number {
    return this.#groups.get(group)?.size ?? 0;
  }

  /** Call it before the entry of the key is replaced or removed. */
  changes(key: string, before: T | undefined, after: T | undefined): void {
    const [from, to] = [before, after].map((value) => (value === undefined ? undefined : this.options.groupOf(value)));
    if (from === to) return;
    if (from !== undefined) this.#leave(from, key);
    if (to !== undefined) this.#join(to, key);
  }

  #join(group: string, key: string): void {
    const keys = this.#groups.get(group);
    if (keys === undefined) this.#groups.set(group, new OrderedKeys([key]));
    else keys.add(key);
  }

  #leave(group: string, key: string): void {
    const keys = this.#groups.get(group);
    keys?.remove(key);
    if (keys?.size === 0) this.#groups.delete(group);
  }
}
