/**
 * What is listed is read in pages, each behind the last key of the one before: a page costs what is in it, wherever it is, and nothing is
 * left out or told twice where entries come and go meanwhile.
 */

export interface WantedPage {
  /** Key of the last entry of the page before; none: the first page. It need not be there any more. */
  readonly after?: string;
  readonly size: number;
}

export interface Page<Entry> {
  readonly entries: readonly Entry[];
  /** `after` of the page behind this one; undefined on the last. */
  readonly next: string | undefined;
}

/** The next entries of those that come in the order of their keys. */
export function pageOf<Entry>(entries: Iterable<Entry>, keyOf: (entry: Entry) => string, size: number): Page<Entry> {
  const page: Entry[] = [];
  for (const entry of entries) {
    if (page.length === size) return { entries: page, next: keyOf(page[size - 1] as Entry) };
    page.push(entry);
  }
  return { entries: page, next: undefined };
}

/** As JSON: an answer is put together by the thread that answers everybody. */
export const PAGE_CHARACTERS_MAX = 8_000_000;

export interface TellingOf<Entry> {
  readonly keyOf: (entry: Entry) => string;
  readonly charactersOf: (entry: Entry) => number;
}

/** What of a page is told together: it ends before the entry that would make it longer, unless that is its first. `charactersOf`: as JSON, about. */
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

/** Keys in the order of their UTF-16 units, to be read from any of them on. */
export class OrderedKeys {
  readonly #keys: string[];

  constructor(keys: Iterable<string> = []) {
    this.#keys = [...keys].sort(inOrder);
  }

  get size(): number {
    return this.#keys.length;
  }

  /** One that is there already stays as it is. */
  add(key: string): void {
    const place = this.#placeOf(key);
    if (this.#keys[place] !== key) this.#keys.splice(place, 0, key);
  }

  remove(key: string): void {
    const place = this.#placeOf(key);
    if (this.#keys[place] === key) this.#keys.splice(place, 1);
  }

  /** Those with the prefix that come after `prefix + after`; all with the prefix where that is not given. Not to be changed meanwhile. */
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

  /** Of the key, or of the first one behind it. */
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
