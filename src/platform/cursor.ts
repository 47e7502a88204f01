/**
 * Listings in pages. Each page starts after the last key of the previous one, so a page costs the same wherever it is,
 * and entries that come and go meanwhile cause neither gaps nor duplicates.
 */

export interface WantedPage {
  /** Key of the last entry of the previous page, which need not exist any more. Without it: the first page. */
  readonly after?: string;
  readonly size: number;
}

export interface Page<Entry> {
  readonly entries: readonly Entry[];
  /** Value of `after` for the next page; undefined on the last page. */
  readonly next: string | undefined;
}

/** Returns the first `size` of the entries, which are in the order of their keys. */
export function pageOf<Entry>(entries: Iterable<Entry>, keyOf: (entry: Entry) => string, size: number): Page<Entry> {
  const page: Entry[] = [];
  for (const entry of entries) {
    if (page.length === size) return { entries: page, next: keyOf(page[size - 1] as Entry) };
    page.push(entry);
  }
  return { entries: page, next: undefined };
}

/** Length of a page as JSON. Bounded since the main thread builds the answer. */
export const PAGE_CHARACTERS_MAX = 8_000_000;

export interface TellingOf<Entry> {
  readonly keyOf: (entry: Entry) => string;
  readonly charactersOf: (entry: Entry) => number;
}

/**
 * Returns the first entries of the page that together have at most `PAGE_CHARACTERS_MAX` characters, but at least one.
 * `charactersOf` estimates the length of an entry as JSON.
 */
export function fittingEntries<Entry>(page: Page<Entry>, { keyOf, charactersOf }: TellingOf<Entry>): Page<Entry> {
  let characters = 0;
  const end = page.entries.findIndex((entry) => {
    characters += charactersOf(entry);
    return characters > PAGE_CHARACTERS_MAX;
  });
  if (end === -1) return page;
  const entries = page.entries.slice(0, Math.max(1, end));
  const last = entries.at(-1);
  return last === undefined || entries.length === page.entries.length ? page : { entries, next: keyOf(last) };
}

/** A sorted set of keys, in the order of their UTF-16 units, which can be read from any key on. */
export class OrderedKeys {
  readonly #keys: string[];

  constructor(keys: Iterable<string> = []) {
    this.#keys = [...keys].sort(inOrder);
  }

  get size(): number {
    return this.#keys.length;
  }

  /** Adds a key, if it is not there already. */
  add(key: string): void {
    const place = this.#placeOf(key);
    if (this.#keys[place] !== key) this.#keys.splice(place, 0, key);
  }

  remove(key: string): void {
    const place = this.#placeOf(key);
    if (this.#keys[place] === key) this.#keys.splice(place, 1);
  }

  /**
   * Yields the keys with the prefix that come after `prefix + after`, or all with the prefix if `after` is not given.
   * The set must not change meanwhile.
   */
  *from(prefix: string, after?: string): Generator<string> {
    const first = prefix + (after ?? '');
    let place = this.#placeOf(first);
    if (after !== undefined && this.#keys[place] === first) place += 1;
    for (; place < this.#keys.length; place += 1) {
      const key = this.#keys[place] as string;
      if (!key.startsWith(prefix)) return;
      yield key;
    }
  }

  /** Returns the position of the key, or of the first one after it. */
  #placeOf(key: string): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#keys[middle] as string) < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function inOrder(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
