/**
 * Limits the memory of the entries of lists and groups. The whole catalogue is in memory, and the rules of a list, and
 * the versions of a group, may have megabytes. Existing entries are kept, whatever their size; growth beyond the limit
 * is refused.
 *
 * An account may have as much as is left for all others: a single one half of the room, the next one a quarter if the
 * first has its half. Growth that keeps an account within `OWN_BYTES` is always admitted: after sixteen accounts that
 * take as much as they may, only two KiB of 128 MiB would be left. Main thread only.
 */
import { ServiceError } from '../platform/index.js';
import type { Collection } from './collection.js';

/** Approximate sizes in V8, rounded up. */
const STRING_BYTES = 24;
const ARRAY_BYTES = 32;
const OBJECT_BYTES = 56;
const MEMBER_BYTES = 8;
const NOT_LATIN = /[^\0-\xff]/u;
const MEBIBYTE = 2 ** 20;
/** Minimum for each account, whatever others have: about a hundred lists without rules, or a few hundred rules. */
const OWN_BYTES = 64 * 1024;

interface Owned {
  readonly account: string;
}

export class CatalogRoom {
  readonly #ofAccounts = new Map<string, number>();
  #all = 0;
  /** Sizes of entries, which are immutable. */
  readonly #weights = new WeakMap<Owned, number>();

  constructor(private readonly bytesMax: number) {}

  /** Counts the entries of the collection from now on. */
  count(collection: Collection<Owned>): void {
    for (const entry of collection.values()) this.#add(entry, 1);
    collection.follow({
      changed: (before, after) => {
        if (before !== undefined) this.#add(before, -1);
        if (after !== undefined) this.#add(after, 1);
      },
    });
  }

  /** True if only the minimum of each account is admitted. */
  get isFull(): boolean {
    return this.#all >= this.bytesMax;
  }

  /**
   * Checks an entry before it replaces `before`, inside the change. Throws `limit-reached` if it is larger and there is
   * no room.
   */
  admit(before: Owned | undefined, after: Owned): void {
    const grown = this.#weightOf(after) - (before === undefined ? 0 : this.#weightOf(before));
    if (grown <= 0) return;
    const own = (this.#ofAccounts.get(after.account) ?? 0) + grown;
    const left = this.bytesMax - this.#all - grown;
    if (own <= Math.max(left, OWN_BYTES)) return;
    throw new ServiceError(
      'limit-reached',
      `The service keeps the rules of lists and the versions of groups in memory, and has no room for more of the account '${after.account}': ` +
        `it would have ${inMebibytes(own)}, and ${inMebibytes(Math.max(0, left))} of ${inMebibytes(this.bytesMax)} (a quarter of memory.mib) would be left for all others. ` +
        'Have fewer or shorter rules, delete lists or groups, or raise memory.mib.',
    );
  }

  #add(entry: Owned, sign: 1 | -1): void {
    const weight = sign * this.#weightOf(entry);
    const own = (this.#ofAccounts.get(entry.account) ?? 0) + weight;
    if (own > 0) this.#ofAccounts.set(entry.account, own);
    else this.#ofAccounts.delete(entry.account);
    this.#all += weight;
  }

  #weightOf(entry: Owned): number {
    const known = this.#weights.get(entry);
    if (known !== undefined) return known;
    const weight = bytesInMemory(entry);
    this.#weights.set(entry, weight);
    return weight;
  }
}

function bytesInMemory(value: unknown): number {
  if (typeof value === 'string') return STRING_BYTES + value.length * (NOT_LATIN.test(value) ? 2 : 1);
  if (typeof value !== 'object' || value === null) return 0;
  const members: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  let bytes = (Array.isArray(value) ? ARRAY_BYTES : OBJECT_BYTES) + members.length * MEMBER_BYTES;
  for (const member of members) bytes += bytesInMemory(member);
  return bytes;
}

function inMebibytes(bytes: number): string {
  return `${(bytes / MEBIBYTE).toFixed(1)} MiB`;
}
